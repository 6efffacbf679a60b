package engine

import (
	"context"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// baseline has all checks of the plan run on what nobody has changed yet, before the first
// phase. What fails there is not by those who work on the issue.
func (e *Engine) baseline(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	changed := slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Diff != nil && p.Diff.Files > 0 })
	all := phases.AllChecks(e.Plan)
	if !e.Plan.Baseline || len(all) == 0 || run.Baseline != nil || changed || !d.Calls() {
		return run, nil
	}
	run, err := e.Renew(ctx, run)
	if err != nil {
		return run, err
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, err
	}
	attended, done := e.attend(ctx)
	defer done()
	do := phases.Decision{Do: phases.DoBaseline, Phase: d.Phase, Why: metadata.Because("baseline_due", "n", len(all))}
	c := e.round(all)
	c.Copies = "before"
	next, err := e.tryBefore(attended, run, do, c, all)
	if err != nil {
		return run, err
	}
	next.UpdatedAt = e.Now()
	next.Revision++
	return next, e.Store.Save(next)
}

// tryBefore runs commands on what was there before the work, and gives the record that says
// how they ended.
func (e *Engine) tryBefore(ctx context.Context, run metadata.Run, do phases.Decision, c *checkRound, commands []pipelines.Check) (metadata.Run, error) {
	start := e.Now()
	e.Report.Report(Event{At: start, Run: run, Decision: &do})
	results, err := c.all(ctx, commands)
	if err != nil {
		return run, err
	}
	run = run.Clone()
	run.Baseline = append(run.Baseline, results...)
	o := phases.Outcome{At: e.Now(), Status: metadata.Succeeded, Checks: results, Why: phases.WhyChecksFailed(results)}
	o.End(start, o.At)
	e.Report.Report(Event{At: o.At, Run: run, Of: do, Done: &o})
	return run, nil
}
