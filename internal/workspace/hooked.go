package workspace

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/hooks"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// tellHooks has an engine tell the hooks of the pipeline of each record that it commits. It does
// nothing if there are none, or the run is a rehearsal that leaves nothing behind.
func tellHooks(w *Workspace, e *engine.Engine, env environ.Env, o Options, opts agents.Options) {
	e.Committed = func(context.Context, metadata.Run) {}
	if len(w.Plan.Hooks) == 0 || o.Scratch {
		return
	}
	if w.Warn == nil {
		w.Warn = func(err error) { _, _ = fmt.Fprintln(env.Stderr, "reprise: "+text.Flat(err.Error())) }
	}
	past := hooks.Past{Branch: w.Repo, Base: w.Run.BaseCommit, Record: phases.RecordFile(w.Issue.ID)}
	w.Hooks = &hooks.Teller{
		Hooks: w.Plan.Hooks, Getenv: env.Getenv, Mask: env.Finder().Mask, Words: w.Catalogue(), Check: opts.Check, Sleep: environ.Sleep,
		Proxy: func(u *url.URL) (*url.URL, error) { return http.ProxyFromEnvironment(&http.Request{URL: u}) },
		Warn:  func(said string) { w.Warn(errors.New(said)) },
		Known: w.known, Since: past.Since,
	}
	e.Told = w.Hooks.Told
	e.Committed = func(ctx context.Context, run metadata.Run) {
		w.Hooks.Committed(ctx, run)
		w.known = run.Clone() // of an engine after this one
		w.known.Execution.Told = w.Hooks.Told()
	}
}
