package workspace

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/hooks"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// told gives what tells the hooks of the pipeline of each record that is committed; nil
// if there are none, or the run is a rehearsal that leaves nothing behind.
func told(w *Workspace, env environ.Env, o Options, opts agents.Options) func(context.Context, metadata.Run) {
	if len(w.Plan.Hooks) == 0 || o.Scratch {
		return nil
	}
	teller := &hooks.Teller{
		Hooks: w.Plan.Hooks, Getenv: env.Getenv, Mask: env.Finder().Mask, Words: w.Catalogue(), Check: opts.Check, Sleep: environ.Sleep,
		Proxy: func(u *url.URL) (*url.URL, error) { return http.ProxyFromEnvironment(&http.Request{URL: u}) },
		Warn:  func(said string) { _, _ = fmt.Fprintln(env.Stderr, "reprise: "+text.Flat(said)) },
	}
	return func(ctx context.Context, run metadata.Run) {
		before := w.known
		w.known = run.Clone()
		teller.Tell(ctx, before, run)
	}
}
