package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-ci/reprise/pipelines"
)

// commands builds the command line.
func commands(env environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "reprise",
		Short: "Take an issue through a pipeline of phases with coding agents",
		Long: `reprise takes an issue through a declared pipeline of phases with coding agents.
Every phase runs execute, review, revise until its gates hold. The record of the
run is committed to the issue's branch with the work, so a run that was killed is
started again and goes on, and any phase can be taken back with a reason.`,
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		Args:              oneOfTheCommands,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	raw := env // for what programs read
	env = env.inJob()
	root.SetIn(env.stdin)
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	root.SetFlagErrorFunc(flagMistake)
	root.Version = versionText()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version")
	root.AddCommand(
		runCommand(env), rollbackCommand(env), retryCommand(env),
		statusCommand(env), historyCommand(env), explainCommand(env), promptCommand(env),
		vetCommand(env), doctorCommand(env), initCommand(env), versionCommand(env), importCommand(env), actionCommand(raw), evaluateCUE(raw), enterSandbox(raw),
	)
	root.AddCommand(steerCommands(env)...)
	for _, c := range root.Commands() {
		if c.Args == nil {
			c.Args, c.ValidArgsFunction = noArgs, cobra.NoFileCompletions
		}
	}
	strictHelp(root)
	return root
}

// strictHelp has the commands that the library brings along refuse what is no
// command, as all others do. By themselves they print help and succeed.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					return usage(err)
				}
				return oneOfTheCommands(found, rest)
			}
		case "completion":
			c.Args, c.RunE = oneOfTheCommands, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// nameCommands refuses a command line that does not name a command, before its
// flags are looked at: they are those of another command, or ask for help.
func nameCommands(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	if err != nil || !c.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return usage(err)
	}
	return oneOfTheCommands(c, rest)
}

// flagMistake says which flag was probably meant by one that is not there.
func flagMistake(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		typed := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // -issue, too
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := slashNearest(typed, names); near != "" {
			return usagef("%w; did you mean --%s? (see: %s --help)", err, near, c.CommandPath())
		}
	}
	return usagef("%w (see: %s --help)", err, c.CommandPath())
}

// oneOfTheCommands refuses what is no command, and says what was meant.
func oneOfTheCommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	c.SuggestionsMinimumDistance = c.Root().SuggestionsMinimumDistance
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef("there is no command %q%s (see: %s --help)", args[0], meant, c.CommandPath())
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument %q (see: %s --help)", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}

// evaluateCUE is the child process in which CUE from a repository runs.
func evaluateCUE(env environment) *cobra.Command {
	return &cobra.Command{
		Use: evaluateCommand, Hidden: true, Short: "Evaluate CUE within limits (for reprise itself)",
		RunE: func(*cobra.Command, []string) error {
			if code := pipelines.Child(env.stdin, env.stdout); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}

func versionCommand(env environment) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(env.stdout, "reprise", versionText())
			return err
		},
	}
}

// versionText is the version a release was linked with, else the commit that
// the go command built from.
func versionText() string {
	if version != "dev" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) > 12 {
			return version + " " + s.Value[:12]
		}
	}
	return version
}

// repoFlag adds the flag that names the repository.
func repoFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "repo", ".", "any folder of the git repository")
}

// issueFlag adds the flag that names the issue of a run.
func issueFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "issue", "", "id of the issue: its number, or the name of the file it came from")
}

// anyIssueFlag adds the flag to a command that only reads, which takes the run at
// hand if none is named.
func anyIssueFlag(c *cobra.Command, to *string) {
	issueFlag(c, to)
	c.Flags().Lookup("issue").Usage += " (default: the run whose branch is checked out, or the only one)"
}

// pushFlag adds the flag that says whether commits go to origin. It stays nil
// unless it is given.
func pushFlag(c *cobra.Command, to **bool) {
	c.Flags().BoolFunc("push", "push every commit to origin (default: as the run was started; at its start, if the issue comes from GitHub)", func(s string) error {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("it is true or false")
		}
		*to = &v
		return nil
	})
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && terminal(int(f.Fd()))
}
