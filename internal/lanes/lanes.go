// Package lanes does parts of a phase at the same time, each in a tree of its own. One
// goroutine alone writes: it begins the steps of parts, takes what comes of each into the
// record, and commits that. What works in a tree of its own never touches the branch.
package lanes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/reprise-ci/reprise/internal/span"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/phases/lanes"
	"github.com/reprise-ci/reprise/phases/wave"
	"github.com/reprise-ci/reprise/pipelines"
)

// Trees are the work trees of parts.
type Trees interface {
	// Able reports whether there can be any; if not, it has told people why, and that
	// parts are done one after the other.
	Able(ctx context.Context) bool
	// Open gives the engine of a part, which works in a tree of its own, as it was left
	// or made anew at a commit. Several are opened at the same time.
	// Like is a copy of the run's, which goes on meanwhile.
	Open(ctx context.Context, like *engine.Engine, part, commit string) (*engine.Engine, error)
	// Left names the parts that have a tree, also those whose tree another process has left.
	Left() []string
	// Remove removes the tree of a part whose work is on the branch.
	Remove(part string) error
}

// Side does the parts of a run's phases at the same time.
type Side struct {
	Engine *engine.Engine // of the run
	Trees  Trees
	Jobs   int    // most calls at the same time; at least 1
	Only   string // the part that alone is done here, as others do the rest; empty: all are
}

// Run goes on with the parts of a run until nobody is at work on them and none may begin,
// or people or ctx end that; false says that there was nothing to do. It returns the
// record as it was last committed.
func (s *Side) Run(ctx context.Context, run metadata.Run) (metadata.Run, bool, error) {
	if err := s.tidy(ctx, run); err != nil {
		return run, false, err
	}
	if s.Only == "" && !lanes.In(run, s.Jobs) {
		return run, false, nil
	}
	first, ok := s.next(run, nil)
	if !ok || s.Only == "" && !lanes.In(run, 1) && !s.Trees.Able(ctx) {
		return run, false, nil
	}
	switch ready, err := s.Engine.Ready(ctx, run, first); {
	case errors.Is(err, engine.ErrSteered):
		return run, true, nil
	case err != nil && ctx.Err() != nil:
		return run, false, nil // the engine notes that it was told to stop
	case err != nil || ready.Status != metadata.Running:
		return ready, true, err
	default:
		run = ready
	}
	w := &writer{Side: s, run: run, asks: make(chan func()), ended: make(chan *worker, 2*s.Jobs+1)}
	err := w.work(ctx)
	return w.run, true, err
}

