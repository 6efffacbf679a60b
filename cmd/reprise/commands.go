package main

import (
	"cmp"
	"context"
	_ "embed" // titles
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/eval"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/legacy"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// commands builds the command line.
func commands(env environ.Env) *cobra.Command {
	raw := env // for what programs read
	env = environ.EscapedEnv(env)
	root := &cobra.Command{
		Use:   "reprise",
		Short: "Take an issue through a pipeline of phases with coding agents",
		Long: `reprise takes an issue through a declared pipeline of phases with coding agents.
Every phase runs execute, review, revise until its gates hold. Every step is a
commit on the issue's branch: what was killed goes on, and what is wrong is taken
back with a reason.`,
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		Args:              oneOfTheCommands,
		RunE:              func(c *cobra.Command, _ []string) error { return showHere(c, env) },
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(flagMistake)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if n, _ := c.Flags().GetInt("attempt"); c.Flags().Changed("attempt") && n < 1 {
			return exit.Usagef("--attempt %d: attempts count from 1; reprise history shows them", n)
		}
		return nil
	}
	root.Version = environ.VersionText()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version")
	root.AddCommand(
		runCommand(env), workCommand(env), taskCommand(env), joinCommand(env), rollbackCommand(env), retryCommand(env),
		statusCommand(env), historyCommand(env), reportCommand(env), explainCommand(env),
		listCommand(env), statsCommand(env), logsCommand(env), diffCommand(env), verifyCommand(env), cleanCommand(env),
		vetCommand(env), doctorCommand(env), initCommand(env), importCommand(env), eval.Command(env), actionCommand(raw), evaluateCUE(raw), enterSandbox(raw),
	)
	root.AddCommand(steersWith(func(c *cobra.Command, s steerRequest) error { return steerRun(c.Context(), env, s) })...)
	for _, c := range root.Commands() {
		if c.Args == nil {
			if c.Args = oneIssue; c.Flags().Lookup("issue") == nil {
				c.ValidArgsFunction = cobra.NoFileCompletions
			}
		}
	}
	strictHelp(root)
	arrangeHelp(root)
	fitHelp(root, env.Stdout)
	return root
}

// strictHelp makes the library's own commands, help and completion, refuse
// arguments that are not commands, as all others do. By themselves they would
// print help and succeed.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					return exit.AsUsage(err)
				}
				return oneOfTheCommands(found, rest)
			}
		case "completion":
			c.Args, c.RunE = oneOfTheCommands, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = oneIssue
			}
		}
	}
}

// nameCommands refuses a command line that does not name a command, before its
// flags are looked at: they are those of another command, or ask for help.
func nameCommands(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	if err != nil || !c.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return exit.AsUsage(err)
	}
	return oneOfTheCommands(c, rest)
}

// flagMistake says which flag was probably meant by one that is not there.
func flagMistake(c *cobra.Command, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		typed := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // -issue, too
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := command.Nearest(typed, names); near != "" {
			return exit.Usagef("%w; did you mean --%s? (see: %s --help)", err, near, c.CommandPath())
		}
	}
	if number, is := errors.AsType[*strconv.NumError](err); is {
		err = errors.New(strings.Replace(err.Error(), number.Error(), "it is a number", 1))
	}
	return exit.Usagef("%w (see: %s --help)", err, c.CommandPath())
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
	return exit.Usagef("there is no command %q%s (see: %s --help)", args[0], meant, c.CommandPath())
}

