package main

import (
	"context"
	"fmt"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/fanout"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// takeFromJobs takes what jobs of a workflow have done of the parts of a run, if whoever
// was to bring that together is gone: the lease on the run says so, as nobody gave it back.
func takeFromJobs(ctx context.Context, w *workspace.Workspace, env environ.Env, o workspace.Options) error {
	if o.Scratch || w.Run.Execution.Lease == nil {
		return nil
	}
	say := func(what any) { _, _ = fmt.Fprintln(env.Stderr, "reprise:", text.Flat(fmt.Sprint(what))) }
	e, err := w.Engine(env, o, workspace.Quiet{})
	if err != nil {
		return err
	}
	before := len(w.Run.Attempts)
	if _, err := fanout.Fold(ctx, w, e, func(err error) { say(err) }); err != nil {
		return err
	}
	if n := len(w.Run.Attempts) - before; n > 0 {
		say(w.Shown("from jobs", "n", n))
	}
	return nil
}
