package main

import (
	"context"
	"fmt"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/progress"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// rollbackOptions are the flags of rollback.
type rollbackOptions struct {
	workspace.Options
	to, step, from string
	reason, file   string
	interactive    bool
	restore        bool
	force          bool
	dry            bool
	json           bool
	auto           bool
}

// commitRollback commits the rollback, and after it the restored code where asked.
func commitRollback(ctx context.Context, w *workspace.Workspace, env environ.Env, o rollbackOptions, r *phases.RollbackPlan) error {
	e, err := w.Engine(env, o.Options, workspace.Quiet{})
	if err != nil {
		return err
	}
	var code engine.Staged
	if o.restore {
		if code, err = w.Restore(ctx, r); err != nil {
			return err
		}
	}
	if err := e.Rollback(ctx, *r, code); err != nil {
		return err
	}
	warnOf(w, env)
	_, _ = fmt.Fprintln(env.Stderr, w.Shown("taken back", "phase", r.Entry.ToPhase, "step", terminal.WordFor(w.Catalogue().Steps, string(r.Entry.ToStep)),
		"commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "next", continueLine(w, progress.NextCommands(w.Plan, r.Run))))
	return nil
}
