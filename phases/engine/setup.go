package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// setUp makes the work tree ready for a decision, if it is not. One that has never
// been ready stops the run when a command fails. Later it is the work that breaks
// the setup, as by a lock file: then broken is how the commands ended, for the checks.
func (e *Engine) setUp(ctx context.Context, run metadata.Run, d phases.Decision) (next metadata.Run, broken []metadata.CheckResult, err error) {
	if e.Provisions == nil || d.Final() {
		return run, nil, nil
	}
	digest, due, err := e.Provisions.Due()
	if err != nil {
		return run, nil, err
	}
	if !due || digest == e.ran.brokenBy && d.Calls() {
		return run, nil, e.Provisions.Give(ctx)
	}
	if run, err = e.Renew(ctx, run); err != nil {
		return run, nil, err
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
	case !(e.Lane != nil) && (phases.Broken(o.Checks) == nil || run.Setup == nil || phases.Broken(run.Setup) != nil):
		next = phases.SetUp(run, o.Checks, o.At)
	case phases.Broken(o.Checks) != nil:
		broken, e.ran.brokenBy = o.Checks, digest
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
	attended, done := e.attend(ctx)
	defer done()
	return o, e.Provisions.Make(ctx, digest, func() (bool, error) {
		for _, c := range e.Plan.Setup {
			ended, err := cmp.Or(e.Installer, e.Checker).Check(attended, e.Tree.Dir(), c.Check)
			if attended.Err() != nil {
				return false, context.Cause(attended)
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
