package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// knowBefore notes which checks fail as they did before. With a setup of the work's own, the base could fail because of the
// work: that is not tried.
func (e *Engine) knowBefore(ctx context.Context, run metadata.Run, p *pipelines.Phase, o phases.Outcome) (before []metadata.CheckResult, err error) {
	checks := o.Checks
	if unknown := phases.UnknownBefore(p.Checks, checks, run.Baseline); e.Plan.Baseline && run.BaseCommit != "" && len(unknown) > 0 && !o.OwnSetup {
		do := phases.Decision{Do: phases.DoBaseline, Phase: p.Name, Why: metadata.Because("baseline_again", "n", len(unknown))}
		known := len(run.Baseline)
		if run, err = e.tryBefore(ctx, run, do, run.BaseCommit, unknown); err != nil {
			return nil, err
		}
		before = run.Baseline[known:]
	}
	phases.KnownBefore(checks, run.Baseline, run.Phase(p.Name).Checks)
	return before, nil
}

// setUp makes the work tree ready for a decision, if it is not. If it has never been, a command that fails stops the run.
// Later it is the work that breaks the setup, as by a lock file: broken is how the commands ended, for the checks.
func (e *Engine) setUp(ctx context.Context, run metadata.Run, d phases.Decision) (next metadata.Run, broken []metadata.CheckResult, err error) {
	if e.Provisions == nil || d.Final() {
		return run, nil, nil
	}
	digest, due, err := e.Provisions.Due(ctx)
	if err != nil {
		return run, nil, err
	}
	if !due || digest == e.brokenBy && d.Calls() {
		return run, nil, e.Provisions.Give(ctx)
	}
	do := phases.Decision{Do: phases.DoSetup, Phase: d.Phase, Why: metadata.Because("setup_due", "n", len(e.Plan.Setup))}
	start := e.Now()
	e.Report.Report(Event{At: start, Run: run, Decision: &do})
	o, err := e.makeReady(ctx, digest)
	if err != nil {
		return run, nil, err
	}
	o.At = e.Now()
	switch next = run; {
	case e.Lane == nil && (phases.Broken(o.Checks) == nil || run.Setup == nil || phases.Broken(run.Setup) != nil):
		next = phases.SetUp(run, o.Checks, o.At)
	case phases.Broken(o.Checks) != nil:
		broken, e.brokenBy = o.Checks, digest
	}
	if next.Status != metadata.Running {
		if err := e.Amend(ctx, next, "setup failed"); err != nil {
			return run, nil, err
		}
	}
	o.End(start, o.At)
	e.Report.Report(Event{At: o.At, Run: next, Of: do, Done: &o})
	return next, broken, nil
}

// makeReady runs the commands of the setup, up to the first that fails.
func (e *Engine) makeReady(ctx context.Context, digest string) (o phases.Outcome, err error) {
	if err := e.Tree.Prepare(ctx); err != nil {
		return o, err
	}
	o.Status = metadata.Succeeded
	return o, e.Provisions.Make(ctx, digest, func() (bool, error) {
		for _, c := range e.Plan.Setup {
			ended, err := e.Base.Check(ctx, e.Tree.Dir(), c.Check)
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			if err != nil {
				return false, fmt.Errorf("setup %s: %w", c.Name, err)
			}
			ended.Output = e.Mask(ended.Output)
			o.Checks = append(o.Checks, ended)
			if !ended.Pass {
				o.Why = metadata.Because("check_exited", "check", c.Name, "code", ended.ExitCode)
				return false, nil
			}
		}
		return true, nil
	})
}

// baseline has all checks of the plan run on what nobody has changed yet, before the first phase.
func (e *Engine) baseline(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	changed := slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Diff != nil && p.Diff.Files > 0 })
	all := phases.AllChecks(e.Plan)
	if !e.Plan.Baseline || len(all) == 0 || run.Baseline != nil || changed || !d.Calls() {
		return run, nil
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, err
	}
	do := phases.Decision{Do: phases.DoBaseline, Phase: d.Phase, Why: metadata.Because("baseline_due", "n", len(all))}
	tried, err := e.tryBefore(ctx, run, do, "", all)
	if err != nil {
		return run, err
	}
	next := phases.TriedBefore(run, tried.Baseline, e.Now())
	if next.Status != metadata.Running {
		return next, e.Amend(ctx, next, "checks cannot run")
	}
	return next, e.Store.Save(next)
}

// tryBefore runs commands on what was there before the work, and gives the record that says how they ended.
func (e *Engine) tryBefore(ctx context.Context, run metadata.Run, do phases.Decision, commit string, commands []pipelines.Check) (metadata.Run, error) {
	start := e.Now()
	e.Report.Report(Event{At: start, Run: run, Decision: &do})
	c := e.round(commit)
	c.Checker = e.Base
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
