package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
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
			introduce(w, env, o.Options)
			if err := e.Begin(ctx, run); err != nil {
				return run, err
			}
		} else {
			run.Execution.Push = w.Push
			announce(ctx, w, env, run)
		}
		return toTheEnd(ctx, w, env, o, e, run)
	})
}

// toTheEnd carries a run on to where it stops. If that is its end, the last commit takes
// its folder off the branch.
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
	return run, e.Finish(ctx, run, false)
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
		Live: live, Color: text.WantsColor(env.Getenv, environ.IsTerminal(out)), Plan: w.Plan, Format: o.log.format(), Verbose: o.log.verbose(), Messages: env.Stderr,
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
func announce(ctx context.Context, w *workspace.Workspace, env environ.Env, run metadata.Run) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(env.Stderr, "reprise: "+format+"\n", args...) }
	for _, what := range w.Notes {
		say("%s", what)
	}
	tellRemoved(w, env)
	for _, a := range w.Unfinished {
		say("%s", w.Shown("ended before", "phase", a.Phase, "step", terminal.WordFor(w.Catalogue(), "steps", string(a.Step))))
	}
	if left := w.Repo.Leftover(); left != "" {
		say("%s", w.Shown("kept", "file", left))
	}
	if changed, err := workspace.ChangedSince(ctx, w.Source, run, w.Issue, w.Plan.Preset); err != nil {
		say("%s", w.Shown("not compared", "error", err))
	} else if changed != "" {
		say("%s", changed)
	}
}
