package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/branch"
	"github.com/reprise-ci/reprise/phases/budget"
	"github.com/reprise-ci/reprise/phases/daily"
	"github.com/reprise-ci/reprise/phases/leaving"
	"github.com/reprise-ci/reprise/phases/message"
	"github.com/reprise-ci/reprise/prompts"
)

// Run goes on with a run until it is completed, a person is needed, or ctx is
// cancelled. It returns the record as it was last committed; the error is
// nil when the record says how the run ended.
func (e *Engine) Run(ctx context.Context, run metadata.Run) (last metadata.Run, err error) {
	defer func() { err, e.ran.before = errors.Join(err, e.ran.before.End()), nil }()
	if run.Status != metadata.Running && e.Beside != nil { // a process that was killed as the run ended has left trees of parts
		if _, _, err := e.Beside(ctx, run); err != nil {
			return run, err
		}
	}
	for run.Status == metadata.Running {
		e.latest = run
		if e.ran.before != nil && e.Beside != nil { // parts are checked in their lanes; an error comes again below
			if next, err := e.runner().baseline(ctx, run, phases.Decide(e.Plan, run)); err == nil {
				run = next
			}
		}
		if ctx.Err() == nil {
			next, err := e.beforehand(ctx, run, phases.Decide(e.Plan, run))
			steered := errors.Is(err, ErrSteered) // while a command was asked, which is asked again then
			if err != nil && !steered {
				return next, err
			}
			if steered || next.Revision != run.Revision {
				if run, err = e.Steer(ctx, next); err != nil {
					return run, err
				}
				continue
			}
		}
		if e.ran.before == nil && e.Beside != nil && ctx.Err() == nil {
			next, did, err := e.Beside(ctx, run)
			if err == nil && did {
				next, err = e.Steer(ctx, next)
			}
			if err != nil {
				return next, err
			}
			if run = next; did {
				continue
			}
		}
		d := phases.Decide(e.Plan, run)
		if d.Resume <= e.Elsewhere {
			d.Resume = 0
		}
		if ctx.Err() != nil && !d.Final() {
			return e.interrupted(ctx, run)
		}
		if e.Due != nil && e.Due(ctx, run, d) {
			return run, nil
		}
		next, err := e.carryOut(ctx, run, d)
		if err != nil {
			return next, err
		}
		if run, err = e.Steer(ctx, next); err != nil {
			return run, err
		}
	}
	return run, nil
}

