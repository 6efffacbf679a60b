package runs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// How often a run that is followed is looked at: here, and on origin.
const (
	lookEvery = 2 * time.Second
	askEvery  = 15 * time.Second
)

// Follow shows where a run is, and again whenever that has changed, until the run ends
// or waits for a person. The error is the exit code for how it ended.
func Follow(ctx context.Context, env environ.Env, repo, id string, asJSON bool) error {
	r, err := workspace.Look(ctx, env, repo, id)
	if err != nil {
		return err
	}
	f := follower{env: env, json: asJSON, canvas: terminal.NewCanvas(env.Stdout)}
	quiet := env
	quiet.Stderr = io.Discard // what there is to say was said at the first look
	asked := time.Time{}
	for {
		if now := env.Now(); r.Run.Execution.Push && now.Sub(asked) >= askEvery {
			asked = now
			r, _ = r.Further(ctx) // an origin that does not answer is asked again
		}
		f.show(r)
		if r.Run.Status != metadata.Running {
			return f.end(r)
		}
		if err := env.Rest(ctx, lookEvery); err != nil {
			return err
		}
		next, err := workspace.LookAt(ctx, quiet, r.Source, r.Run.IssueNumber)
		if err != nil {
			return err
		}
		if !workspace.Newer(r.Run, next.Run) {
			r = next
		}
	}
}

// follower shows a run that goes on.
type follower struct {
	env    environ.Env
	json   bool
	canvas *terminal.Canvas // nil: it is no terminal
	seen   *metadata.Run    // what was shown last
}

func (f *follower) show(r *workspace.Recorded) {
	first, same := f.seen == nil, f.seen != nil && reflect.DeepEqual(*f.seen, r.Run)
	f.seen = &r.Run
	switch {
	case f.json && !same:
		terminal.LogJSON(f.env.Stdout, view.Result(phases.On(r.Plan, r.Run)))
	case f.json:
	case f.canvas != nil: // its size may have changed
		var page bytes.Buffer
		terminal.ShowStatus(&page, phases.On(r.Plan, r.Run), f.options(r))
		f.canvas.Draw(strings.Split(strings.TrimSuffix(page.String(), "\n"), "\n"))
	case !same:
		s := view.StateOf(phases.On(r.Plan, r.Run))
		out := terminal.NewReport(f.env.Stdout, terminal.ShowOptions(f.env))
		if first {
			out.Line("%s", out.Faint(out.Shown("clock column")))
		}
		out.Line("%s  %s", f.env.Now().Format("15:04:05"), text.Join("  ", text.Words(r.Run.Status), text.Flat(text.Join(" ", s.Now.Phase, string(s.Now.Step()))),
			fmt.Sprintf("%d/%d", s.Done, s.All), view.Spent(r.Run)))
	}
}

func (f *follower) options(r *workspace.Recorded) terminal.Options {
	o := terminal.ShowOptions(f.env)
	o.Worker = r.AtWork()
	return o
}

// end shows in full where the run has come to, unless that is there already.
func (f *follower) end(r *workspace.Recorded) error {
	if f.canvas != nil && !f.json {
		f.canvas.Ring(r.Run)
	}
	if !f.json && f.canvas == nil {
		_, _ = fmt.Fprintln(f.env.Stdout) // as with any other line
		terminal.ShowStatus(f.env.Stdout, phases.On(r.Plan, r.Run), f.options(r))
	}
	if code := view.ExitCode(r.Run); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}
