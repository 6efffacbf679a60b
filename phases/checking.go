package phases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Tree is where the work is.
type CheckTree interface {
	// Copy makes a copy without what no commit has but for what keep names, in the
	// folder that CopyDir gives. It has the work or, if commit is not empty, what that
	// one has. The function it returns removes it.
	Copy(ctx context.Context, commit, name string, keep []string) (remove func() error, err error)
	CopyDir(name string) string
}

// Checker runs a command in a folder. Some may run at the same time.
type Checker interface {
	Check(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error)
}

// Round is a round of checks on one state of the work.
type CheckRound struct {
	Tree    CheckTree
	Checker Checker
	Mask    func(string) string
	Jobs    int      // how many run side by side; 0: one after the other
	Keep    []string // files beside the commit
	Copies  string   // how the names of its copies begin; empty: check
	Commit  string   // the commit it is about, in place of the work; empty: none
	copying sync.Mutex
}

// KeptBeside gives the files beside the commit that the checks of a phase ask to keep. All
// of its checks find them, and so does its reviewer.
func KeptBeside(checks []pipelines.Check) (keep []string) {
	for _, c := range checks {
		keep = append(keep, c.Keep...)
	}
	return keep
}

// All gives the results in the order of the commands. The first error ends all.
func (c *CheckRound) All(ctx context.Context, commands []pipelines.Check) ([]metadata.CheckResult, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	results, next := make([]metadata.CheckResult, len(commands)), make(chan int)
	var workers sync.WaitGroup
	for range max(1, min(c.Jobs, len(commands))) {
		workers.Go(func() {
			for i := range next {
				var err error
				if results[i], err = c.one(ctx, i, commands[i]); err != nil {
					end(fmt.Errorf("check %s: %w", commands[i].Name, err))
				}
			}
		})
	}
	for i := range commands {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return results, context.Cause(ctx)
}

// one gives the result of a command, which is run once more if it fails and asks for that.
func (c *CheckRound) one(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
	var before metadata.CheckResult // the try before
	for try := 0; ; try++ {
		r, err := c.inCopy(ctx, i, command)
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
func (c *CheckRound) inCopy(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
	name := fmt.Sprintf("%s-%d", cmp.Or(c.Copies, "check"), i)
	c.copying.Lock() // what is not part of the work is taken out of the tree for it
	remove, err := c.Tree.Copy(ctx, c.Commit, name, c.Keep)
	c.copying.Unlock()
	if err != nil {
		return metadata.CheckResult{}, err
	}
	r, err := c.Checker.Check(ctx, c.Tree.CopyDir(name), command)
	r.Output = c.Mask(r.Output)
	for n, test := range r.FailedTests {
		r.FailedTests[n] = c.Mask(test)
	}
	return r, errors.Join(err, remove())
}

// AllOf gives all checks of a plan, each once.
func AllChecks(plan *pipelines.Pipeline) (all []pipelines.Check) {
	for _, p := range slices.Concat(plan.Phases, plan.Spare) {
		for _, c := range p.Checks {
			if !slices.ContainsFunc(all, func(o pipelines.Check) bool { return o.Name == c.Name && o.Run == c.Run }) {
				all = append(all, c)
			}
		}
	}
	return all
}
