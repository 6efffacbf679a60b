package engine

import (
	"context"
	"errors"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Commands say how the commands of a pipeline run on the work: those of its setup, and the checks.
type Commands struct {
	Checker    Checker
	Installer  Checker    // runs the commands of the setup; nil: Checker does
	Provisions Provisions // made before the first step; nil if the plan has no setup
	Jobs       int        // how many checks run side by side; 0: one after the other

	ran struct {
		brokenBy string // digest of a setup that the work has broken: until it changes, only checks try it again
	}
}

// runChecks runs the checks of a phase on the work.
func (e *Engine) runChecks(ctx context.Context, run metadata.Run, p *pipelines.Phase) (next metadata.Run, o phases.Outcome, err error) {
	ctx, done := e.attend(ctx)
	defer done()
	o.Checks, err = e.round(p.Checks).all(ctx, p.Checks)
	// Without a sandbox, a check may have changed the tree itself.
	err = errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx)))
	if err == nil && ctx.Err() == nil {
		run, err = e.knowBefore(ctx, run, p, o.Checks)
	}
	switch {
	case ctx.Err() != nil:
		return run, stopped(context.Cause(ctx), metadata.Because("interrupted")), nil
	case err != nil:
		return run, phases.Outcome{}, err
	}
	o.Status, o.Why = metadata.Succeeded, phases.WhyChecksFailed(o.Checks)
	return run, o, nil
}

// knowBefore notes which checks fail as they did before. Where that is not known of one that
// fails, because the base was merged or the baseline never ended, it runs on the base now.
func (e *Engine) knowBefore(ctx context.Context, run metadata.Run, p *pipelines.Phase, checks []metadata.CheckResult) (metadata.Run, error) {
	if unknown := phases.UnknownBefore(p.Checks, checks, run.Baseline); e.Plan.Baseline && run.BaseCommit != "" && len(unknown) > 0 {
		var err error
		do := phases.Decision{Do: phases.DoBaseline, Phase: p.Name, Why: metadata.Because("baseline_again", "n", len(unknown))}
		c := e.round(nil)
		c.Commit, c.Copies = run.BaseCommit, "base"
		if run, err = e.tryBefore(ctx, run, do, c, unknown); err != nil {
			return run, err
		}
	}
	phases.KnownBefore(checks, run.Baseline)
	return run, nil
}

// round is what it takes to run checks on the work as it is.
func (e *Engine) round(checks []pipelines.Check) *checkRound {
	return &checkRound{Tree: e.Tree, Checker: e.Checker, Mask: e.Mask, Jobs: e.Jobs, Keep: phases.KeptBeside(checks)}
}
