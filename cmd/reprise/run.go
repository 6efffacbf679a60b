package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// runOptions are the flags of run.
type runOptions struct {
	opening
	dry       bool
	json      bool
	prompts   bool
	verbose   bool
	logFormat string
}

func runCommand(env environment) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run (--issue-file FILE | --issue-url URL | --issue ID)",
		Short: "Start or continue the run of an issue",
		Long: `Start the run of an issue, or continue it where it is.

The work happens in a tree of its own on the branch reprise/issue-ID; your
checkout, index and stash are never touched. Every step is one commit that has
the work and the record of the run.

An issue comes from a file, or from GitHub: by its address, or by its number if
origin is there. What is private needs a token in GITHUB_TOKEN. A run of an issue
on GitHub pushes its branch to origin unless --push=false says otherwise.

With --dry-run the whole pipeline runs with the built-in rehearsal agent on a
scratch copy: no model, no push, and nothing is left behind.`,
		Example: `  reprise run --dry-run --issue-file issue.md
  reprise run --issue-file issue.md --push
  reprise run --issue-url https://github.com/OWNER/REPO/issues/7
  reprise run --issue 7`,
		RunE: func(c *cobra.Command, _ []string) error { return runRun(c.Context(), env, o) },
	}
	f := c.Flags()
	repoFlag(c, &o.repo)
	issueFlag(c, &o.id)
	f.StringVar(&o.file, "issue-file", "", "Markdown file with the issue; its first heading is the title")
	f.StringVar(&o.url, "issue-url", "", "address of the issue on GitHub")
	f.StringVar(&o.pipeline, "pipeline", "", "pipeline: a name, NAME/PRESET, or a file (default: chosen by the issue)")
	f.StringVar(&o.part.From, "from", "", "first phase to run; those before are left out")
	f.StringVar(&o.part.Until, "until", "", "last phase to run; those after are left out")
	f.StringVar(&o.part.Only, "only", "", "the one phase to run")
	f.StringSliceVar(&o.part.Skip, "skip", nil, "phases to leave out, separated by commas")
	f.StringVar(&o.agent, "agent", "", "agent that does every step: claude, codex, gemini, rehearsal, or one the pipeline names")
	f.StringVar(&o.language, "language", "", "language of artifacts and comments: en or ja (default: the pipeline's)")
	budgetFlags(c, &o.more)
	pushFlag(c, &o.push)
	sandboxFlag(c, &o.sandbox)
	f.BoolVar(&o.pause, "pause-at-gates", false, "stop after every phase that passed its gates; run again to go on")
	f.BoolVar(&o.refresh, "refresh", false, "go on with the pipeline and prompts as they are defined now")
	f.BoolVar(&o.reissue, "refresh-issue", false, "go on with the issue as it reads now: in the file that is named, or on GitHub")
	f.BoolVar(&o.theirs, "take-theirs", false, "if the branch went on elsewhere and cannot be joined, go on from there")
	f.BoolVar(&o.over, "take-over", false, "take the run also while another machine holds it, such as a job that is gone")
	f.BoolVar(&o.dry, "dry-run", false, "rehearse on a scratch copy: no model, no push, nothing left behind")
	f.StringVar(&o.stubs, "stubs", "", "file of scripted answers for the rehearsal agent")
	f.BoolVar(&o.prompts, "show-prompts", false, "print every prompt (with --dry-run)")
	f.BoolVar(&o.json, "json", false, "print the result as one JSON object on standard output")
	f.BoolVar(&o.verbose, "verbose", false, "print what agents do, too")
	f.StringVar(&o.logFormat, "log-format", "text", "how progress is printed: text or json")
	return c
}

// check refuses flags that do not go together.
func (o *runOptions) check() error {
	switch {
	case o.file == "" && o.url == "" && o.id == "":
		return usagef("which issue? Give --issue-file FILE or --issue-url URL to start, or --issue ID to continue")
	case given(o.file != "", o.url != "", o.id != "") > 1:
		return usagef("--issue-file, --issue-url and --issue each name an issue: give one of them")
	case o.dry && o.push != nil && *o.push:
		return usagef("--dry-run never pushes: leave --push out")
	case o.dry && o.agent != "" && o.agent != rehearsal:
		return usagef("--dry-run calls no model, so it takes no --agent %s", o.agent)
	case o.prompts && !o.dry:
		return usagef("--show-prompts goes with --dry-run; for one prompt of a run see: reprise prompt --help")
	case o.logFormat != "text" && o.logFormat != "json":
		return usagef("--log-format %q is not one of text, json", o.logFormat)
	case o.language != "" && o.language != "en" && o.language != "ja":
		return usagef("--language %q is not one of en, ja", o.language)
	}
	if o.dry {
		o.agent, o.scratch = rehearsal, true
	}
	return nil
}

