package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
)

// initOptions is what the command line of init says.
type initOptions struct {
	repo, agent, reviewer, uses   string
	form                          string
	force, upgrade, dry, workflow bool
	fanOut                        bool
}

func initCommand(env environ.Env) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "Write the workflow for GitHub, and pipelines with your checks",
		Long: `init writes ` + setup.File + ` into the repository: in its short form it
calls the workflow of reprise, which has the jobs and the versions of agent programs.
With --workflow long it has the jobs itself, with every action pinned to a commit, and
` + setup.AgentsDir + ` pins the agent program by a lock file of npm. init looks at how the repository is built and tested, and writes
the built-in pipelines with these checks to ` + setup.PipelinesDir + `.
It says what it found and what is left to do by hand, runs nothing of the
repository, and sends nothing anywhere.`,
		Example: "  reprise init --dry-run\n  reprise init --agent claude --reviewer codex\n  reprise init --upgrade",
		RunE: func(c *cobra.Command, _ []string) error {
			return initialize(c.Context(), env, o)
		},
	}
	repoFlag(c, &o.repo)
	c.Flags().StringVar(&o.agent, "agent", setup.DefaultAgent, "agent program that writes: claude, codex or gemini")
	c.Flags().StringVar(&o.reviewer, "reviewer", "", "agent program that reviews (default: codex where it is installed, else the one that writes, with another model if it has one)")
	c.Flags().StringVar(&o.uses, "uses", setup.DefaultUses(), "the action to call, as OWNER/REPO@VERSION")
	c.Flags().StringVar(&o.form, "workflow", "", "form of the workflow: short or long (default: that of the one that is there, else short)")
	c.Flags().BoolVar(&o.fanOut, "fan-out", false, "have parts of a phase done by several jobs at the same time (default: as in the workflow that is there, else not)")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "show what would be written, and write nothing")
	c.Flags().BoolVar(&o.upgrade, "upgrade", false, "write files anew that are there; beside one that you have changed, write NAME.new")
	c.Flags().BoolVar(&o.force, "force", false, "write over files that are there, whatever was changed in them")
	c.Flags().BoolVar(&o.workflow, "workflow-only", false, "write no pipelines")
	c.MarkFlagsMutuallyExclusive("upgrade", "force")
	return c
}

// initialize writes the files and says what is next.
func initialize(ctx context.Context, env environ.Env, o initOptions) (err error) {
	top, err := topOf(ctx, o.repo)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(top) // a link in the repository leads nowhere else
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if o.form == "" {
		existing, _ := root.ReadFile(setup.File) // one that cannot be read is told of below
		there := setup.FormOf(string(existing), o.uses)
		o.form, o.fanOut = string(there.Plain()), o.fanOut || there.FansOut()
	}
	form := setup.Form(o.form)
	if o.fanOut {
		form = form.FanOut()
	}
	folder, err := fs.Sub(root.FS(), setup.WorkflowsFolder)
	if err != nil {
		return err // unreachable: the name is a good one
	}
	files, err := setup.GeneratedFiles(form, o.uses, setup.Checking(folder), o.agent, o.reviewer)
	if err != nil {
		return err
	}
	var told strings.Builder
	if !o.workflow {
		found := setup.Detect(root.FS())
		own, err := setup.PipelineFiles(ctx, found, setup.Crew{Writer: o.agent, Reviewer: o.reviewer}, environ.Version)
		if err != nil {
			return err
		}
		files = append(files, own...)
		tellFound(&told, found, setup.Form(o.form), terminal.Width(env.Stdout))
	}
	changes, err := setup.CompareFiles(root, files)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(env.Stdout, text.Visible(told.String())); err != nil {
		return err
	}
	texts, err := toWrite(env, changes, o)
	if err != nil || o.dry {
		return err
	}
	if err := setup.WriteFiles(root, texts); err != nil {
		return err
	}
	_, err = fmt.Fprint(env.Stdout, terminal.Fold(wrote(texts)+".\n\n"+nextSteps(o), terminal.Width(env.Stdout)))
	return err
}

// topOf finds the top of the repository that a folder is in.
func topOf(ctx context.Context, dir string) (string, error) {
	src, err := git.Find(ctx, dir)
	var unborn *git.NoCommits
	if errors.As(err, &unborn) {
		return unborn.Dir, nil
	}
	if err != nil {
		return "", err
	}
	return src.Dir, nil
}

