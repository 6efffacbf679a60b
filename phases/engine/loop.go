package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// OtherRuns is what is known of other runs of the same repository.
type OtherRuns struct {
	// Others gives the open ones; nil: agents are told of none.
	Others func(ctx context.Context, run metadata.Run) ([]phases.OtherRun, error)
	// Spent gives what each has spent today; nil: no limit holds for them together.
	Spent func(ctx context.Context, run metadata.Run) ([]phases.DaySpent, error)

	today float64 // US dollars that may still be spent on this day; 0: there is no limit
}

// turn does one thing for a run, if it has something to do.
type turn func(ctx context.Context, run metadata.Run) (next metadata.Run, did bool, err error)

// Run goes on with a run until it is completed, a person is needed, or ctx is cancelled. It returns the record as it
// was last committed; the error is nil when the record says how the run ended. It takes turn after turn.
func (e *Engine) Run(ctx context.Context, run metadata.Run) (last metadata.Run, err error) {
	if run.Status != metadata.Running && e.Beside != nil { // a process that was killed as the run ended has left trees of parts
		if _, _, err := e.Beside(ctx, run); err != nil {
			return run, err
		}
	}
	for run.Status == metadata.Running {
		did := false
		for _, turn := range []turn{e.keepPolicy, e.keepDayBudget, e.leaveOut, e.doParts, e.doStep} {
			if run, did, err = turn(ctx, run); did || err != nil {
				break
			}
		}
		if err != nil || !did {
			return run, err
		}
		if run, err = e.Steer(ctx, run); err != nil {
			return run, err
		}
	}
	return run, nil
}

// keepDayBudget stops the run if what all runs may spend in a day is spent.
func (e *Engine) keepDayBudget(ctx context.Context, run metadata.Run) (_ metadata.Run, _ bool, err error) {
	b, d := e.Plan.Budget, phases.Decide(phases.On(e.Plan, run))
	if ctx.Err() != nil || !d.Calls() || b.DayUSD+b.RepoDayUSD == 0 {
		return run, false, nil
	}
	var others []phases.DaySpent
	var why metadata.Reason
	if e.Spent != nil {
		if others, err = e.Spent(ctx, run); err != nil {
			return run, false, fmt.Errorf("what was spent today: %w", err)
		}
	}
	if e.today, why = phases.RemainingToday(b, run, others, e.Now()); why == "" {
		return run, false, nil
	}
	run, err = e.carryOut(ctx, run, phases.Decision{Do: phases.DoWait, Phase: d.Phase, Code: metadata.BudgetExceeded, Why: why})
	return run, true, err
}

// keepPolicy stops the run if what it would do is against a policy.
func (e *Engine) keepPolicy(ctx context.Context, run metadata.Run) (metadata.Run, bool, error) {
	d := phases.Decide(phases.On(e.Plan, run))
	held, err := e.held(ctx, run, d)
	if err != nil || held == d {
		return run, false, err
	}
	run, err = e.carryOut(ctx, run, held)
	return run, true, err
}

// held gives what was decided or, if the run would then work or be completed against a policy, to wait: a policy may be
// newer than the run, and people and rules have changed what the run does.
func (e *Engine) held(ctx context.Context, run metadata.Run, d phases.Decision) (phases.Decision, error) {
	if e.Policy == nil || ctx.Err() != nil || d.Do == phases.DoIntegrate || d.Final() && d.Do != phases.DoFinish {
		return d, nil
	}
	err := e.Policy(ctx, phases.Effective(phases.On(e.Plan, run)))
	if !errors.As(err, new(pipelines.Mistakes)) {
		return d, err
	}
	why := metadata.Because("against_policy", "error", e.Mask(text.Short(pipelines.OneLine(err.Error()), 600)))
	return phases.Decision{Do: phases.DoWait, Phase: cmp.Or(d.Phase, run.CurrentPhase), Code: metadata.ConfigInvalid, Why: why}, nil
}

