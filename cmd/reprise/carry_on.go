package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/bot"
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

// runSession is a run that is carried on for whoever is at the terminal.
type runSession struct {
	*workspace.Workspace
	o runOptions
}

// finish carries the run on and tells how it ended.
func (s runSession) finish(ctx context.Context) error {
	warnOfSteering(s.Workspace)
	if err := s.markKnown(s.Run); err != nil {
		return err
	}
	if s.Run.Status == metadata.Running {
		if err := s.Ready(s.o.Options); err != nil {
			return err
		}
		s.SayLacking()
	}
	run, err := s.carryOn(ctx)
	for asks, on := newDialogue(s.Env), true; err == nil && on && asks != nil && s.mayAsk(run); {
		s.Run, s.Fresh = run, false
		if on, err = asks.ask(ctx, s.Workspace, s.o.Options); err == nil && on {
			run, err = s.inView(ctx, func(e *engine.Engine) (metadata.Run, error) { return s.toTheEnd(ctx, e, s.Run) })
		} else {
			run = s.Run
		}
	}
	if err = errors.Join(err, s.markKnown(run)); err != nil { // an agent may have chosen the pipeline meanwhile
		return broke(s.Workspace, run, err)
	}
	return s.tellEnd(ctx, run)
}

// markKnown notes that this machine works on the run with the pipeline that it has.
func (s runSession) markKnown(run metadata.Run) error {
	if s.o.Scratch || run.Pipeline.Digest == "" {
		return nil
	}
	return workspace.MarkTrusted(filepath.Dir(s.Repo.Dir()), run.Pipeline.Digest)
}

// mayAsk reports whether a person at the terminal may be asked what the run waits for.
func (s runSession) mayAsk(run metadata.Run) bool {
	return run.Status == metadata.Waiting && !s.o.noInput && !s.o.json && !s.o.dry && !s.o.log.json() && !s.Paused(run)
}

// inView has something done by the engine of a run, whose progress is shown meanwhile.
func (s runSession) inView(ctx context.Context, do func(*engine.Engine) (metadata.Run, error)) (metadata.Run, error) {
	screen := s.view()
	defer screen.Close()
	e, err := s.Engine(s.o.Options, screen)
	if err != nil {
		return s.Run, err
	}
	if s.o.worker != "" && s.Push {
		e.Owner, e.Hold = s.o.worker, workspace.Longest(s.Plan)
	}
	s.Hooks.Missed(ctx)
	telemetry.Follow(ctx, e, s.Run)
	run, err := do(e)
	if ctx.Err() == nil && s.o.worker == "" && errors.As(err, new(*engine.NotPushed)) && errors.As(err, new(*git.PushError)) {
		run = phases.Halt(run, metadata.PushFailed, prompts.Why(err), s.Env.Now()) // for status and list; a worker tries again
		if failed := e.Amend(ctx, run, "stopped: push_failed"); !errors.As(failed, new(*engine.NotPushed)) {
			err = errors.Join(err, failed)
		}
	}
	return run, err
}

// say tells what a person should know.
func (s runSession) say(what any) { _, _ = fmt.Fprintln(s.Env.Stderr, "reprise:", what) }

// carryOn runs the engine from where the run is to where it stops.
func (s runSession) carryOn(ctx context.Context) (metadata.Run, error) {
	if err := process.Harden(); err != nil {
		s.say(err)
	}
	if err := bot.ChoosePipeline(ctx, s.Workspace, s.o.Options); err != nil {
		return s.Run, err
	}
	return s.inView(ctx, func(e *engine.Engine) (metadata.Run, error) {
		if s.o.prompts {
			inner := e.Agent
			e.Agent = func(name string) (engine.Agent, error) {
				a, err := inner(name)
				return loud{a, s.Env.Stderr}, err
			}
		}
		run := s.Run
		if s.Fresh {
			if why := s.Env.TooShort(); why != "" {
				s.say(why)
			}
			if said := workspace.SayOtherwise(ctx, s.Source); s.o.Here && said != "" {
				s.say(said)
			}
			s.introduce()
			if err := e.Begin(ctx, run); err != nil {
				return run, err
			}
		} else {
			run.Execution.Push = s.Push
			s.announce(ctx, run)
		}
		return s.toTheEnd(ctx, e, run)
	})
}

// toTheEnd carries a run on to where it stops. If that is its end, the last commit takes its folder off the branch.
func (s runSession) toTheEnd(ctx context.Context, e *engine.Engine, run metadata.Run) (_ metadata.Run, err error) {
	if s.o.fanOut {
		bot.SplitIntoParts(e)
	}
	if !s.o.Scratch { // which begins at the base, and is gone before that moves
		e.Sources = []engine.Source{updaterOf(s.Workspace, e).Next}
	}
	run, err = e.Run(ctx, run)
	if due, is := errors.AsType[*bot.PartsDue](err); is {
		s.Run = run
		return bot.LeaveParts(ctx, s.Workspace, e, due)
	}
	if err == nil {
		run, err = e.GiveBack(ctx, run)
	}
	if err != nil {
		return run, err
	}
	return run, e.Finish(ctx, run, s.Warn)
}

