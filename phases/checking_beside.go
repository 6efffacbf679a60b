package phases

import (
	"context"
	"errors"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Beside is a round of checks that goes on while the tree is worked in: each has a copy
// of the work from before. A check that is run once more finds what it has left there.
type ChecksBeside struct {
	round    *CheckRound
	commands []pipelines.Check
	end      context.CancelFunc
	over     chan struct{} // closed when the results are there
	results  []metadata.CheckResult
	err      error
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

// Start makes the copies and begins. End has to be called in the end.
func (c *CheckRound) Start(ctx context.Context, commands []pipelines.Check) (*ChecksBeside, error) {
	b := &ChecksBeside{round: c, commands: commands, over: make(chan struct{})}
	c.made = map[int]func() error{}
	for i, command := range commands {
		if _, known := c.known(command); known {
			continue
		}
		var err error
		if c.made[i], err = c.Tree.Copy(ctx, c.Commit, c.copyOf(i), c.Keep); err != nil {
			delete(c.made, i)
			return nil, errors.Join(err, c.remove())
		}
	}
	ctx, b.end = context.WithCancel(ctx)
	go func() {
		defer close(b.over)
		b.results, b.err = c.All(ctx, commands)
	}()
	return b, nil
}

// Checks is how many checks there are.
func (b *ChecksBeside) Checks() int { return len(b.commands) }

// Over reports whether the results are there.
func (b *ChecksBeside) Over() bool {
	select {
	case <-b.over:
		return true
	default:
		return false
	}
}

// Wait gives the results in the order of the commands. If ctx is done before, the
// round goes on.
func (b *ChecksBeside) Wait(ctx context.Context) ([]metadata.CheckResult, error) {
	select {
	case <-b.over:
		return b.results, b.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// End ends what is still running, and removes the copies. Of none, it does nothing.
func (b *ChecksBeside) End() error {
	if b == nil {
		return nil
	}
	b.end()
	<-b.over
	return b.round.remove()
}

// remove removes the copies that were made before the round began.
func (c *CheckRound) remove() error {
	var errs []error
	for _, remove := range c.made {
		errs = append(errs, remove())
	}
	return errors.Join(errs...)
}
