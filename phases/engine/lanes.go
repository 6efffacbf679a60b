package engine

import (
	"context"
	"errors"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Trees are the work trees of parts.
type LaneTrees interface {
	// Available reports whether there can be any; if not, it has told people why, and that
	// parts are done one after the other.
	Available(ctx context.Context) bool
	// Open gives the engine of a part, which works in a tree of its own, as it was left
	// or made anew at a commit. Several are opened at the same time.
	// Like is a copy of the run's, which goes on meanwhile.
	Open(ctx context.Context, like *Engine, part, commit string) (*Engine, error)
	// Existing names the parts that have a tree, also those whose tree another process has left.
	Existing() []string
	// Remove removes the tree of a part whose work is on the branch.
	Remove(part string) error
}

// Side does the parts of a run's phases at the same time.
type LaneSide struct {
	Engine *Engine // of the run
	Trees  LaneTrees
	Jobs   int    // most calls at the same time; at least 1
	Only   string // the part that alone is done here, as others do the rest; empty: all are
}

// Run goes on with the parts of a run until nobody is at work on them and none may begin,
// or people or ctx end that; false says that there was nothing to do. It returns the
// record as it was last committed. Of a run that has stopped, only trees are removed in which
// nothing is done any more.
func (s *LaneSide) Run(ctx context.Context, run metadata.Run) (metadata.Run, bool, error) {
	if err := s.removeIdle(ctx, run); err != nil {
		return run, false, err
	}
	if run.Status != metadata.Running || s.Only == "" && !phases.InLanes(run, s.Jobs) {
		return run, false, nil
	}
	first, ok := s.next(run, nil)
	if !ok || s.Only == "" && !phases.InLanes(run, 1) && !s.Trees.Available(ctx) {
		return run, false, nil
	}
	switch ready, err := s.Engine.Ready(ctx, run, first); {
	case errors.Is(err, ErrSteered):
		return run, true, nil
	case err != nil && ctx.Err() != nil:
		return run, false, nil // the engine notes that it was told to stop
	case err != nil || ready.Status != metadata.Running:
		return ready, true, err
	default:
		run = ready
	}
	w := &writer{LaneSide: s, run: run, asks: make(chan func()), ended: make(chan *worker, 2*s.Jobs+1)}
	err := w.work(ctx)
	return w.run, true, err
}

// removeIdle removes trees in which nothing is done any more, such as that of a review which was
// cut off and is done on the branch.
func (s *LaneSide) removeIdle(ctx context.Context, run metadata.Run) error {
	for _, part := range s.Trees.Existing() {
		if rec := run.Phase(part); s.Only != "" || rec != nil && rec.Lane != nil {
			continue
		}
		// To open it removes what programs have left elsewhere, too.
		if _, err := s.Trees.Open(ctx, s.Engine, part, s.Engine.Tree.Tip()); err != nil {
			return err
		}
		if err := s.Trees.Remove(part); err != nil {
			return err
		}
	}
	return nil
}

// next gives a step that may begin beside those at work.
func (s *LaneSide) next(run metadata.Run, atWork []phases.Decision) (phases.Decision, bool) {
	if s.Only == "" {
		return phases.NextForLane(s.plan(), run, atWork, s.Jobs)
	}
	d, ok := phases.NextForPart(s.Engine.Plan, run, s.Only)
	return d, ok && len(atWork) == 0
}

// plan is the pipeline of the run. Who looks at each phase that passed does not want the next
// one to have begun by then.
func (s *LaneSide) plan() *pipelines.Pipeline {
	plan := *s.Engine.Plan
	plan.Speculate = plan.Speculate && !s.Engine.PauseAtGates
	return &plan
}

// upon gives what a step builds on that begins before that is accepted, and the record that
// its agent is to see then; false for all others.
func (s *LaneSide) upon(run metadata.Run, d phases.Decision) (phases.EarlyStart, bool) {
	for _, e := range phases.EarlyStarts(s.plan(), run) {
		if e.Phase == d.Phase && e.Do == d.Do {
			return e, true
		}
	}
	return phases.EarlyStart{}, false
}
