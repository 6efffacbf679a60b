package bot

import (
	"context"
	"fmt"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases/engine"
)

// FoldAbandonedParts does on a person's machine what Fold does, if the job that was to join the parts
// of a run is gone: the lease on the run says so, as nobody gave it back. Without such a
// lease, and on a scratch copy, it does nothing. People are told what was taken, and what
// was not.
func FoldAbandonedParts(ctx context.Context, w *workspace.Workspace, env environ.Env, o workspace.Options) error {
	if o.Scratch || w.Run.Execution.Lease == nil {
		return nil
	}
	say := func(what any) { _, _ = fmt.Fprintln(env.Stderr, "reprise:", text.Flat(fmt.Sprint(what))) }
	e, err := w.Engine(env, o, engine.Quiet{})
	if err != nil {
		return err
	}
	before := len(w.Run.Attempts)
	if _, err := FoldParts(ctx, w, e, func(err error) { say(err) }); err != nil {
		return err
	}
	if n := len(w.Run.Attempts) - before; n > 0 {
		say(w.Shown("from jobs", "n", n))
	}
	return nil
}