// runRun starts or continues a run and tells how it ended.
func runRun(ctx context.Context, env environment, o runOptions) (err error) {
	env, flush := env.masked()
	defer flush()
	if o.json {
		defer func() { err = alwaysJSON(env, err) }()
	}
	if err := o.check(); err != nil {
		return err
	}
	o.online = o.file == ""
	w, err := openWorkspace(ctx, env, o.opening)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.busy(env.now()); err != nil && !o.over && !o.scratch {
		return err
	}
	if !w.fresh {
		if err := w.samePart(o.opening); err != nil {
			return err
		}
		if err := w.sameDefinition(o.opening); err != nil {
			return err
		}
		w.takeUp(env, o)
		if o.refresh || o.reissue {
			if err := w.refresh(ctx, env, o.opening); err != nil {
				return err
			}
		}
	}
	return w.finish(ctx, env, o)
}

// takeUp makes a run that has stopped go on. One that would only come to wait
// for the same person again is left as it is.
func (w *workspace) takeUp(env environment, o runOptions) {
	next := phases.TakeUp(w.run, phases.Start{At: env.now(), More: o.more, Refresh: o.refresh, Issue: o.reissue})
	d := phases.Decide(w.plan, next)
	spent := w.run.Status == metadata.Waiting && d.Do == phases.DoWait && d.Code == w.run.Stop.Code && d.Code != metadata.AwaitingPerson
	if (spent && o.more == (phases.Allowance{}) || waitsFor(w.run, d)) && !o.refresh {
		return
	}
	w.run = next
}

// finish carries the run on and tells how it ended.
func (w *workspace) finish(ctx context.Context, env environment, o runOptions) error {
	if w.run.Status == metadata.Running {
		opts, err := agentOptions(env, w, o.opening)
		if err != nil {
			return err
		}
		if err := w.ready(opts); err != nil {
			return err
		}
		w.sayLacking(env)
	}
	run, err := w.carryOn(ctx, env, o)
	if err != nil {
		return w.broke(run, err)
	}
	return w.tell(ctx, env, o, run)
}

// broken is an error that stopped a run, with the result so far.
type broken struct {
	error
	so phases.Summary
}

// Unwrap returns the error.
func (b broken) Unwrap() error { return b.error }

// alwaysJSON prints a result also where an error kept the run from giving one.
func alwaysJSON(env environment, err error) error {
	var code exitCode
	var b broken
	switch {
	case err == nil, errors.As(err, &code):
		return err // it has been printed
	case errors.As(err, &b):
	default:
		b.so = phases.Summary{Status: "failed", Code: codeFor(err), Steps: []phases.StepSummary{}, Start: env.now(), End: env.now(), Error: err.Error()}
	}
	return errors.Join(err, printJSON(env.stdout, b.so))
}

// carryOn runs the engine from where the run is to where it stops.
func (w *workspace) carryOn(ctx context.Context, env environment, o runOptions) (metadata.Run, error) {
	if err := agents.Harden(); err != nil {
		_, _ = fmt.Fprintln(env.stderr, "reprise:", err)
	}
	screen := w.view(env, o)
	defer screen.Close()
	e, err := w.engine(env, o.opening, screen)
	if err != nil {
		return w.run, err
	}
	if o.prompts {
		showPrompts(e, env.stderr)
	}
	run := w.run
	if w.fresh {
		if why := env.tooShort(); why != "" {
			_, _ = fmt.Fprintln(env.stderr, "reprise: "+why)
		}
		w.introduce(env, o.opening)
		if err := e.Begin(ctx, run); err != nil {
			return run, err
		}
	} else {
		run.Execution.Push = w.push
		w.announce(ctx, env, run)
	}
	return e.Run(ctx, run)
}

// view picks how progress is shown: live on a terminal, plain lines elsewhere.
func (w *workspace) view(env environment, o runOptions) view {
	out := o.log(env)
	live := isTerminal(out) && env.getenv("TERM") != "dumb" && !o.verbose && !o.prompts && o.logFormat == "text"
	return newView(out, viewOptions{
		Live: live, Color: wantsColor(env.getenv, isTerminal(out)), Plan: w.plan, Format: o.logFormat, Verbose: o.verbose,
	})
}

// introduce says what a run begins with.
func (w *workspace) introduce(env environment, o opening) {
	if o.pipeline == "" {
		_, _ = fmt.Fprintf(env.stderr, "reprise: pipeline %s: %s\n", w.plan.Name, w.why)
	}
	w.tellRemoved(env)
}

// tellRemoved says what was taken out of the issue.
func (w *workspace) tellRemoved(env environment) {
	for _, r := range w.removed {
		_, _ = fmt.Fprintf(env.stderr, "reprise: taken out of the issue, because people do not see it: %d %s, such as %q\n", r.Count, strings.ReplaceAll(string(r.Kind), "_", " "), r.Sample)
	}
}

