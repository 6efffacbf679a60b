package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// checkedTree is where the work is.
type checkedTree interface {
	// Copy makes a copy without what no commit has but for what keep names, in the
	// folder that CopyDir gives. It has the work or, if commit is not empty, what that
	// one has. The function it returns removes it.
	Copy(ctx context.Context, commit, name string, keep []string) (remove func() error, err error)
	CopyDir(name string) string
}

// checkRound is a round of checks on one state of the work.
type checkRound struct {
	Tree    checkedTree
	Checker Checker
	Mask    func(string) string
	Jobs    int      // how many run side by side; 0: one after the other
	Keep    []string // files beside the commit
	Copies  string   // how the names of its copies begin; empty: check
	Commit  string   // the commit it is about, in place of the work; empty: none
	copying sync.Mutex
}

// all gives the results in the order of the commands. The first error ends all.
func (c *checkRound) all(ctx context.Context, commands []pipelines.Check) ([]metadata.CheckResult, error) {
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
func (c *checkRound) one(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
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
func (c *checkRound) inCopy(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
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
