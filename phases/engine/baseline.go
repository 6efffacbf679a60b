package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// baseline has all checks of the plan run on what nobody has changed yet, beside the
// first phase. What fails there is not by those who work on the issue. The results are
// in the record when that phase is over, or before its own checks.
func (e *Engine) baseline(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	if e.ran.before == nil {
		return run, e.beginBaseline(ctx, run, d)
	}
	if (d.Calls() && d.Phase == e.ran.beside || d.Final()) && !e.ran.before.Over() {
		return run, nil
	}
	do := phases.Decision{Do: phases.DoBaseline, Phase: e.ran.beside, Why: metadata.Because("baseline_due", "n", e.ran.before.Checks())}
	start := e.Now()
	e.Report.Report(Event{At: start, Run: run, Decision: &do})
	attended, done := e.attend(ctx)
	results, err := e.ran.before.Wait(attended)
	done()
	if err != nil {
		return run, err
	}
	next := run.Clone()
	next.Baseline, next.UpdatedAt = results, e.Now()
	next.Revision++
	o := phases.Outcome{At: next.UpdatedAt, Status: metadata.Succeeded, Checks: results, Why: phases.WhyChecksFailed(results), Duration: max(0, next.UpdatedAt.Sub(start))}
	e.Report.Report(Event{At: o.At, Run: next, Of: do, Done: &o})
	err = errors.Join(e.ran.before.End(), e.Store.Save(next))
	e.ran.before = nil
	return next, err
}

// beginBaseline begins that, if the plan asks for it and nothing is changed yet.
func (e *Engine) beginBaseline(ctx context.Context, run metadata.Run, d phases.Decision) error {
	changed := slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Diff != nil && p.Diff.Files > 0 })
	all := phases.AllChecks(e.Plan)
	if !e.Plan.Baseline || len(all) == 0 || run.Baseline != nil || changed || !d.Calls() {
		return nil
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return err
	}
	c, err := e.round(ctx, all)
	if err == nil {
		c.Copies, e.ran.beside = "before", d.Phase
		e.ran.before, err = c.Start(ctx, all)
	}
	return err
}
