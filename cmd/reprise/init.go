package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// initOptions is what the command line of init says.
type initOptions struct {
	repo, agent, reviewer, uses string
	form, from                  string
	force, dry, workflow        bool
	fanOut, local, upgrade      bool
}

func initCommand(env environ.Env) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "Write the workflow for GitHub, and pipelines with your checks",
		Long: `init looks at how the repository is built and tested, and writes the built-in pipelines
with these checks to ` + setup.PipelinesDir + `.

It also writes ` + setup.File + `, unless --local is given. The workflow calls
the action that --uses names. In its long form it has the jobs itself, with every
action pinned to a commit, and ` + setup.AgentsDir + ` pins the agent program.
In its short form, for the action of a release, it calls the workflow of reprise.

Files that are there are written anew, but beside one that you have changed it
writes NAME.new. It runs nothing of the repository, sends nothing anywhere, and ends
with what is left to do.

With --from it only takes pipelines, prompts and CUE packages of another repository,
to ` + setup.VendorDir + `. SOURCE is OWNER/REPO, an address of git, or a
folder from the top of this repository; :FOLDER is .github/reprise if you name none.
--upgrade shows what has changed there since, and with --force takes it. A file that
was changed here is written over with --force alone.`,
		Example: "  reprise init --local\n  reprise init --uses OWNER/reprise@main\n  reprise init --agent claude --reviewer codex --dry-run\n  reprise init --from acme/pipes@v1",
		RunE: func(c *cobra.Command, _ []string) error {
			if o.local && o.workflow {
				return exit.Usagef("--local and --workflow-only leave nothing to write: give one of them")
			}
			taking := o.from != "" || o.upgrade
			if taking && (o.from != "" && o.upgrade || o.local || o.workflow || o.fanOut || o.agent+o.reviewer+o.uses+o.form != "") {
				return exit.Usagef("--from and --upgrade go with --repo, --dry-run and --force alone")
			}
			return initialize(c.Context(), env, o)
		},
	}
	repoFlag(c.Flags(), &o.repo)
	c.Flags().StringVar(&o.agent, "agent", "", "agent program that writes: claude, codex, gemini, opencode, qwen or copilot (default: the first of them that is installed, else claude)")
	c.Flags().StringVar(&o.reviewer, "reviewer", "", "agent program that reviews (default: codex where it is installed, else the one that writes, with another model if it has one)")
	c.Flags().StringVar(&o.uses, "uses", "", "the action to call, as OWNER/REPO@VERSION (default: that of the workflow that is there, else of this release; a program that is no release asks)")
	c.Flags().StringVar(&o.form, "workflow", "", "form of the workflow: short or long (default: that of the one that is there, else short for the action of this release, long for another)")
	c.Flags().BoolVar(&o.fanOut, "fan-out", false, "have parts of a phase done by several jobs at the same time (default: as in the workflow that is there, else not)")
	c.Flags().StringVar(&o.from, "from", "", "take what SOURCE shares, as SOURCE[@REF][:FOLDER]")
	c.Flags().BoolVar(&o.upgrade, "upgrade", false, "show what has changed where something was taken from, and with --force take it")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "show what would be written, and write nothing")
	c.Flags().BoolVar(&o.force, "force", false, "write over files that are there, whatever was changed in them")
	c.Flags().BoolVar(&o.workflow, "workflow-only", false, "write no pipelines")
	c.Flags().BoolVar(&o.local, "local", false, "write no workflow: pipelines alone, for your machine")
	return c
}

