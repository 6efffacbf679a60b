package main

import (
	"context"
	"fmt"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Rollback is what is asked of a rollback: the flags of the command.
type rollbackRequest struct {
	workspace.Options
	To, Step, From     string
	Reason, ReasonFile string
	Interactive        bool // the reason is typed
	Restore            bool // the code goes back, too
	Force              bool // nobody is asked
	Dry                bool
	JSON               bool
	Auto               bool // an agent finds out where to
}

// commitRollback commits the rollback, and after it the restored code where asked.
func commitRollback(ctx context.Context, w *workspace.Workspace, env environ.Env, o rollbackRequest, r *phases.RollbackPlan) error {
	e, err := w.Engine(env, o.Options, engine.Quiet{})
	if err != nil {
		return err
	}
	var code engine.StagedTree
	if o.Restore {
		if code, err = w.Restore(ctx, r); err != nil {
			return err
		}
	}
	if err := e.Rollback(ctx, *r, code); err != nil {
		return err
	}
	warnOfSteering(w, env)
	terminal.Tell(env.Stderr, w.Shown("taken back", "phase", r.Entry.ToPhase, "step", terminal.WordFor(w.Catalogue(), "steps", string(r.Entry.ToStep)),
		"commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "next", goOnCommand(w, r.Run)))
	return nil
}
