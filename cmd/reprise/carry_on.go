package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// finish carries the run on and tells how it ended.
func finish(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions) error {
	if err := markKnown(w, o, w.Run); err != nil {
		return err
	}
	if w.Run.Status == metadata.Running {
		opts, err := workspace.AgentOptions(env, w, o.Options)
		if err != nil {
			return err
		}
		if err := w.Ready(opts); err != nil {
			return err
		}
		w.SayLacking(env)
	}
	run, err := carryOn(ctx, w, env, o)
	for asks, on := newDialogue(env), true; err == nil && on && asks != nil && mayAsk(w, o, run); {
		w.Run, w.Fresh = run, false
		if on, err = asks.Ask(ctx, w, o.Options); err == nil && on {
			run, err = goOn(ctx, w, env, o)
		} else {
			run = w.Run
		}
	}
	if err = errors.Join(err, markKnown(w, o, run)); err != nil { // an agent may have chosen the pipeline meanwhile
		return broke(w, run, err)
	}
	return tellEnd(ctx, w, env, o, run)
}

// markKnown notes that this machine works on the run with the pipeline that it has.
func markKnown(w *workspace.Workspace, o runOptions, run metadata.Run) error {
	if o.Scratch || run.Pipeline.Digest == "" {
		return nil
	}
	return workspace.MarkTrusted(filepath.Dir(w.Repo.Dir()), run.Pipeline.Digest)
}

// mayAsk reports whether a person at the terminal may be asked what the run waits for.
func mayAsk(w *workspace.Workspace, o runOptions, run metadata.Run) bool {
	return run.Status == metadata.Waiting && !o.noInput && !o.json && !o.dry && !o.log.json() && !w.Paused(run)
}

// goOn runs the engine from where a person's answer has let the run go on.
func goOn(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions) (metadata.Run, error) {
	return inView(ctx, w, env, o, func(e *engine.Engine) (metadata.Run, error) { return toTheEnd(ctx, w, env, o, e, w.Run) })
}

// inView has something done by the engine of a run, whose progress is shown meanwhile.
func inView(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions, do func(*engine.Engine) (metadata.Run, error)) (metadata.Run, error) {
	screen := viewOf(w, env, o)
	defer screen.Close()
	e, err := w.Engine(env, o.Options, screen)
	if err != nil {
		return w.Run, err
	}
	w.Hooks.Missed(ctx)
	telemetry.Follow(ctx, e, w.Run)
	return do(e)
}

// carryOn runs the engine from where the run is to where it stops.
func carryOn(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions) (metadata.Run, error) {
	if err := process.Harden(); err != nil {
		_, _ = fmt.Fprintln(env.Stderr, "reprise:", err)
	}
	if err := bot.ChoosePipeline(ctx, env, w, o.Options); err != nil {
		return w.Run, err
	}
	return inView(ctx, w, env, o, func(e *engine.Engine) (metadata.Run, error) {
		if o.prompts {
			showPrompts(e, env.Stderr)
		}
		run := w.Run
		if w.Fresh {
			if why := env.TooShort(); why != "" {
				_, _ = fmt.Fprintln(env.Stderr, "reprise: "+why)
			}
			if said := workspace.SayOtherwise(ctx, w.Source); o.Here && said != "" {
				_, _ = fmt.Fprintln(env.Stderr, "reprise: "+said)
			}
			introduce(w, env, o.Options)
			if err := e.Begin(ctx, run); err != nil {
				return run, err
			}
		} else {
			run.Execution.Push = w.Push
			announce(ctx, w, env, o, run)
		}
		return toTheEnd(ctx, w, env, o, e, run)
	})
}