// tidy removes trees in which nothing is done any more, such as that of a review which was
// cut off and is done on the branch.
func (s *Side) tidy(ctx context.Context, run metadata.Run) error {
	for _, part := range s.Trees.Left() {
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
func (s *Side) next(run metadata.Run, atWork []phases.Decision) (phases.Decision, bool) {
	if s.Only == "" {
		return lanes.Next(s.plan(), run, atWork, s.Jobs)
	}
	d, ok := wave.Next(s.Engine.Plan, run, s.Only)
	return d, ok && len(atWork) == 0
}

// plan is the pipeline of the run. Who looks at each phase that passed does not want the next
// one to have begun by then.
func (s *Side) plan() *pipelines.Pipeline {
	plan := *s.Engine.Plan
	plan.Speculate = plan.Speculate && !s.Engine.PauseAtGates
	return &plan
}

// upon gives what a step builds on that begins before that is accepted, and the record that
// its agent is to see then; false for all others.
func (s *Side) upon(run metadata.Run, d phases.Decision) (lanes.Early, bool) {
	for _, e := range lanes.Ahead(s.plan(), run) {
		if e.Phase == d.Phase && e.Do == d.Do {
			return e, true
		}
	}
	return lanes.Early{}, false
}

// writer is the one goroutine that touches the record and the branch.
type writer struct {
	*Side
	run    metadata.Run
	seen   atomic.Pointer[metadata.Run] // run, for who looks at it meanwhile
	atWork []*worker
	broken []*worker    // whose steps have come to nothing, for no reason in the work
	asks   chan func()  // what workers have it do to the record
	ended  chan *worker // that are done
}

// worker carries out one step of a part.
type worker struct {
	of   phases.Decision
	upon lanes.Upon     // that is not accepted yet; zero for most
	held lanes.Share    // of the budget
	like *engine.Engine // as that of the run was when it began
	n    int            // number of its attempt; 0: it has not begun
	end  context.CancelCauseFunc
	work engine.Work
	err  error
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
		case errors.Is(cause, engine.ErrSteered) && !errors.Is(cause, engine.ErrCancelled):
			err = w.steer(ctx)
		case cause != nil:
			return errors.Join(w.failure(), w.fold(ctx, cause, one))
		default:
			err = w.land(ctx, one)
		}
		if err != nil {
			return errors.Join(w.failure(), err, w.fold(ctx, err))
		}
		between := w.Only != "" || len(w.atWork) == 0 && w.Engine.Plan.Speculate
		if between && len(w.broken) == 0 {
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
		var held []lanes.Share // of calls: checks at work leave theirs to what follows them
		for _, one := range w.atWork {
			if at = append(at, one.of); one.of.Calls() {
				held = append(held, one.held)
			}
		}
		d, ok := w.next(w.run, at)
		if !ok {
			return nil
		}
		seen, share := w.run, lanes.Share{}
		early, is := w.upon(w.run, d)
		if is {
			seen = early.Seen
		}
		if d.Calls() {
			free := lanes.AtOnce(w.plan(), w.run, w.Jobs) - len(held)
			if seen, share, ok = lanes.ShareOf(seen, held, max(free, 1)); !ok {
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
		e.Report.Report(engine.Event{At: e.Now(), Run: w.run, Decision: &d})
		w.start(ctx, &worker{of: d, upon: early.Upon, held: share}, seen)
	}
	return nil
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
func (w *writer) do(ctx context.Context, one *worker, run metadata.Run, tip string, at time.Time, budget metadata.Budget) (engine.Work, error) {
	ctx = span.Within(ctx, one.of.Phase)
	e, err := w.Trees.Open(ctx, one.like, one.of.Phase, tip)
	if err != nil {
		return engine.Work{}, err
	}
	code := cmp.Or(one.upon.Code, tip)
	if lane := run.Phase(one.of.Phase).Lane; lane != nil {
		code = cmp.Or(lane.Head, lane.Base)
	}
	if one.of.Do != phases.DoIntegrate { // that moves to what comes out of it
		if err := e.Lane.MoveTo(ctx, code, tip, at); err != nil {
			return engine.Work{}, err
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
	work, err := e.Do(ctx, run, one.of)
	if _, gone := os.Lstat(e.Lane.Dir()); err != nil && errors.Is(gone, fs.ErrNotExist) {
		err = fmt.Errorf("its work tree %s is gone, and the next start makes it again: %w", e.Lane.Dir(), err)
	}
	return work, err
}

// ask has the writer do something, and waits for it.
func (w *writer) ask(f func()) {
	done := make(chan struct{})
	w.asks <- func() { f(); close(done) }
	<-done
}

// open opens the attempt of a worker in the record, and saves that. To make its tree
// ready may have taken long: what people have asked for meanwhile holds.
func (w *writer) open(one *worker, d phases.Decision, b phases.Beginning) (metadata.Run, error) {
	due := func(now phases.Decision) bool { return now.Phase == one.of.Phase && now.Do == one.of.Do }
	is := slices.ContainsFunc(phases.Due(w.Engine.Plan, w.run), due)
	if one.upon.Phase != "" {
		early, still := w.upon(w.run, one.of)
		is = still && early.Upon == one.upon
	}
	if w.run.Status != metadata.Running || !is {
		return w.run, engine.ErrSteered
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
	switch ended := errors.Is(one.err, engine.ErrSteered); {
	case one.err != nil && !ended:
		w.broken = append(w.broken, one)
		return nil
	case ended && one.n == 0:
		return nil
	case ended:
		one.work = e.Cut(one.of, one.err)
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

// steer has people's commands carried out beside those at work, and ends the calls that
// are void then.
func (w *writer) steer(ctx context.Context) error {
	next, err := w.Engine.Steer(ctx, w.run)
	if err != nil {
		return err
	}
	w.run = next
	for _, other := range w.atWork {
		if other.n > 0 && phases.IsVoid(next.Phase(other.of.Phase), next.Attempts[other.n-1]) {
			other.end(engine.ErrSteered)
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

// fold ends all workers and takes what they, and one that is done already, have done into
// the record, as one commit.
func (w *writer) fold(ctx context.Context, cause error, done ...*worker) error {
	if !errors.Is(cause, engine.ErrSteered) && !errors.Is(cause, engine.ErrInterrupted) {
		cause = engine.ErrInterrupted
	}
	for _, one := range w.atWork {
		one.end(cause)
	}
	var works []engine.Work
	take := func(one *worker) {
		w.drop(one)
		switch {
		case one.err == nil:
			works = append(works, one.work)
		case one.n > 0:
			works = append(works, w.Engine.Cut(one.of, cause))
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
