package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Task is one part of a run that was left to those that do its parts. It is done on this machine and pushed to a ref of
// its own. The record of the run stays as it is: it is for whoever joins the parts.
type Task struct {
	*workspace.Workspace
	Options  workspace.Options // with which it was opened: Only names the part, Jobs is 1
	Me       string            // this process, in a lease; "": no workflow has started it
	Report   engine.Reporter
	Steering engine.Steering // nil: nobody can reach the task
}

// Do goes on with the part until others have to: from where an earlier task of it has got to. It
// gives the record that this machine has of the run then, or says why the part is not done here.
func (t Task) Do(ctx context.Context) (run metadata.Run, no string, err error) {
	w, part := t.Workspace, t.Options.Only
	parts := phases.PartsOfWave(phases.On(w.Plan, w.Run))
	if !sharedLease(t.Me, w.Run.Execution.Lease) || !slices.Contains(parts, part) {
		return w.Run, fmt.Sprintf("%s of issue %s is not done here: the run was not left to tasks for it, or has gone another way since", part, w.Issue.ID), nil
	}
	if err := w.Ready(t.Options); err != nil {
		return w.Run, "", err
	}
	w.SayLacking()
	e, err := w.Engine(t.Options, t.Report)
	if err != nil {
		return w.Run, "", err
	}
	if err := process.Harden(); err != nil {
		w.Warn(err)
	}
	e.Committed, e.Told = nil, nil // hooks are told by who joins the parts
	e.Steering = t.Steering
	e.Sources = []engine.Source{func(context.Context, metadata.Run, phases.Decision) (engine.Take, error) { return nil, errEnded }} // for others to go on
	share, err := t.share(ctx, e, len(parts))
	if err == nil {
		err = t.resume(ctx, e)
	}
	if err != nil {
		return w.Run, "", err
	}
	run = w.Run
	run.Budget = share
	telemetry.Follow(ctx, e, w.Run)
	if run, err = e.Run(ctx, run); errors.Is(err, errEnded) {
		err = nil
	}
	return run, "", err
}

// share gives what one of n tasks may spend: of what is left to the run, and of what may still be spent on this day.
func (t Task) share(ctx context.Context, e *engine.Engine, n int) (metadata.Budget, error) {
	run, _ := phases.ShareOfPart(t.Run, n)
	left, why, err := e.RemainingToday(ctx, run)
	if left /= float64(n); err == nil && why == "" && left > 0 && (run.Budget.USD == 0 || left < run.Budget.USD) {
		run.Budget.USD, run.Budget.Since.USD = left, run.Cost.USD
	}
	return run.Budget, err
}

// resume takes what an earlier task of the part has pushed into the record. It is committed only if
// there is a step to go on with.
func (t Task) resume(ctx context.Context, e *engine.Engine) error {
	part, f := t.Options.Only, &folding{w: t.Workspace, e: e, warn: t.Warn}
	if !f.pushed() {
		return errors.New("a run that is not pushed cannot be done by several machines")
	}
	of, err := f.list(ctx)
	r, is := of[part]
	if err != nil || !is {
		return err
	}
	if err := f.gather(ctx, map[string]git.Ref{part: r}); err != nil {
		return err
	}
	if _, more := phases.NextForPart(phases.On(t.Plan, f.next), part); more && len(f.files)+len(f.heads) > 0 {
		return f.commit(ctx, "task: goes on with what was pushed of "+part)
	}
	t.Run = f.next
	return nil
}