// toTheEnd carries a run on to where it stops. If that is its end, the last commit takes its folder off the branch.
func toTheEnd(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions, e *engine.Engine, run metadata.Run) (metadata.Run, error) {
	goOn := updaterOf(w, env).Run
	if o.Scratch { // it begins at the base, and is gone before that moves
		goOn = func(ctx context.Context, e *engine.Engine, run metadata.Run) (metadata.Run, error) {
			return e.Run(ctx, run)
		}
	}
	run, err := goOn(ctx, e, run)
	if err != nil {
		return run, err
	}
	return run, e.Finish(ctx, run, w.Warn)
}

// updaterOf gives what brings the base into a run.
func updaterOf(w *workspace.Workspace, env environ.Env) *delivery.BaseUpdater {
	return &delivery.BaseUpdater{Workspace: w, Now: env.Now, Warn: func(err error) { _, _ = fmt.Fprintln(env.Stderr, "reprise:", err) }}
}

// viewOf picks how progress is shown: live on a terminal, plain lines elsewhere.
func viewOf(w *workspace.Workspace, env environ.Env, o runOptions) terminal.View {
	out := logOf(o, env)
	live := environ.IsTerminal(out) && env.Getenv("TERM") != "dumb" && !o.prompts && !o.log.json()
	return terminal.NewView(out, terminal.Options{
		Live: live, Color: text.WantsColor(env.Getenv, environ.IsTerminal(out)), Plan: w.Plan, Format: o.log.format(), Verbose: strings.HasPrefix(string(o.log), "verbose"), Messages: env.Stderr,
	})
}

// introduce says what a run begins with.
func introduce(w *workspace.Workspace, env environ.Env, o workspace.Options) {
	if o.Pipeline == "" {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", w.Shown("chosen", "name", w.Plan.Name, "why", w.Why.In(w.Catalogue())))
	}
	for _, heard := range w.Heard() {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+text.Flat(heard))
	}
	tellRemoved(w, env)
}

// tellRemoved says what was taken out of the issue.
func tellRemoved(w *workspace.Workspace, env environ.Env) {
	for _, r := range w.Removed {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", w.Shown("removed", "n", r.Count, "kind", terminal.WordFor(w.Catalogue(), "kinds", string(r.Kind)), "sample", fmt.Sprintf("%q", r.Sample)))
	}
}

// announce says what a person who continues a run should know.
func announce(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions, run metadata.Run) {
	say := func(what string) { _, _ = fmt.Fprintln(env.Stderr, "reprise:", what) }
	for _, what := range w.Notes {
		say(what)
	}
	tellRemoved(w, env)
	for _, a := range w.Unfinished {
		say(w.Shown("ended before", "phase", a.Phase, "step", terminal.WordFor(w.Catalogue(), "steps", string(a.Step))))
	}
	if left := w.Repo.Leftover(); left != "" {
		say(w.Shown("kept", "file", left))
	}
	if changed, err := workspace.ChangedSince(ctx, w.Source, run, w.Issue, workspace.Choice{Pipeline: w.Plan.Preset, Here: o.Here}); err != nil {
		say(w.Shown("not compared", "error", err))
	} else if changed != "" {
		say(changed)
	}
}

// tellEnd prints how the run ended and gives its exit code.
func tellEnd(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions, run metadata.Run) error {
	s := view.Result(w.Plan, run)
	s.Head = w.Repo.Tip()
	out := env.Stdout
	if o.json || o.log.json() {
		out = env.Stderr // standard output is for programs
	}
	if o.json {
		if err := text.PrintJSON(env.Stdout, s); err != nil {
			return err
		}
	}
	warnOfSteering(w, env)
	if o.dry && !(o.json && o.log.json()) { // the log has that stream for itself
		if err := showRehearsal(ctx, w, out, run, page.StartLabel); err != nil {
			return err
		}
	}
	if o.log.json() {
		terminal.LogSummary(logOf(o, env), env.Now(), run.Status, s, o.dry)
	} else {
		farewell(w, out, o, run)
	}
	if w.Paused(run) {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+w.Shown("pausing"))
		return exit.Code(exit.Waiting)
	}
	if code := view.ExitCode(run); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// farewell says in a few lines how the run ended and what can be done now.
