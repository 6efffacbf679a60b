package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/checking"
)

// baseline has all checks of the plan run on what nobody has changed yet, beside the
// first phase. What fails there is not by those who work on the issue. The results are
// in the record when that phase is over, or before its own checks.
func (r runner) baseline(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	if r.before == nil {
		return run, r.beginBaseline(ctx, run, d)
	}
	if (d.Calls() && d.Phase == r.beside || d.Final()) && !r.before.Over() {
		return run, nil
	}
	do := phases.Decision{Do: phases.DoBaseline, Phase: r.beside, Why: metadata.Because("baseline_due", "n", r.before.Checks())}
	start := r.Now()
	r.report(Event{At: start, Run: run, Decision: &do})
	attended, done := r.attend(ctx)
	results, err := r.before.Wait(attended)
	done()
	if err != nil {
		return run, err
	}
	next := run.Clone()
	next.Baseline, next.UpdatedAt = results, r.Now()
	next.Revision++
	o := phases.Outcome{At: next.UpdatedAt, Status: metadata.Succeeded, Checks: results, Why: checking.WhyFailed(results), Duration: max(0, next.UpdatedAt.Sub(start))}
	r.report(Event{At: o.At, Run: next, Of: do, Done: &o})
	err = errors.Join(r.before.End(), r.store.Save(next))
	r.before = nil
	return next, err
}

// beginBaseline begins that, if the plan asks for it and nothing is changed yet.
func (r runner) beginBaseline(ctx context.Context, run metadata.Run, d phases.Decision) error {
	changed := slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Diff != nil && p.Diff.Files > 0 })
	all := checking.AllOf(r.Plan)
	if !r.Plan.Baseline || len(all) == 0 || run.Baseline != nil || changed || !d.Calls() {
		return nil
	}
	if err := r.Tree.Prepare(ctx); err != nil {
		return err
	}
	c, err := r.round(ctx, all)
	if err == nil {
		c.Copies, r.beside = "before", d.Phase
		r.before, err = c.Start(ctx, all)
	}
	return err
}
