package legacy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/reprise-ci/reprise/metadata"
)

// rollbacks takes over the history, and leaves out of it what points to nothing.
func (t *Takeover) rollbacks(ctx context.Context) {
	run := &t.w.Run
	known := func(phase, what string) string {
		if phase != "" && run.Phase(phase) == nil {
			t.note(what, "pipeline %s has no phase %s", t.w.Plan.Name, phase)
			return ""
		}
		return phase
	}
	for i, r := range t.Old.Run.RollbackHistory {
		what := fmt.Sprintf("rollback_history[%d]", i)
		if known(r.ToPhase, what) == "" {
			continue
		}
		r.FromPhase = known(r.FromPhase, what+".from_phase")
		r.ReviewResultPath = t.reachable(ctx, r.ReviewResultPath, what+".review_result_path")
		if rec := run.Phase(r.ToPhase); r.TriggeredBy == metadata.Automatic && r.ReviewResultPath == "" && rec.RollbackContext != nil {
			// The phase that asked for it has said why in its artifact.
			if docs, err := t.Old.documents(r.FromPhase, nil); err == nil && len(docs) > 0 {
				r.ReviewResultPath = t.reachable(ctx, docs[0].path, what+".review_result_path")
			}
			rec.RollbackContext.ReviewResult = r.ReviewResultPath
		}
		run.RollbackHistory = append(run.RollbackHistory, r)
	}
	for i := range run.Phases {
		if c := run.Phases[i].RollbackContext; c != nil {
			what := "phases." + run.Phases[i].Name + ".rollback_context"
			c.FromPhase = known(c.FromPhase, what+".from_phase")
			c.ReviewResult = t.reachable(ctx, c.ReviewResult, what+".review_result")
		}
	}
}

// reachable gives a path that an agent can read, else nothing.
func (t *Takeover) reachable(ctx context.Context, p, what string) string {
	if p == "" {
		return ""
	}
	if _, err := t.w.Repo.ReadFile(ctx, t.w.Repo.Tip(), p); err != nil {
		why := "is not on the branch"
		if !errors.Is(err, fs.ErrNotExist) {
			why = "cannot be read: " + err.Error()
		}
		t.note(what, "%s", why)
		return ""
	}
	return p
}