// carryOut does what was decided and commits what came out of it. It returns
// the record as it was last committed.
func (e *Engine) carryOut(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	run, broken, err := e.runner().setUp(ctx, run, d)
	if err == nil && run.Status == metadata.Running {
		run, err = e.runner().baseline(ctx, run, d)
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
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	next, effects, err := e.do(ctx, run, d, broken)
	switch {
	case err != nil && ctx.Err() != nil:
		return e.interrupted(ctx, run)
	case err != nil:
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	if next, err = e.rules().consequences(ctx, run, next, d, &effects); err == nil {
		next, err = e.stopAfter(ctx, next, d)
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	if next.Status == metadata.Running {
		e.getReady(next, phases.Decide(e.Plan, next))
	}
	err = e.record(ctx, next, d, effects)
	var kept *branch.NotPushed
	if errors.As(err, &kept) {
		return next, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	e.Report.Report(Event{At: e.Now(), Run: next, Of: d, Done: &effects.outcome})
	return next, nil
}

// stopAfter adds to the last step why the run stops after it, so that this
// needs no commit of its own.
func (e *Engine) stopAfter(ctx context.Context, next metadata.Run, d phases.Decision) (metadata.Run, error) {
	last := phases.Decide(e.Plan, next)
	if next.Status == metadata.Running && last.Final() && !d.Final() && (e.Due == nil || !e.Due(ctx, next, last)) {
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
	if errors.Is(context.Cause(ctx), ErrTimeUp) {
		next.Stop.Code, next.Stop.Why = metadata.TimedOut, metadata.Because("time_over")
	}
	if err := e.Amend(ctx, next, "interrupted"); err != nil {
		return run, err
	}
	return next, nil
}

// beforehand does what comes before a decision is carried out: it may stop the run because
// of what was spent today, or leave a phase out. It returns the record as it was last
// committed.
func (e *Engine) beforehand(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	b := e.Plan.Budget
	if !d.Calls() || b.DayUSD+b.RepoDayUSD == 0 {
		return e.leaveOut(ctx, run, d)
	}
	var others []daily.Spent
	var why metadata.Reason
	var err error
	if e.Spent != nil {
		if others, err = e.Spent(ctx, run); err != nil {
			return run, fmt.Errorf("what was spent today: %w", err)
		}
	}
	if e.today, why = daily.Remaining(b, run, others, e.Now()); why != "" {
		return e.carryOut(ctx, run, phases.Decision{Do: phases.DoWait, Phase: d.Phase, Code: metadata.DayBudget, Why: why})
	}
	return e.leaveOut(ctx, run, d)
}

// leaveOut asks what skip_if of the phase says that a decision is about, if it has not
// begun, and returns the record as it was last committed. A condition that cannot be
// decided stops the run, and a command that says neither yes nor no is told: neither
// leaves the phase out.
func (e *Engine) leaveOut(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	phase, asked := leaving.Due(e.Plan, run, d)
	if asked == nil {
		return run, nil
	}
	now := fmt.Sprintf("%s %d %d", phase, run.Phase(phase).Generation, len(run.RollbackHistory))
	if e.skipAsked == now {
		return run, nil
	}
	asking := condition{e.Guard, e.Tree, e.Checker, e.Issue, e.Matches, e.attend}
	holds, why, err := asking.holds(ctx, run, phase, *asked)
	if ctx.Err() != nil {
		return run, nil // it is asked again when the run goes on
	}
	if err != nil {
		return run, fmt.Errorf("%s: skip_if: %w", phase, err)
	}
	e.skipAsked = now
	if why.Code() == "skip_if_unclear" {
		e.skipAsked = ""
		return e.carryOut(ctx, run, phases.Decision{Do: phases.DoWait, Phase: phase, Code: metadata.ConfigInvalid, Why: why})
	}
	next, what := leaving.Answered(run, phase, holds, why, e.Now())
	if what == "" {
		return run, nil
	}
	if err = metadata.Follow(run, next); err == nil {
		err = e.Amend(ctx, next, phase+": "+what)
	}
	if err != nil {
		return run, err
	}
	e.Report.Report(Event{At: e.Now(), Run: next})
	return next, nil
}

// remaining gives what one more call may cost; 0: there is no limit.
func (e *Engine) remaining(run metadata.Run) float64 {
	usd := budget.RemainingUSD(run)
	if e.today > 0 && (usd == 0 || e.today < usd) {
		return e.today
	}
	return usd
}

// record commits the record together with the work it describes.
func (e *Engine) record(ctx context.Context, run metadata.Run, d phases.Decision, x effects) error {
	m := message.Commit{
		Subject: message.Heading(d) + ": " + message.Result(run, d, x.outcome), Why: x.outcome.Why.In(prompts.Words(run.Language)), Phase: d.Phase, Step: string(d.Do),
	}
	if d.Final() {
		m.Why = d.Why.In(prompts.Words(run.Language))
	} else {
		m.Attempt, m.USD = phases.AttemptOf(&run, d.Phase).N, x.outcome.Usage.USD
	}
	if x.back != nil {
		m.Why = strings.TrimSpace(fmt.Sprintf("%s\n\nTaken back to %s %s: %s", m.Why, x.back.ToPhase, x.back.ToStep, x.back.Reason))
	}
	return e.Write(ctx, run, branch.Commit{
		Message: m.Text(run), Files: x.files, Staged: x.staged, Moves: x.moves, Take: x.take, Beside: x.beside, Parents: x.heads,
	})
}
