package engine

import (
	"context"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

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
	Limit  phases.Limit // empty: that of a day, which no allowance raises
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
