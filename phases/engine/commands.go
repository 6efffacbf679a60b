package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Commands say how the commands of a pipeline run on the work: those of its setup, and the checks.
type Commands struct {
	Checker    Checker
	Base       Checker    // runs the commands of the setup, and checks of what no agent has changed; nil: Checker does
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
	o.OwnSetup = e.Provisions != nil && e.Provisions.OfWork()
	o.Checks, err = e.round().all(ctx, p.Checks)
	// Without a sandbox, a check may have changed the tree itself.
	err = errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx)))
	if err == nil && ctx.Err() == nil {
		run, err = e.knowBefore(ctx, run, p, o)
	}
	if err == nil && ctx.Err() == nil {
		var proof []metadata.CheckResult
		proof, err = e.prove(ctx, run, p, o.Checks)
		o.Checks = append(o.Checks, proof...)
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

// knowBefore notes which checks fail as they did before. With a setup of the work's own, the base could fail because of the
// work: that is not tried.
func (e *Engine) knowBefore(ctx context.Context, run metadata.Run, p *pipelines.Phase, o phases.Outcome) (metadata.Run, error) {
	checks := o.Checks
	if unknown := phases.UnknownBefore(p.Checks, checks, run.Baseline); e.Plan.Baseline && run.BaseCommit != "" && len(unknown) > 0 && !o.OwnSetup {
		var err error
		do := phases.Decision{Do: phases.DoBaseline, Phase: p.Name, Why: metadata.Because("baseline_again", "n", len(unknown))}
		c := e.round()
		c.Commit, c.Checker = run.BaseCommit, cmp.Or(e.Base, e.Checker)
		if run, err = e.tryBefore(ctx, run, do, c, unknown); err != nil {
			return run, err
		}
	}
	phases.KnownBefore(checks, run.Baseline, run.Phase(p.Name).Checks)
	return run, nil
}

// round is what it takes to run checks on the work as it is.
func (e *Engine) round() *checkRound {
	return &checkRound{Tree: e.Tree, Checker: e.Checker, Mask: e.Mask, Jobs: e.Jobs}
}

// setUp makes the work tree ready for a decision, if it is not. One that has never
// been ready stops the run when a command fails. Later it is the work that breaks
// the setup, as by a lock file: then broken is how the commands ended, for the checks.
func (e *Engine) setUp(ctx context.Context, run metadata.Run, d phases.Decision) (next metadata.Run, broken []metadata.CheckResult, err error) {
	if e.Provisions == nil || d.Final() {
		return run, nil, nil
	}
	digest, due, err := e.Provisions.Due(ctx)
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
			ended, err := cmp.Or(e.Base, e.Checker).Check(attended, e.Tree.Dir(), c.Check)
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

// baseline has all checks of the plan run on what nobody has changed yet, before the first phase.
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
	c := e.round()
	c.Checker = cmp.Or(e.Base, e.Checker)
	next, err := e.tryBefore(attended, run, do, c, all)
	if err != nil {
		return run, err
	}
	next.UpdatedAt = e.Now()
	next.Revision++
	return next, e.Store.Save(next)
}

// tryBefore runs commands on what was there before the work, and gives the record that says how they ended.
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

// checkRound is a round of checks on one state of the work.
type checkRound struct {
	Tree    BranchTree
	Checker Checker
	Mask    func(string) string
	Jobs    int                    // how many run side by side; 0: one after the other
	Commit  string                 // the commit it is about, in place of the work; empty: none
	Lay     func(dir string) error // what is changed in each copy; nil: nothing
	copying sync.Mutex
}

// all gives the results in the order of the commands. The first error ends all.
func (c *checkRound) all(ctx context.Context, commands []pipelines.Check) ([]metadata.CheckResult, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	results, free := make([]metadata.CheckResult, len(commands)), make(chan struct{}, max(1, c.Jobs))
	var workers sync.WaitGroup
	for i, command := range commands {
		free <- struct{}{}
		workers.Go(func() {
			defer func() { <-free }()
			var err error
			if ctx.Err() == nil {
				results[i], err = c.one(ctx, command)
			}
			if err != nil {
				end(fmt.Errorf("check %s: %w", command.Name, err))
			}
		})
	}
	workers.Wait()
	return results, context.Cause(ctx)
}

// one gives the result of a command, which is run once more if it fails and asks for that.
func (c *checkRound) one(ctx context.Context, command pipelines.Check) (metadata.CheckResult, error) {
	var before metadata.CheckResult // the try before
	for try := 0; ; try++ {
		r, err := c.inCopy(ctx, command)
		if err != nil {
			return r, err
		}
		if r.Pass && try > 0 {
			r.Flaky, r.FailedTests, r.Output = true, before.FailedTests, before.Output
		}
		if r.Pass || try >= command.Retries {
			return r, nil
		}
		before = r
	}
}

// inCopy runs a command in a copy of the work.
func (c *checkRound) inCopy(ctx context.Context, command pipelines.Check) (metadata.CheckResult, error) {
	// One name in every round: what compilers have in their caches counts for one path.
	name := fmt.Sprintf("check-%.8s", phases.DigestOf([]byte(command.Name+"\n"+command.Run)))
	c.copying.Lock() // what is not part of the work is taken out of the tree for it
	remove, err := c.Tree.Copy(ctx, c.Commit, name)
	c.copying.Unlock()
	if err != nil {
		return metadata.CheckResult{}, err
	}
	if c.Lay != nil {
		if err := c.Lay(c.Tree.CopyDir(name)); err != nil {
			return metadata.CheckResult{}, errors.Join(err, remove())
		}
	}
	r, err := c.Checker.Check(ctx, c.Tree.CopyDir(name), command)
	r.Output = c.Mask(r.Output)
	for n, test := range r.FailedTests {
		r.FailedTests[n] = c.Mask(test)
	}
	return r, errors.Join(err, remove())
}