// initialize writes the files and says what is next.
func initialize(ctx context.Context, env environ.Env, o initOptions) (err error) {
	o.agent = cmp.Or(o.agent, installed(agents.Programs()...), setup.DefaultAgent)
	src, err := git.Find(ctx, o.repo)
	if unborn, is := errors.AsType[*git.NoCommits](err); is {
		src, err = &git.Source{Dir: unborn.Dir}, nil
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(src.Dir) // a link in the repository leads nowhere else
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if o.from != "" || o.upgrade {
		return takeOthers(ctx, env, root, o)
	}
	var files []setup.GeneratedFile
	if !o.local {
		if files, err = workflowFiles(ctx, env, root, o); err != nil {
			return err
		}
	}
	var told strings.Builder
	if !o.workflow {
		if _, err := setup.InstallsOf(o.agent, o.reviewer); err != nil {
			return err
		}
		found := setup.Detect(root.FS())
		crew := setup.Crew{Writer: o.agent, Reviewer: o.reviewer}
		reviewer := cmp.Or(installed("codex"), o.agent)
		if reviewer == o.agent || o.local && o.agent != setup.DefaultAgent { // no workflow says who writes
			crew.Reviewer = cmp.Or(o.reviewer, reviewer)
		}
		own, err := setup.PipelineFiles(ctx, found, crew, environ.Version)
		if err != nil {
			return err
		}
		tellFound(&told, found, terminal.Width(env.Stdout))
		files = append(files, slices.DeleteFunc(own, func(f setup.GeneratedFile) bool {
			beside, _ := fs.Glob(root.FS(), strings.TrimSuffix(f.Name, path.Ext(f.Name))+".*") // the pattern is a good one
			i := slices.IndexFunc(beside, func(name string) bool {
				_, is := source.IsFile(name)
				return is && name != f.Name
			})
			if i >= 0 { // of two with one name, one is never read
				fmt.Fprintf(&told, "%s stays as it is, so %s is not written.\n", beside[i], f.Name)
			}
			return i >= 0
		})...)
	}
	changes, err := setup.CompareFiles(root, files)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(env.Stdout, text.Visible(told.String())); text.Unread(err) != nil {
		return err
	}
	texts, err := toWrite(env, changes, o)
	if err != nil || o.dry {
		return err
	}
	if err := setup.WriteFiles(root, texts); err != nil {
		return err
	}
	said := "All that init would write is up to date"
	var names []string
	for _, f := range texts {
		names = append(names, f.Name)
	}
	switch {
	case len(files) == 0:
		said = "Nothing was written"
	case len(texts) > 0:
		said = "Wrote " + strings.Join(names, ", ")
	}
	_, err = fmt.Fprint(env.Stdout, terminal.Fold(said, terminal.Width(env.Stdout))+".\n\n"+nextSteps(ctx, env, o, src, root, files, texts))
	return text.Unread(err)
}

// installed is the first of some programs that is here.
func installed(programs ...string) string {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			return p
		}
	}
	return ""
}

// workflowFiles gives the workflow and what belongs to it: as the command line says, else as the one that is there.
func workflowFiles(ctx context.Context, env environ.Env, root *os.Root, o initOptions) ([]setup.GeneratedFile, error) {
	existing, _ := root.ReadFile(setup.File) // one that cannot be read is told of when it is to be written
	module, _ := root.ReadFile("go.mod")     // without one it is no copy of reprise
	w := setup.Standing(string(existing))
	w.Uses = cmp.Or(o.uses, setup.ActionFor(w.Uses, string(module)))
	if asks := newDialogue(env); w.Uses == "" && asks != nil {
		w.Uses, _ = asks.line(ctx, "This program is no release. Which action shall the workflow call? OWNER/reprise@main, if OWNER has a copy of reprise on GitHub:") // no answer is refused
	}
	if w.Uses == "" {
		return nil, exit.Usagef("this program is no release, so no action belongs to it: push a copy of reprise to GitHub and name it with --uses OWNER/reprise@main, or write pipelines alone with --local")
	}
	folder, err := fs.Sub(root.FS(), setup.WorkflowsFolder)
	if err != nil {
		return nil, err // unreachable: the name is a good one
	}
	w.Form, w.FanOut = cmp.Or(setup.Form(o.form), w.Form, setup.UsualForm(w.Uses)), w.FanOut || o.fanOut
	w.Awaited, w.Agents = setup.Checking(folder), []string{o.agent, o.reviewer}
	return w.Files()
}