// announce says what a person who continues a run should know.
func (w *workspace) announce(ctx context.Context, env environment, run metadata.Run) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(env.stderr, "reprise: "+format+"\n", args...) }
	for _, what := range w.notes {
		say("%s", what)
	}
	w.tellRemoved(env)
	if w.left != nil {
		say("the process before ended in the middle of %s %s", w.left.Phase, w.left.Step)
	}
	if left := w.repo.Leftover(); left != "" {
		say("what it had not committed is kept in %s", left)
	}
	if changed, err := changedSince(ctx, w.source, run, w.issue, w.plan.Preset); err != nil {
		say("could not compare with the pipeline as it is now: %v", err)
	} else if changed != "" {
		say("%s", changed)
	}
}

// broke says what stopped the process, and how to go on. The record is as it
// was last committed, so starting again goes on from there.
func (w *workspace) broke(run metadata.Run, err error) error {
	so := phases.Summarize(w.plan, run)
	so.Status, so.Code, so.Head = "failed", codeFor(err), w.repo.Tip()
	way := " Start again with: reprise run --issue " + w.issue.ID
	if moved := new(git.Moved); errors.As(err, &moved) {
		way = "" // that alone would not help, see explain
	}
	err = fmt.Errorf("%w\nNothing finished is lost.%s", err, way)
	so.Error = err.Error()
	return broken{err, so}
}

// tell prints how the run ended and gives its exit code.
func (w *workspace) tell(ctx context.Context, env environment, o runOptions, run metadata.Run) error {
	s := resultOf(w.plan, run)
	s.Head = w.repo.Tip()
	out := env.stdout
	if o.json || o.logFormat == "json" {
		out = env.stderr // standard output is for programs
	}
	if o.json {
		if err := printJSON(env.stdout, s); err != nil {
			return err
		}
	}
	w.warn(env)
	if o.dry && !(o.json && o.logFormat == "json") { // the log has that stream for itself
		if err := w.showRehearsal(ctx, out, run, startLabel); err != nil {
			return err
		}
	}
	if o.logFormat == "json" {
		logLeft(o.log(env), env.now(), run.Status, s, o.dry)
	} else {
		w.farewell(out, o, run)
	}
	if w.paused(run) {
		_, _ = fmt.Fprintln(env.stderr, "reprise: the run is being paused by another process")
		return exitCode(exitWaiting)
	}
	if code := exitOf(run); code != exitDone {
		return exitCode(code)
	}
	return nil
}

// warn says what went wrong with the repository and stopped nothing.
func (w *workspace) warn(env environment) {
	for _, note := range w.repo.Warnings() {
		_, _ = fmt.Fprintln(env.stderr, "reprise: "+note)
	}
}

// farewell says in a few lines how the run ended and what can be done now.
func (w *workspace) farewell(out io.Writer, o runOptions, run metadata.Run) {
	_, _ = fmt.Fprintf(out, "\nIssue %s: %s\n", run.IssueNumber, ending(run))
	if o.dry {
		_, _ = fmt.Fprintln(out, "Nothing was left behind. For a real run leave --dry-run out.")
		return
	}
	_, _ = fmt.Fprintf(out, "Branch %s at %.12s. See it with: reprise status --issue %s\n", run.BranchName, w.repo.Tip(), run.IssueNumber)
	if run.Status == metadata.Completed {
		_, _ = fmt.Fprintf(out, "Merge it, or take a phase back: reprise rollback --issue %s --to-phase PHASE --reason TEXT\n", run.IssueNumber)
		return
	}
	_, _ = fmt.Fprintln(out, continueWith(wayOn(w.plan, run)))
}

// ending says how a run ended.
func ending(run metadata.Run) string {
	cost := fmt.Sprintf("%s, %s", plural(phases.SpentOf(run).Attempts, "attempt"), usd(run.Cost.USD))
	if run.Stop == nil {
		return fmt.Sprintf("%s (%s)", run.Status, cost)
	}
	where := run.Stop.Phase
	if run.Stop.Step != "" {
		where += " " + string(run.Stop.Step)
	}
	code := string(run.Stop.Code)
	if code == string(run.Status) || run.Status == metadata.Interrupted {
		code = "" // to be interrupted is not to be cancelled
	}
	return fmt.Sprintf("%s at %s: %s (%s)", run.Status, where, joined(": ", code, reasons(phases.Say(run.Language, run.Stop.Why))), cost)
}

// exitOf gives the exit code for how a run ended.
func exitOf(run metadata.Run) int {
	switch {
	case run.Stop != nil && run.Stop.Code == metadata.BudgetExceeded:
		return exitBudget
	case run.Status == metadata.Completed:
		return exitDone
	case run.Status == metadata.Failed:
		return exitFailed
	case run.Status == metadata.Cancelled, run.Status == metadata.Interrupted:
		return exitCancelled
	}
	return exitWaiting
}

func terminal(fd int) bool { return term.IsTerminal(fd) }
