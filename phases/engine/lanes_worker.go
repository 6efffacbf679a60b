package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// worker carries out one step of a part.
type worker struct {
	of   phases.Decision
	upon phases.BegunUpon   // that is not accepted yet; zero for most
	held phases.BudgetShare // of the budget
	like *Engine            // as that of the run was when it began
	n    int                // number of its attempt; 0: it has not begun
	end  context.CancelCauseFunc
	work Work
	err  error
}

// start has a worker carry out its decision. Seen is the record as its call is to see it.
func (w *writer) start(ctx context.Context, one *worker, seen metadata.Run) {
	ctx, one.end = context.WithCancelCause(ctx)
	tip, at := w.Engine.Tree.Tip(), w.Engine.Now()
	one.like = w.Engine.Aside(nil)
	budget := seen.Budget
	w.atWork = append(w.atWork, one)
	go func() {
		one.work, one.err = w.do(ctx, one, seen.Clone(), tip, at, budget)
		w.ended <- one
	}()
}

// do carries out a decision in the tree of its part.
func (w *writer) do(ctx context.Context, one *worker, run metadata.Run, tip string, at time.Time, budget metadata.Budget) (Work, error) {
	ctx = process.WithinPhase(ctx, one.of.Phase)
	e, err := w.Trees.Open(ctx, one.like, one.of.Phase, tip)
	if err != nil {
		return Work{}, err
	}
	code := cmp.Or(one.upon.Code, tip)
	if lane := run.Phase(one.of.Phase).Lane; lane != nil && !phases.IsAnew(lane) {
		code = cmp.Or(lane.Head, lane.Base)
	}
	if one.of.Do != phases.DoIntegrate { // that moves to what comes out of it
		if err := e.Lane.MoveTo(ctx, code, tip, at); err != nil {
			return Work{}, err
		}
	}
	e.Upon, e.From, e.Store = tip, code, saver{w, one}
	e.Open = func(d phases.Decision, b phases.Beginning) (begun metadata.Run, err error) {
		b.Base, b.Ahead = cmp.Or(one.upon.Code, tip), one.upon.Written
		// A review that others do not wait for changes nothing: what follows it may be done
		// where the rest of the phase is.
		b.Beside = d.Do != phases.DoReview || run.Phase(d.Phase).Task != "" || w.Engine.Plan.Parallel
		w.ask(func() { begun, err = w.open(one, d, b) })
		begun.Budget = budget
		return begun, err
	}
	return e.Do(ctx, run, one.of)
}

// open opens the attempt of a worker in the record, and saves that. To make its tree
// ready may have taken long: what people have asked for meanwhile holds.
func (w *writer) open(one *worker, d phases.Decision, b phases.Beginning) (metadata.Run, error) {
	if w.run.Status != metadata.Running || !phases.StillEarly(w.plan(), w.run, one.of, one.upon) {
		return w.run, ErrSteered
	}
	begun := phases.Begin(w.run, d, b)
	if err := metadata.Follow(w.run, begun); err != nil {
		return w.run, err
	}
	if err := w.Engine.Store.Save(begun); err != nil {
		return w.run, err
	}
	w.run, one.n = begun, len(begun.Attempts)
	seen := begun.Clone()
	w.seen.Store(&seen)
	return begun.Clone(), nil
}

// saver keeps what is known of the attempt of a worker while that is at work.
type saver struct {
	w   *writer
	one *worker
}

// Save notes the session and the cost of the attempt.
func (s saver) Save(run metadata.Run) (err error) {
	s.w.ask(func() {
		if n := s.one.n; n > 0 {
			now, seen := &s.w.run.Attempts[n-1], run.Attempts[n-1]
			now.Session, now.Confirmed, now.Usage = seen.Session, seen.Confirmed, seen.Usage
			err = s.w.Engine.Store.Save(s.w.run)
		}
	})
	return err
}