// toWrite gives the texts to write, and shows how they differ from what is there. What people have changed stays,
// unless it is to be written over.
func toWrite(env environ.Env, changes []setup.FileChange, o initOptions) (texts []setup.GeneratedFile, err error) {
	for _, c := range changes {
		write := c.Upgraded()
		if o.force && c.State != setup.Same {
			write = &c.GeneratedFile
		}
		if write == nil {
			continue
		}
		texts = append(texts, *write)
		if c.State != setup.Missing || o.dry {
			_, err = fmt.Fprintln(env.Stdout, text.Visible(c.Diff(write.Text)))
		}
	}
	if o.dry && err == nil {
		_, err = fmt.Fprintln(env.Stdout, "Nothing was written: this is a dry run.")
	}
	return texts, text.Unread(err)
}

// tellFound says what was found in the repository, and why it counts, on a terminal of so many cells; 0 is none.
func tellFound(out *strings.Builder, found setup.Found, cells int) {
	if len(found.Checks) == 0 {
		fmt.Fprintf(out, "Nothing was found that checks this repository, so reprise would run nothing by itself, and the\npipelines stay as they are built in. Declare checks in %sNAME.cue.\n", setup.PipelinesDir)
	} else {
		out.WriteString("Found in this repository:\n\n")
		for _, r := range slices.Concat(commandRows("setup", found.Setup), commandRows("check", found.Checks)) {
			fmt.Fprintf(out, "  %s  %s\n", r[0], terminal.Hanging(r[1]+"  "+r[2], len("  check  "), cells))
		}
	}
	for _, n := range found.Unused {
		fmt.Fprintf(out, "  note: %s\n", terminal.Hanging(n.What+": "+n.Why, len("  note: "), cells))
	}
	if len(found.Needs) > 0 {
		fmt.Fprintf(out, "\nGitHub's runners do not have %s: add a step that installs it to the workflow, in its long form.\n", strings.Join(found.Needs, " and "))
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

// nextSteps says what a person has to do before it works, each with its command, which stays in one piece on a terminal.
func nextSteps(ctx context.Context, env environ.Env, o initOptions, src *git.Source, root *os.Root, files, written []setup.GeneratedFile) string {
	out, n := "What is left to do:\n\n", 0
	step := func(why, command string) {
		n++
		out += terminal.Fold(fmt.Sprintf("  %d. %s:", n, why), terminal.Width(env.Stdout)) + "\n     " + command + "\n"
	}
	lacking := func(ref string) bool {
		return src.Head == "" || slices.ContainsFunc(files, func(f setup.GeneratedFile) bool {
			here, _ := root.ReadFile(f.Name) // it has been written or compared
			there, err := src.ReadFile(ctx, ref, f.Name)
			return err != nil || string(text.UnixLines(here)) != string(there) // git checks files out with CRLF for Windows
		})
	}
	commit, push := lacking(src.Head), !o.local && lacking("refs/remotes/origin/"+src.DefaultBranch)
	for _, f := range written {
		if old, is := strings.CutSuffix(f.Name, ".new"); is {
			commit, push = true, !o.local
			step("Yours stays. To take the new one in its place", "mv "+f.Name+" "+old)
		}
	}
	why, save, last := "GitHub reads the workflow from the default branch", `git add .github && git commit -m "Add reprise"`, "gh issue comment 1 --body /run"
	if o.local {
		why, last = "Runs here take them at once, jobs from the default branch", "reprise run --dry-run --issue-file issue.md"
	} else {
		if src.Head != "" && src.RemoteURL == "" {
			step("Put the repository on GitHub", "gh repo create --source . --private")
		}
		installs, _ := setup.InstallsOf(o.agent, o.reviewer) // they are known by now
		for _, agent := range installs {
			step("Store the key of "+agent.Title, "gh secret set "+agent.Secret)
		}
		step("Let workflows open pull requests", "gh api -X PUT repos/{owner}/{repo}/actions/permissions/workflow -F can_approve_pull_request_reviews=true")
	}
	if len(files) == 0 {
		why, save = "A run begins from a commit", `git add --all && git commit -m "Start"`
	}
	if save = text.Join(" && ", text.If(commit, save), text.If(push, "git push -u origin HEAD")); save != "" {
		step(why, save)
	}
	step(text.If(o.local, "Rehearse a run, with an issue in issue.md")+text.If(!o.local, "Start a run of an issue, here of number 1"), last)
	return out + "\nWhat is missing after that is said by:\n     reprise doctor\n"
}

func doctorCommand(env environ.Env) *cobra.Command {
	var o doctor.Options
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what a run would lack, before anything is spent",
		Long: `doctor looks at all that a run needs: git, the repository, the workflow, the
pipelines, the agent programs and their keys, the sandbox, GitHub and what the
token may do there. It names everything that is missing at once, and what to do.
It changes nothing, asks no model, and prints no secret. With --online it also asks
the services of the agents whether they take the keys: for a list of models, which
costs nothing.

✓ is well, ! is a hint, ✗ would stop a run. Exit code 1 if there is any ✗.`,
		Example: "  reprise doctor\n  reprise doctor --issue 7 --agent codex",
		RunE: func(c *cobra.Command, _ []string) error {
			checks, err := doctor.Examine(c.Context(), env, o)
			if err != nil {
				return err
			}
			return showDoctor(o, env, checks)
		},
	}
	repoFlag(c.Flags(), &o.Repo)
	c.Flags().StringVar(&o.Id, "issue", "", "id of the issue of a run, whether that has begun or not")
	c.Flags().StringVar(&o.Pipeline, "pipeline", "", "pipeline that the run would take (default: chosen by the issue)")
	c.Flags().StringVar(&o.Agent, "agent", "", "agent that would do all the work (default: as the pipeline says)")
	c.Flags().BoolVar(&o.Online, "online", false, "also try the keys of agents at their services, which costs nothing")
	c.Flags().BoolVar(&o.Json, "json", false, "print one JSON object")
	return c
}

// showDoctor prints the checks, and gives the exit code.
func showDoctor(o doctor.Options, env environ.Env, checks []doctor.Check) error {
	missing := countOf(checks, doctor.Missing)
	if o.Json {
		err := text.PrintJSON(env.Stdout, struct {
			OK     bool           `json:"ok"`
			Checks []doctor.Check `json:"checks"`
		}{missing == 0, checks})
		if err != nil {
			return err
		}
	} else {
		showChecks(terminal.NewReport(env.Stdout, terminal.ShowOptions(env)), checks)
	}
	if missing > 0 {
		return exit.Code(exit.Failed)
	}
	return nil
}

func countOf(checks []doctor.Check, c doctor.Condition) (n int) {
	for _, k := range checks {
		if k.Status == c {
			n++
		}
	}
	return n
}

// showChecks prints a line for each check, below it what to do, and the sum.
func showChecks(r terminal.Report, checks []doctor.Check) {
	rows := text.Table{}
	for _, k := range checks {
		rows.Add(k.Name, text.Flat(k.Found))
	}
	for i, line := range rows.Lines() {
		k, sign := checks[i], r.Red("✗")
		switch k.Status {
		case doctor.Fine:
			sign = r.Green("✓")
		case doctor.Hint:
			sign = r.Yellow("!")
		}
		found := rows.Rows[i][1]
		r.Hung(sign+" "+strings.TrimSuffix(line, found), found)
		if k.Do != "" {
			r.Hung("    "+r.Faint("→ "), text.Flat(k.Do))
		}
	}
	r.Line("")
	r.Line("%s", r.Bold(inSum(countOf(checks, doctor.Missing), countOf(checks, doctor.Hint))))
}

// inSum says the result in a sentence.
func inSum(missing, hints int) string {
	said := "Nothing is missing"
	if missing > 0 {
		said = text.Plural(missing, "thing") + " would stop a run"
	}
	return said + text.If(hints > 0, "; "+text.Plural(hints, "hint")) + "."
}
