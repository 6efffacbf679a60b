package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// writer is the one goroutine that touches the record and the branch.
type writer struct {
	*LaneSide
	run    metadata.Run
	seen   atomic.Pointer[metadata.Run] // run, for who looks at it meanwhile
	atWork []*worker
	broken []*worker    // whose steps have come to nothing, for no reason in the work
	asks   chan func()  // what workers have it do to the record
	ended  chan *worker // that are done
}

// work begins what may begin and lands what is done, until there is neither. Once a
// step cannot be carried out, such as in a tree that somebody has removed, nothing more
// begins; what others have done by their end is not lost.
func (w *writer) work(ctx context.Context) error {
	for {
		if err := w.begin(ctx); err != nil {
			return errors.Join(err, w.fold(ctx, err))
		}
		if err := w.failure(); len(w.atWork) == 0 && err != nil {
			return errors.Join(err, w.fold(ctx, err))
		}
		if len(w.atWork) == 0 {
			return nil
		}
		one, cause := w.await(ctx)
		var err error
		switch {
		case errors.Is(cause, ErrSteered) && !errors.Is(cause, ErrCancelled):
			err = w.steer(ctx)
		case cause != nil:
			return errors.Join(w.failure(), w.fold(ctx, cause, one))
		default:
			err = w.land(ctx, one)
		}
		if err != nil {
			return errors.Join(w.failure(), err, w.fold(ctx, err))
		}
		if w.Only != "" && len(w.broken) == 0 {
			return nil // whoever called Run asks people, and for what comes before a step
		}
	}
}

// failure says which steps could not be carried out, and why.
func (w *writer) failure() error {
	var all []error
	for _, one := range w.broken {
		all = append(all, fmt.Errorf("%s: %s: %w", one.of.Phase, one.of.Do, one.err))
	}
	return errors.Join(all...)
}

// begin begins all steps that may begin now.
func (w *writer) begin(ctx context.Context) error {
	e := w.Engine
	for len(w.broken) == 0 && w.run.Status == metadata.Running && ctx.Err() == nil {
		var at []phases.Decision
		var held []phases.BudgetShare // of calls: checks at work leave theirs to what follows them
		for _, one := range w.atWork {
			if at = append(at, one.of); one.of.Calls() {
				held = append(held, one.held)
			}
		}
		d, ok := w.next(w.run, at)
		if !ok {
			return nil
		}
		seen, share := w.run, phases.BudgetShare{}
		if d.Calls() {
			free := w.Jobs - len(held)
			if seen, share, ok = phases.ShareOf(seen, held, max(free, 1)); !ok {
				return nil // until others are over
			}
		}
		if d.Resume <= e.Elsewhere {
			d.Resume = 0
		}
		next, err := e.Renew(ctx, w.run)
		if err != nil {
			return err
		}
		w.run = next
		seen.Revision, seen.UpdatedAt = next.Revision, next.UpdatedAt
		e.Report.Report(Event{At: e.Now(), Run: w.run, Decision: &d})
		w.start(ctx, &worker{of: d, held: share}, seen)
	}
	return nil
}

// ask has the writer do something, and waits for it.
func (w *writer) ask(f func()) {
	done := make(chan struct{})
	w.asks <- func() { f(); close(done) }
	<-done
}

// await does what workers ask for until one of them is done. If ctx or people end all
// work it gives the cause, and perhaps none.
func (w *writer) await(ctx context.Context) (*worker, error) {
	seen := w.run.Clone()
	w.seen.Store(&seen)
	attended, done := w.Engine.Attend(ctx, func() metadata.Run { return *w.seen.Load() })
	defer done()
	for {
		select {
		case f := <-w.asks:
			f()
		case one := <-w.ended:
			return one, context.Cause(ctx)
		case <-attended.Done():
			return nil, context.Cause(attended)
		}
	}
}

// land takes what a worker has done into the record, and what people have asked for.
func (w *writer) land(ctx context.Context, one *worker) error {
	e := w.Engine
	w.drop(one)
	switch ended := errors.Is(one.err, ErrSteered); {
	case one.err != nil && !ended:
		w.broken = append(w.broken, one)
		return nil
	case ended && one.n == 0:
		return nil
	case ended:
		one.work = e.Cut(one.of, one.err, metadata.Because("told_to_stop"))
	}
	next, err := e.Land(ctx, w.run, len(w.atWork) == 0, one.work)
	w.run = next
	if err != nil {
		return err
	}
	if rec := next.Phase(one.of.Phase); rec != nil && rec.Lane == nil {
		if err := w.Trees.Remove(one.of.Phase); err != nil {
			return err
		}
	}
	if len(w.atWork) == 0 {
		return nil // whoever called Run asks people
	}
	return w.steer(ctx)
}

// steer has people's commands carried out beside those at work, and ends the calls that are void then.
func (w *writer) steer(ctx context.Context) error {
	next, err := w.Engine.Steer(ctx, w.run)
	if err != nil {
		return err
	}
	w.run = next
	for _, other := range w.atWork {
		if other.n > 0 && phases.IsVoid(next.Phase(other.of.Phase), next.Attempts[other.n-1]) {
			other.end(ErrSteered)
		}
	}
	return nil
}

// drop lets go of a worker that is done.
func (w *writer) drop(one *worker) {
	one.end(nil)
	for i, other := range w.atWork {
		if other == one {
			w.atWork = append(w.atWork[:i:i], w.atWork[i+1:]...)
			return
		}
	}
}

// fold ends all workers and takes what they, and one that is done already, have done into the record, as one commit.
func (w *writer) fold(ctx context.Context, cause error, done ...*worker) error {
	if !errors.Is(cause, ErrSteered) && !errors.Is(cause, ErrInterrupted) {
		cause = ErrInterrupted
	}
	for _, one := range w.atWork {
		one.end(cause)
	}
	var works []Work
	take := func(one *worker) {
		w.drop(one)
		switch {
		case one.err == nil:
			works = append(works, one.work)
		case one.n > 0 && slices.Contains(w.broken, one):
			works = append(works, w.Engine.Cut(one.of, ErrInterrupted, metadata.Because("step_broken")))
		case one.n > 0:
			works = append(works, w.Engine.Cut(one.of, cause, metadata.Because("told_to_stop")))
		}
	}
	for _, one := range append(done, w.broken...) {
		if one != nil {
			take(one)
		}
	}
	for len(w.atWork) > 0 {
		select {
		case f := <-w.asks:
			f()
		case one := <-w.ended:
			take(one)
		}
	}
	if len(works) == 0 {
		return nil
	}
	next, err := w.Engine.Land(ctx, w.run, true, works...)
	w.run = next
	return err
}