// oneIssue takes one argument where a command has the flag --issue, in place of that flag, and refuses all others.
func oneIssue(c *cobra.Command, args []string) error {
	beside, issue := "", c.Flags().Lookup("issue")
	switch {
	case len(args) == 0:
		return nil
	case c.Flags().Lookup("issue-file") != nil && slices.Contains([]string{".md", ".markdown", ".txt"}, filepath.Ext(args[0])):
		beside = "; did you mean --issue-file " + args[0] + "?"
	case issue != nil && issue.Changed:
		return exit.Usagef("the issue is given twice: %s and --issue %s", args[0], issue.Value)
	case issue != nil && len(args) == 1:
		return exit.AsUsage(c.Flags().Set("issue", args[0]))
	case issue != nil:
		args, beside = args[1:], " beside the issue; flags say the rest"
	}
	return exit.Usagef("%s takes no argument %q%s (see: %s --help)", strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "), args[0], beside, c.CommandPath())
}

// evaluateCUE is the child process in which CUE from a repository runs.
func evaluateCUE(env environ.Env) *cobra.Command {
	return &cobra.Command{
		Use: workspace.EvaluateCommand, Hidden: true, Short: "Evaluate CUE within limits (for reprise itself)",
		RunE: func(*cobra.Command, []string) error {
			if code := source.Child(env.Stdin, env.Stdout); code != 0 {
				return exit.Code(code)
			}
			return nil
		},
	}
}

// groups are all commands that people see, in the order in which they come to need them, behind the title of each group in the help.
var groups = [][]string{
	{"Work on an issue:", "run", "work", "task", "join", "retry", "rollback", "answer", "approve", "skip", "update", "pause", "cancel", "finish"},
	{"Look at runs:", "list", "status", "logs", "history", "diff", "report", "verify", "stats"},
	{"Pipelines:", "explain", "vet", "eval"},
	{"Set up and tidy up:", "init", "doctor", "import", "clean", "completion", "help"},
}

// arrangeHelp puts the commands into groups, and gives an example to those of the library.
func arrangeHelp(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g[0], Title: g[0]})
	}
	for _, c := range root.Commands() {
		for _, g := range groups {
			if slices.Contains(g[1:], c.Name()) {
				c.GroupID = g[0]
			}
		}
		c.Example = cmp.Or(c.Example, map[string]string{"completion": "  source <(reprise completion bash)", "help": "  reprise help run"}[c.Name()])
	}
}

// flagTitles are the titles of groups of flags, by the command and the first flag of each group. These commands list
// their flags unsorted.
//
//go:embed flag_titles.yaml
var flagTitles []byte

// fitHelp has help fit the terminal that it is printed to: the library leaves lines that
// are wider to the terminal, which breaks them within words.
func fitHelp(root *cobra.Command, out io.Writer) {
	plain := root.HelpFunc()
	cobra.AddTemplateFunc("titled", func(usages string) string { return usages })
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if titles := text.TableIn(map[string]map[string]string{}, flagTitles)[c.Name()]; titles != nil {
			var pairs []string
			for first, title := range titles {
				pairs = append(pairs, "      --"+first+" ", "\n"+title+":\n      --"+first+" ")
			}
			cobra.AddTemplateFunc("titled", strings.NewReplacer(pairs...).Replace)
			c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), "Flags.FlagUsages |", "Flags.FlagUsages | titled |", 1))
		}
		if width := terminal.Width(out); width > 0 {
			c.Long = terminal.Paragraphs(cmp.Or(c.Long, c.Short), width)
			for _, sub := range c.Commands() {
				sub.Short = terminal.Hanging(sub.Short, len("  ")+sub.NamePadding()+len(" "), width)
			}
			const more = `Use "{{.CommandPath}} [command] --help" for more information about a command.`
			c.SetUsageTemplate(strings.NewReplacer(
				"Flags.FlagUsages |", fmt.Sprintf("Flags.FlagUsagesWrapped %d |", width),
				"{{.UseLine}}", terminal.Hanging(c.UseLine(), len("  "), width),
				more, terminal.Fold(strings.ReplaceAll(more, "{{.CommandPath}}", c.CommandPath()), width),
			).Replace(c.UsageTemplate()))
		}
		plain(c, args)
	})
}

func enterSandbox(env environ.Env) *cobra.Command {
	return &cobra.Command{
		Use: workspace.SandboxCommand + " -- PROGRAM [ARGUMENT...]", Hidden: true, Short: "Become a program within limits (for reprise itself)",
		Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] != "--" {
				args = []string{"--"}
			}
			return exit.AsUsage(sandbox.Enter(args[1:], env.Environ))
		},
	}
}

