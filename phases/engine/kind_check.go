package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Commands say how the commands of a pipeline run on the work: those of its setup, and the checks.
type Commands struct {
	Checker    checker
	Base       checker    // runs the commands of the setup, and checks of what no agent has changed
	Provisions Provisions // made before the first step; nil if the plan has no setup
	Jobs       int        // how many checks run side by side; 0: one after the other
	brokenBy   string     // digest of a setup that the work has broken: until it changes, only checks try it again
}

// runChecks runs the checks of a phase on the work. Before is how those ended on the base that had not run there.
func (e *Engine) runChecks(ctx context.Context, run metadata.Run, p *pipelines.Phase) (o phases.Outcome, before []metadata.CheckResult, err error) {
	o.OwnSetup = e.Provisions != nil && e.Provisions.OfWork()
	o.Checks, err = e.round("").all(ctx, p.Checks)
	// Without a sandbox, a check may have changed the tree itself.
	err = errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx)))
	if err == nil && ctx.Err() == nil {
		before, err = e.knowBefore(ctx, run, p, o)
	}
	if err == nil && ctx.Err() == nil {
		var proof []metadata.CheckResult
		proof, err = e.prove(ctx, run, p, o.Checks)
		o.Checks = append(o.Checks, proof...)
	}
	switch {
	case ctx.Err() != nil:
		return stopped(context.Cause(ctx), metadata.Because("interrupted")), before, nil
	case err != nil:
		return phases.Outcome{}, nil, err
	}
	o.Status, o.Why = metadata.Succeeded, phases.WhyChecksFailed(o.Checks)
	return o, before, nil
}

// round is what it takes to run checks on a commit, or on the work as it is if that is "".
func (e *Engine) round(commit string) *checkRound {
	return &checkRound{Engine: e, Checker: e.Checker, Commit: commit}
}

// checkRound is a round of checks on one state of the work.
type checkRound struct {
	*Engine
	Checker checker
	Commit  string                 // the commit it is about, in place of the work; empty: none
	Lay     func(dir string) error // what is changed in each copy; nil: nothing
	copying sync.Mutex
}

// all gives the results in the order of the commands. The first error ends all.
func (c *checkRound) all(ctx context.Context, commands []pipelines.Check) ([]metadata.CheckResult, error) {
	results := make([]metadata.CheckResult, len(commands))
	workers, within := errgroup.WithContext(ctx)
	workers.SetLimit(max(1, c.Jobs))
	for i, command := range commands {
		workers.Go(func() (err error) {
			if within.Err() == nil {
				results[i], err = c.one(within, command)
			}
			if err != nil {
				return fmt.Errorf("check %s: %w", command.Name, err)
			}
			return nil
		})
	}
	err := workers.Wait()
	return results, cmp.Or(context.Cause(ctx), err)
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

// check runs the phase's commands. Where the work breaks the setup, that is the outcome: nothing else could be run.
func (e *Engine) check(ctx context.Context, run metadata.Run, d phases.Decision, broken []metadata.CheckResult) (x effects, err error) {
	x.outcome = phases.Outcome{Status: metadata.Succeeded, Checks: broken}
	if broken == nil {
		x.outcome, x.before, err = e.runChecks(ctx, run, e.Plan.Phase(d.Phase))
	}
	if err == nil && x.outcome.Status == metadata.Succeeded { // who was told to stop has a reason
		rec := run.Phase(d.Phase)
		x.outcome.Why = phases.HowChecksEnded(x.outcome.Checks)
		x.outcome.Lost, err = phases.LostTests(rec.Best, x.outcome.Checks, func() (string, error) {
			text, _, err := e.Tree.Diff(ctx, rec.Best.Commit)
			return text, err
		})
		file := path.Join(phases.PhaseFolder(run, e.Plan.Phase(d.Phase)), phases.ChecksFile)
		x.Files = map[string][]byte{file: []byte(phases.WrittenChecks(run.Language, d.Phase, x.outcome.Checks))}
	}
	return x, err
}
