package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// Run goes on with a run until it is completed, a person is needed, or ctx is cancelled. It returns the record as it
// was last committed; the error is nil when the record says how the run ended.
func (e *Engine) Run(ctx context.Context, run metadata.Run) (_ metadata.Run, err error) {
	if run.Status != metadata.Running && e.Lanes != nil { // a process that was killed as the run ended has left trees of parts
		if err := e.Lanes.removeIdle(ctx, run); err != nil {
			return run, err
		}
	}
	for run.Status == metadata.Running {
		if run, err = e.next(ctx, run); err != nil {
			return run, err
		}
		if run, err = e.Steer(ctx, run); err != nil {
			return run, err
		}
	}
	return run, nil
}

// next does the next thing for a run: what a source has for it, else the step that was decided on.
func (e *Engine) next(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	d := phases.Decide(phases.On(e.Plan, run))
	take, err := first(ctx, append([]Source{e.policy, e.money, e.condition, e.parts, e.end}, e.Sources...), run, d)
	if err != nil {
		return run, err
	}
	if take != nil {
		return take()
	}
	if d.Resume <= e.Elsewhere {
		d.Resume = 0
	}
	return e.carryOut(ctx, run, d)
}

// carryOut does what was decided and commits what came out of it. It returns the record as it was last committed.
func (e *Engine) carryOut(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	e.latest = run
	run, broken, err := e.setUp(ctx, run, d)
	if err == nil && run.Status == metadata.Running {
		run, err = e.baseline(ctx, run, d)
	}
	switch {
	case errors.Is(err, ErrSteered) || err == nil && run.Status != metadata.Running:
		return run, nil
	case err != nil && ctx.Err() != nil:
		return e.interrupted(ctx, run)
	case err != nil:
		return run, err
	}
	if text, err := e.document(ctx, run, d); err == nil && text != nil { // an error comes again when it is taken
		d.Agent, d.Why = metadata.Given, metadata.Because("document_given", "file", run.ExternalDocuments[d.Phase])
	}
	e.Report.Report(Event{At: e.Now(), Run: run, Decision: &d})
	if run, err = e.Renew(ctx, run); err != nil { // to tell people may have taken long
		return run, fmt.Errorf("%s: %w", phases.Heading(d), err)
	}
	begun, x, err := e.do(ctx, run, d, broken)
	if err != nil && ctx.Err() != nil {
		return e.interrupted(ctx, run)
	}
	next := run
	if err == nil {
		next, err = e.land(ctx, begun, run, true, Work{d, x})
	}
	if err != nil {
		return next, fmt.Errorf("%s: %w", phases.Heading(d), err)
	}
	return next, nil
}

// remaining gives what one more call may cost; 0: there is no limit.
func (e *Engine) remaining(run metadata.Run) float64 {
	usd := phases.RemainingUSD(run)
	if e.today > 0 && (usd == 0 || e.today < usd) {
		return e.today
	}
	return usd
}

// OverBudget is the error of a call that the budget has no room for, or ran out in the middle of.
type OverBudget struct {
	Limit  phases.Limit
	Reason metadata.Reason
}

// Error says which limit is reached.
func (e *OverBudget) Error() string { return e.Reason.In(prompts.Words("en")) }

// Why says which limit is reached.
func (e *OverBudget) Why() metadata.Reason { return e.Reason }

// SpentUp says which limit of its budget a run has reached; nil if none.
func SpentUp(run metadata.Run) *OverBudget {
	if reached, why := phases.LimitReached(run); reached != "" {
		return &OverBudget{reached, why}
	}
	return nil
}

// withinBudget gives a context for a call of an agent, which ends with errBudget
// when the time that the run has is used up, and a function that ends it earlier.
func withinBudget(ctx context.Context, run metadata.Run) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	remaining := phases.RemainingTime(run)
	if remaining <= 0 {
		return ctx, cancel // there is no limit
	}
	ctx, stop := context.WithTimeoutCause(ctx, remaining, errBudget)
	return ctx, func(cause error) { cancel(cause); stop() }
}