// toWrite gives the texts to write, and shows how they differ from what is there. Without a flag for it nothing is
// written if a file is there with another text: that is an error.
func toWrite(env environ.Env, changes []setup.FileChange, o initOptions) ([]setup.GeneratedFile, error) {
	var texts []setup.GeneratedFile
	var refused []string
	for _, c := range changes {
		write := &c.GeneratedFile
		switch {
		case c.State == setup.Same:
			write = nil
		case o.upgrade:
			write = c.Upgraded()
		case c.State != setup.Missing && !o.force:
			refused = append(refused, c.Name+" differs from what init would write")
		}
		if write == nil {
			continue
		}
		texts = append(texts, *write)
		if c.State == setup.Missing && !o.dry {
			continue
		}
		if _, err := fmt.Fprintln(env.Stdout, text.Visible(c.Diff(write.Text))); err != nil {
			return nil, err
		}
	}
	if len(refused) > 0 {
		return nil, exit.Usagef("nothing was written, as %s; see the difference above, then use --upgrade to keep what you have changed, or --force to write over it", strings.Join(refused, ", "))
	}
	if o.dry {
		_, err := fmt.Fprintln(env.Stdout, "Nothing was written: this is a dry run.")
		return nil, err
	}
	return texts, nil
}

// wrote names the files that were written.
func wrote(texts []setup.GeneratedFile) string {
	if len(texts) == 0 {
		return setup.File + " and what belongs to it is up to date"
	}
	var names []string
	beside := ""
	for _, f := range texts {
		names = append(names, f.Name)
		if strings.HasSuffix(f.Name, ".new") {
			beside = ".\nYou have changed a file that has a .new beside it now: take over from that what you want, see the\ndifference above, and remove it"
		}
	}
	return "Wrote " + strings.Join(names, ", ") + beside
}

// tellFound says what was found in the repository, and why it counts, on a terminal of so many cells; 0 is none.
func tellFound(out *strings.Builder, found setup.Found, form setup.Form, cells int) {
	if len(found.Checks) == 0 {
		fmt.Fprintf(out, "Nothing was found that checks this repository, so reprise would run nothing by itself, and the\npipelines stay as they are built in. Declare checks in %sNAME.cue;\nsee %s/blob/main/docs/pipelines.md\n", setup.PipelinesDir, setup.ProjectPage)
	} else {
		out.WriteString("Found in this repository:\n\n")
		rows := slices.Concat(commandRows("setup", found.Setup), commandRows("check", found.Checks))
		width := 0
		for _, r := range rows {
			width = max(width, len(r[1]))
		}
		for _, r := range rows {
			line := fmt.Sprintf("%-*s  %s", min(width, 60), r[1], r[2])
			if lead := len("  check  "); cells > 0 && lead+len(line) > cells {
				line = terminal.Hanging(r[1]+" "+r[2], lead, cells)
			}
			fmt.Fprintf(out, "  %s  %s\n", r[0], line)
		}
	}
	for _, n := range found.Unused {
		fmt.Fprintf(out, "  note: %s\n", terminal.Hanging(n.What+": "+n.Why, len("  note: "), cells))
	}
	if len(found.Needs) > 0 {
		how := "add a step that installs it to " + setup.File
		if form == setup.Short {
			how = "the short workflow has no place for a step that installs it, so use --workflow long, and add one"
		}
		fmt.Fprintf(out, "\nGitHub's runners do not have %s: %s.\n", strings.Join(found.Needs, " and "), how)
	}
	out.WriteString("\n")
}

// commandRows gives what is shown of commands.
func commandRows(kind string, list []setup.FoundCommand) (rows [][3]string) {
	for _, c := range list {
		rows = append(rows, [3]string{kind, c.Run, "from " + c.Why})
		if len(c.Hosts) > 0 {
			rows = append(rows, [3]string{"allow", strings.Join(c.Hosts, ", "), "for " + c.Name})
		}
	}
	return rows
}

// stepsLeft are what a person has to do before the workflow works.
func stepsLeft(o initOptions) (steps []string) {
	for _, name := range []string{o.agent, o.reviewer} {
		if agent, known := setup.AgentInstalls()[name]; known && (name != o.reviewer || name != o.agent || len(steps) == 0) {
			steps = append(steps, fmt.Sprintf("Store the key of %s as a secret of the repository:\n     gh secret set %s", agent.Title, agent.Secret))
		}
	}
	return append(steps,
		"Let workflows open pull requests: Settings, Actions, General,\n     \"Allow GitHub Actions to create and approve pull requests\".",
		"Create the label that starts a run:\n     gh label create reprise",
		"Commit the folder .github to the default branch; GitHub reads the workflow\n     from there.",
		"Write a comment on an issue: /run",
	)
}

// nextSteps says what a person has to do before the workflow works.
func nextSteps(o initOptions) string {
	var out strings.Builder
	out.WriteString("What is left to do:\n\n")
	for i, s := range stepsLeft(o) {
		fmt.Fprintf(&out, "  %d. %s\n", i+1, s)
	}
	if o.uses != setup.LocalAction {
		way := "call the action by a commit instead of " + o.uses
		if o.form == string(setup.Short) {
			way = "write the long workflow, and call the action by a commit: reprise init --workflow long --uses OWNER/reprise@COMMIT"
		}
		fmt.Fprintf(&out, "\nTo be sure which code runs, %s.\n", way)
	}
	out.WriteString("\nWhat is still missing after that is said by: reprise doctor\n")
	fmt.Fprintf(&out, "More: %s/blob/main/docs/github.md\n", setup.ProjectPage)
	return out.String()
}
