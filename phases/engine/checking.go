package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// checking is a round of checks on one state of the work. They run side by side, each
// on a copy of the work as a fresh clone of it would have it: a file that no clone
// has could make them pass. What a check leaves behind, such as build output, is not
// work, and no other check meets it.
type checking struct {
	tree    Tree
	checker Checker
	results Results // nil: nothing is known
	mask    func(string) string
	jobs    int
	content string   // digest of the work
	setUp   string   // digest of what its setup was made by
	keep    []string // files beside the commit
	copying sync.Mutex
}

// all gives the results in the order of the commands. The first error ends all.
func (c *checking) all(ctx context.Context, commands []pipelines.Check) ([]metadata.CheckResult, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	results, next := make([]metadata.CheckResult, len(commands)), make(chan int)
	var workers sync.WaitGroup
	for range max(1, min(c.jobs, len(commands))) {
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

// one gives the result of a command: the one that is known of this state of the
// work, or else a new one. A command that fails is run once more if it asks for that.
func (c *checking) one(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
	passes, fails := c.keys(command)
	for _, key := range []string{passes, fails} {
		if c.results == nil {
			break
		}
		if r, known := c.results.Get(key); known {
			return r, nil
		}
	}
	var before metadata.CheckResult // the try before
	for try := 0; ; try++ {
		r, err := c.inCopy(ctx, i, command)
		if err != nil {
			return r, err
		}
		if r.Pass && try > 0 {
			r.Flaky, r.FailedTests, r.Output = true, before.FailedTests, before.Output
		}
		before = r
		switch key := passes; {
		case !r.Pass && try < command.Retries:
			continue
		case c.results == nil:
			return r, nil
		default:
			if !r.Pass {
				key = fails
			}
			return r, c.results.Put(key, r)
		}
	}
}

// inCopy runs a command in a copy of the work.
func (c *checking) inCopy(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
	name := fmt.Sprintf("check-%d", i)
	c.copying.Lock() // what is not part of the work is taken out of the tree for it
	remove, err := c.tree.Copy(ctx, name, c.keep)
	c.copying.Unlock()
	if err != nil {
		return metadata.CheckResult{}, err
	}
	r, err := c.checker.Check(ctx, c.tree.CopyDir(name), command)
	r.Output = c.mask(r.Output)
	for n, test := range r.FailedTests {
		r.FailedTests[n] = c.mask(test)
	}
	return r, errors.Join(err, remove())
}

// keys name a command on a state of the work, by which its result is kept if it
// passes and if it fails. One that fails may be run again once there is a new commit,
// as after /retry; so may one for which more counts than the code.
func (c *checking) keys(command pipelines.Check) (passes, fails string) {
	code := len(c.keep) == 0 && !strings.Contains(command.Run, ".reprise")
	command.Retries = 0
	text, _ := json.Marshal(command) // it is made of strings and numbers
	of := func(more string) string {
		sum := sha256.Sum256([]byte(strings.Join([]string{c.content, c.setUp, strings.Join(c.keep, "\n"), string(text), more}, "\x00")))
		return hex.EncodeToString(sum[:])
	}
	if fails = of(c.tree.Tip()); code {
		return of(""), fails
	}
	return fails, fails
}