// updaterOf gives what brings the base into a run.
func updaterOf(w *workspace.Workspace, e *engine.Engine) *bot.BaseUpdater {
	return &bot.BaseUpdater{Workspace: w, Engine: e, Now: w.Env.Now, Warn: func(err error) { _, _ = fmt.Fprintln(w.Env.Stderr, "reprise:", err) }}
}

// view picks how progress is shown: live on a terminal, plain lines elsewhere.
func (s runSession) view() terminal.View {
	out, o := s.log(), s.o
	live := environ.IsTerminal(out) && s.Env.Getenv("TERM") != "dumb" && !o.prompts && !o.log.json()
	return terminal.NewView(out, terminal.Options{
		Live: live, Color: text.WantsColor(s.Env.Getenv, environ.IsTerminal(out)), Plan: s.Plan, JSON: o.log.json(), Verbose: strings.HasPrefix(string(o.log), "verbose"), Messages: s.Env.Stderr,
	})
}

// introduce says what a run begins with.
func (s runSession) introduce() {
	if s.o.Pipeline == "" {
		s.say(s.Shown("chosen", "name", s.Plan.Name, "why", s.Why.In(s.Catalogue())))
	}
	for _, heard := range s.Heard() {
		s.say(text.Flat(heard))
	}
	s.tellRemoved()
}

// tellRemoved says what was taken out of the issue.
func (s runSession) tellRemoved() {
	for _, r := range s.Removed {
		s.say(s.Shown("removed", "n", r.Count, "kind", terminal.WordFor(s.Catalogue(), "kinds", string(r.Kind)), "sample", fmt.Sprintf("%q", r.Sample)))
	}
}

// announce says what a person who continues a run should know.
func (s runSession) announce(ctx context.Context, run metadata.Run) {
	for _, what := range s.Notes {
		s.say(what)
	}
	s.tellRemoved()
	for _, a := range s.Unfinished {
		s.say(s.Shown("ended before", "phase", a.Phase, "step", terminal.WordFor(s.Catalogue(), "steps", string(a.Step))))
	}
	if left := s.Repo.Leftover(); left != "" {
		s.say(s.Shown("kept", "file", left))
	}
	if changed, err := workspace.ChangedSince(ctx, s.Source, run, s.Issue, workspace.Choice{Pipeline: s.Plan.Preset, Here: s.o.Here}); err != nil {
		s.say(s.Shown("not compared", "error", err))
	} else if changed != "" {
		s.say(changed)
	}
}

// tellEnd prints how the run ended and gives its exit code.
func (s runSession) tellEnd(ctx context.Context, run metadata.Run) error {
	result, out, o := view.Result(phases.On(s.Plan, run)), s.Env.Stdout, s.o
	result.Head = s.Repo.Tip()
	if o.json || o.log.json() {
		out = s.Env.Stderr // standard output is for programs
	}
	if o.json {
		if err := text.PrintJSON(s.Env.Stdout, result); err != nil {
			return err
		}
	}
	warnOfSteering(s.Workspace)
	if o.dry && !(o.json && o.log.json()) { // the log has that stream for itself
		if err := showRehearsal(ctx, s.Workspace, out, run, page.StartLabel); err != nil {
			return err
		}
	}
	if o.log.json() {
		terminal.LogSummary(s.log(), s.Env.Now(), run.Status, result, o.dry)
	} else {
		s.farewell(ctx, out, run)
	}
	if s.Paused(run) {
		s.say(s.Shown("pausing"))
		return exit.Code(exit.Waiting)
	}
	if code := view.ExitCode(run); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// farewell says in a few lines how the run ended and what can be done now.
func (s runSession) farewell(ctx context.Context, out io.Writer, run metadata.Run) {
	tell := func(says string) { terminal.Tell(out, says) }
	tell("\n" + s.Shown("issue ends", "issue", text.Cut(text.IssueName(run.IssueNumber, run.IssueTitle), 100), "how", ending(run)))
	terminal.ShowProven(out, phases.On(s.Plan, run), terminal.Options{Width: terminal.Width(out)})
	if s.o.dry {
		says := text.Join(" ", s.Shown("nothing left"), text.If(run.Status != metadata.Failed, s.Shown("for real")))
		if view.BrokenSetup(run) != nil {
			says = text.Join(" ", says, s.Shown("change setup", "file", run.Pipeline.Source))
		}
		tell(says)
		return
	}
	tell(s.Shown("branch at", "branch", run.BranchName, "commit", fmt.Sprintf("%.12s", s.Repo.Tip()), "command", "reprise status --issue "+run.IssueNumber))
	where := s.Repo.Unmoved()
	switch {
	case where != "" && run.Status == metadata.Completed:
		tell(s.Shown("branch behind", "branch", run.BranchName, "where", where, "command", "git merge --ff-only "+s.Repo.Tip()))
	case run.Status == metadata.Completed && len(view.NextCommands(phases.On(s.Plan, run))) == 0:
		tell(s.Shown("merge", "id", run.IssueNumber))
	default:
		tell(strings.Join(append([]string{goOnCommand(ctx, s.Workspace, run)}, view.Cautions(run)...), "\n"))
	}
}

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
	so := view.Result(phases.On(w.Plan, run))
	so.Status, so.Code, so.Head, so.Next = "failed", exit.ReasonFor(err), w.Repo.Tip(), nil
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