// leaveOut asks what skip_if of the phase says that comes next, if it has not begun.
func (e *Engine) leaveOut(ctx context.Context, run metadata.Run) (metadata.Run, bool, error) {
	phase, asked := phases.SkipDue(phases.On(e.Plan, run), phases.Decide(phases.On(e.Plan, run)))
	if asked == nil || ctx.Err() != nil {
		return run, false, nil
	}
	holds, why, err := e.holds(ctx, run, phase, *asked)
	switch {
	case ctx.Err() != nil: // it is asked again when the run goes on
		return run, false, nil
	case err != nil:
		return run, false, fmt.Errorf("%s: skip_if: %w", phase, err)
	case why.Code() == "skip_if_unclear":
		run, err = e.carryOut(ctx, run, phases.Decision{Do: phases.DoWait, Phase: phase, Code: metadata.ConfigInvalid, Why: why})
		return run, true, err
	}
	if !holds {
		return run, false, nil
	}
	next := phases.LeaveOut(run, phase, why, e.Now())
	if err = metadata.Follow(run, next); err == nil {
		err = e.Amend(ctx, next, phase+": left out")
	}
	if err != nil {
		return run, false, err
	}
	e.Report.Report(Event{At: e.Now(), Run: next})
	return next, true, nil
}

// doParts goes on with parts of a phase that are done at the same time.
func (e *Engine) doParts(ctx context.Context, run metadata.Run) (metadata.Run, bool, error) {
	if e.Beside == nil {
		return run, false, nil
	}
	if e.latest = run; ctx.Err() != nil {
		return run, false, nil
	}
	return e.Beside(ctx, run)
}

// doStep carries out the next decision, unless something comes before it that is not the
// engine's to do: then the run goes on elsewhere.
func (e *Engine) doStep(ctx context.Context, run metadata.Run) (metadata.Run, bool, error) {
	d := phases.Decide(phases.On(e.Plan, run))
	if d.Resume <= e.Elsewhere {
		d.Resume = 0
	}
	switch {
	case ctx.Err() != nil && !d.Final():
		next, err := e.interrupted(ctx, run)
		return next, true, err
	case e.Due != nil && e.Due(ctx, run, d):
		return run, false, nil
	}
	next, err := e.carryOut(ctx, run, d)
	return next, true, err
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

// stopAfter adds to the last step why the run stops after it, so that this needs no commit of its own.
func (e *Engine) stopAfter(ctx context.Context, next metadata.Run, d phases.Decision) (metadata.Run, error) {
	last := phases.Decide(phases.On(e.Plan, next))
	if next.Status == metadata.Running && last.Final() && !d.Final() && (e.Due == nil || !e.Due(ctx, next, last)) {
		last, err := e.held(ctx, next, last)
		if err != nil { // it is asked again before the run ends
			return next, nil
		}
		return e.apply(next, last, phases.Outcome{At: e.Now()})
	}
	if rec := next.Phase(d.Phase); e.PauseAtGates && next.Status == metadata.Running && rec != nil && rec.Status == metadata.PhaseCompleted {
		pause := phases.Decision{Do: phases.DoWait, Phase: d.Phase, Code: metadata.AwaitingPerson, Why: metadata.Because("paused_at_gate", "phase", d.Phase)}
		return e.apply(next, pause, phases.Outcome{At: e.Now()})
	}
	return next, nil
}

// interrupted records that reprise was told to stop between two steps.
func (e *Engine) interrupted(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	next := phases.Interrupt(run, e.Now())
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeUp) {
		next.Stop.Code, next.Stop.Why = metadata.TimedOut, whyUp(cause)
	}
	if err := e.Amend(ctx, next, "interrupted"); err != nil {
		return run, err
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

// record commits the record together with the work it describes.
func (e *Engine) record(ctx context.Context, run metadata.Run, d phases.Decision, x effects) error {
	m := phases.CommitMessage{
		Subject: phases.Heading(d) + ": " + phases.ResultLine(run, d, x.outcome), Why: x.outcome.Why.In(prompts.Words(run.Language)), Phase: d.Phase, Step: string(d.Do),
	}
	if d.Final() {
		m.Why = d.Why.In(prompts.Words(run.Language))
	} else {
		m.Attempt, m.USD = phases.AttemptOf(&run, d.Phase).N, x.outcome.Usage.USD
	}
	if x.back != nil {
		m.Why = strings.TrimSpace(fmt.Sprintf("%s\n\nTaken back to %s %s: %s", m.Why, x.back.ToPhase, x.back.ToStep, x.back.Reason))
	}
	x.Message = m.Text(run)
	return e.Write(ctx, run, x.BranchCommit)
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
