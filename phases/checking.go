package phases

import (
	"cmp"
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

// Tree is where the work is.
type CheckTree interface {
	// Tip is the commit that has it.
	Tip() string
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

// Results keeps what checks came to. Its methods may be called at the same time, and
// Put only for a key that Get does not know.
type CheckResults interface {
	Get(key string) (metadata.CheckResult, bool)
	Put(key string, r metadata.CheckResult) error
}

// Round is a round of checks on one state of the work.
type CheckRound struct {
	Tree    CheckTree
	Checker Checker
	Results CheckResults // nil: nothing is known
	Mask    func(string) string
	Jobs    int      // how many run side by side; 0: one after the other
	Content string   // digest of the work
	SetUp   string   // digest of what its setup was made by
	Keep    []string // files beside the commit
	Copies  string   // how the names of its copies begin; empty: check
	Commit  string   // the commit it is about, in place of the work; empty: none
	copying sync.Mutex
	made    map[int]func() error // removes the copies that were made beforehand, see Start
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

// one gives the result of a command: the one that is known of this state of the
// work, or else a new one. A command that fails is run once more if it asks for that.
func (c *CheckRound) one(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
	if r, known := c.known(command); known {
		return r, nil
	}
	passes, fails := c.keys(command)
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
		case c.Results == nil:
			return r, nil
		default:
			if !r.Pass {
				key = fails
			}
			return r, c.Results.Put(key, r)
		}
	}
}

// known gives what is known of a command on this state of the work.
func (c *CheckRound) known(command pipelines.Check) (r metadata.CheckResult, known bool) {
	passes, fails := c.keys(command)
	for _, key := range []string{passes, fails} {
		if c.Results != nil && !known {
			r, known = c.Results.Get(key)
		}
	}
	return r, known
}

// copyOf names the copy for the command of that place.
func (c *CheckRound) copyOf(i int) string { return fmt.Sprintf("%s-%d", cmp.Or(c.Copies, "check"), i) }

// inCopy runs a command in a copy of the work.
func (c *CheckRound) inCopy(ctx context.Context, i int, command pipelines.Check) (metadata.CheckResult, error) {
	name, remove := c.copyOf(i), func() error { return nil }
	if c.made == nil {
		var err error
		c.copying.Lock() // what is not part of the work is taken out of the tree for it
		remove, err = c.Tree.Copy(ctx, c.Commit, name, c.Keep)
		c.copying.Unlock()
		if err != nil {
			return metadata.CheckResult{}, err
		}
	}
	r, err := c.Checker.Check(ctx, c.Tree.CopyDir(name), command)
	r.Output = c.Mask(r.Output)
	for n, test := range r.FailedTests {
		r.FailedTests[n] = c.Mask(test)
	}
	return r, errors.Join(err, remove())
}

// keys name a command on a state of the work, by which its result is kept if it
// passes and if it fails. One that fails may be run again once there is a new commit,
// as after /retry; so may one for which more counts than the code.
func (c *CheckRound) keys(command pipelines.Check) (passes, fails string) {
	code := len(c.Keep) == 0 && !strings.Contains(command.Run, ".reprise")
	command.Retries = 0
	text, _ := json.Marshal(command) // it is made of strings and numbers
	of := func(more string) string {
		sum := sha256.Sum256([]byte(strings.Join([]string{c.Content, c.SetUp, strings.Join(c.Keep, "\n"), string(text), more}, "\x00")))
		return hex.EncodeToString(sum[:])
	}
	if fails = of(cmp.Or(c.Commit, c.Tree.Tip())); code {
		return of(""), fails
	}
	return fails, fails
}