// maxCompletion is how long somebody who pressed a key waits at most.
const maxCompletion = 5 * time.Second

// completeFlags has the shell complete the ids of issues and the names of phases. They are only a hint, so where
// anything goes wrong there are none, and nothing is said. The library keeps what it is given for as long as the
// process lives, so this is for a process that only completes.
func completeFlags(env environ.Env, root *cobra.Command) {
	for _, c := range root.Commands() {
		prefix := env.Prefix()
		if c.Name() == "import" {
			prefix = legacy.OlderPrefix
		}
		for _, flag := range []string{"issue", "phase", "to-phase", "from-phase"} {
			if c.Flags().Lookup(flag) == nil {
				continue
			}
			offered := issuesWith(prefix)
			if flag != "issue" {
				offered = func(c *cobra.Command) []string { return phasesOf(env, c) }
			} else if c.ValidArgsFunction == nil {
				c.ValidArgsFunction = completes(offered)
			}
			// unreachable: it fails for a flag that is not there, or has one already
			_ = c.RegisterFlagCompletionFunc(flag, completes(offered))
		}
	}
}

// completes offers words, and no files.
func completes(offered func(*cobra.Command) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), maxCompletion)
		defer cancel()
		c.SetContext(ctx)
		return slices.DeleteFunc(offered(c), func(word string) bool { return !strings.HasPrefix(word, typed) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// issuesWith offers the ids that have a branch here with a prefix.
func issuesWith(prefix string) func(*cobra.Command) []string {
	return func(c *cobra.Command) []string {
		src := sourceOf(c)
		if src == nil {
			return nil
		}
		ids, _ := workspace.RunIDs(c.Context(), src, workspace.BranchesHere, prefix)
		return ids
	}
}

// phasesOf offers the phases of the run that a command line names, as its record has them.
func phasesOf(env environ.Env, c *cobra.Command) (names []string) {
	id, err := c.Flags().GetString("issue")
	src := sourceOf(c)
	if err != nil || src == nil || metadata.CheckID(id) != nil {
		return nil
	}
	data, _ := workspace.RecordReader(c.Context(), src, env.Branch(id), id)(phases.RecordFile(id))
	run, _ := metadata.ParseOf(id, data, phases.RecordFile(id))
	return run.Phases.Names()
}

// sourceOf finds the repository that a command line names, or gives nil.
func sourceOf(c *cobra.Command) *git.Source {
	dir, err := c.Flags().GetString("repo")
	if err != nil {
		return nil
	}
	src, _ := git.Find(c.Context(), dir)
	return src
}

func repoFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "repo", ".", "any `FOLDER` of the git repository")
}

// issueFlag adds the flags that name a repository and the issue of a run in it.
func issueFlag(c *cobra.Command, repo, to *string) {
	c.Flags().StringVar(to, "issue", "", "`ID` of the issue, its number or the name of its file: --issue 7, or just 7")
	repoFlag(c.Flags(), repo)
}

// anyIssueFlag adds them to a command that only reads, which takes the run at hand if none is named.
func anyIssueFlag(c *cobra.Command, repo, to *string) {
	issueFlag(c, repo, to)
	c.Flags().Lookup("issue").Usage += " (default: the run whose branch is checked out, or the only one)"
}

// pushFlag adds the flag that says whether commits go to origin. It stays nil unless it is given.
func pushFlag(f *pflag.FlagSet, to **bool) {
	f.BoolFunc("push", "push every commit to origin (default: as before; at the start, for issues of GitHub)", func(s string) error {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("it is true or false")
		}
		*to = &v
		return nil
	})
}

// sandboxFlag adds the flag that says how much depends on the sandbox.
func sandboxFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "sandbox", string(sandbox.BestEffort), "sandbox around agents and checks: required, best-effort or off")
}