func farewell(w *workspace.Workspace, out io.Writer, o runOptions, run metadata.Run) {
	terminal.Tell(out, "\n"+w.Shown("issue ends", "issue", text.Cut(text.IssueName(run.IssueNumber, run.IssueTitle), 100), "how", ending(run)))
	terminal.ShowProven(out, w.Plan, run, terminal.Options{})
	if o.dry {
		says := text.Join(" ", w.Shown("nothing left"), text.If(run.Status != metadata.Failed, w.Shown("for real")))
		if view.BrokenSetup(run) != nil {
			says = text.Join(" ", says, w.Shown("change setup", "file", run.Pipeline.Source))
		}
		terminal.Tell(out, says)
		return
	}
	terminal.Tell(out, w.Shown("branch at", "branch", run.BranchName, "commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "command", "reprise status --issue "+run.IssueNumber))
	if where := w.Repo.Unmoved(); where != "" && run.Status == metadata.Completed {
		terminal.Tell(out, w.Shown("branch behind", "branch", run.BranchName, "where", where, "command", "git merge --ff-only "+w.Repo.Tip()))
		return
	}
	if run.Status == metadata.Completed && len(view.NextCommands(w.Plan, run)) == 0 {
		terminal.Tell(out, w.Shown("merge", "id", run.IssueNumber))
		return
	}
	terminal.Tell(out, strings.Join(append([]string{goOnCommand(w, run)}, view.Cautions(run)...), "\n"))
}

// ending says how a run ended.
func ending(run metadata.Run) string {
	c := prompts.Words(run.Language)
	status := terminal.WordFor(c, "statuses", string(run.Status))
	cost := text.Join(", ", c.Shown("attempts", "n", phases.SpentOf(run).Attempts, "usd", text.USD(run.Cost.USD)+view.Unpriced(run)), view.Together(c, run))
	if run.Stop == nil {
		return c.Shown("ends", "status", status, "cost", cost)
	}
	where := text.Join(" ", run.Stop.Phase, terminal.WordFor(c, "steps", string(run.Stop.Step)))
	if code := string(run.Stop.Code); code != string(run.Status) && run.Status != metadata.Interrupted { // to be interrupted is not to be cancelled
		status = fmt.Sprintf("%s (%s)", status, code)
	}
	return c.Shown("ends at", "status", status, "where", where, "why", text.JoinLines(run.Stop.Why.In(c)), "cost", cost)
}

// broken is an error that stopped a run, with the result so far.
type broken struct {
	error
	so view.Summary
}

// Unwrap returns the error.
func (b broken) Unwrap() error { return b.error }

// broke says what stopped the process, and how to go on.
func broke(w *workspace.Workspace, run metadata.Run, err error) error {
	so := view.SummaryOf(w.Plan, run)
	so.Status, so.Code, so.Head = "failed", exit.ReasonFor(err), w.Repo.Tip()
	way := w.Shown("start again", "command", "reprise run --issue "+w.Issue.ID)
	if moved := new(git.Moved); errors.As(err, &moved) {
		way = "" // that alone would not help, see explain
	}
	says := text.Join(" ", w.Shown("not lost"), way)
	if w.Fresh && w.Repo.Tip() == run.BaseCommit {
		says = w.Shown("not begun") // there is no run that could be named
	}
	err = fmt.Errorf("%w\n%s", err, says)
	so.Error = err.Error()
	return broken{err, so}
}

// alwaysJSON prints a result also where an error kept the run from giving one.
func alwaysJSON(env environ.Env, err error) error {
	var b broken
	switch {
	case err == nil, errors.As(err, new(exit.Code)):
		return err // it has been printed
	case errors.As(err, &b):
	default:
		b.so = view.Summary{Status: "failed", Code: exit.ReasonFor(err), Steps: []view.SummaryStep{}, Start: env.Now(), End: env.Now(), Error: err.Error()}
	}
	return errors.Join(err, text.PrintJSON(env.Stdout, b.so))
}
