package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// laneTrees are the work trees of parts.
type laneTrees interface {
	// Available reports whether there can be any; if not, it has told people why.
	Available(ctx context.Context) bool
	// Open gives the engine of a part, in a tree of its own, as it was left or made anew at a commit. Several are opened at
	// the same time. Like is a copy of the run's.
	Open(ctx context.Context, like *Engine, part, commit string) (*Engine, error)
	// Existing names the parts that have a tree, also those whose tree another process has left.
	Existing() []string
	// Remove removes the tree of a part whose work is on the branch.
	Remove(part string) error
}

// LaneSide does the parts of a run's phases at the same time.
type LaneSide struct {
	Engine *Engine // of the run
	Trees  laneTrees
	Jobs   int    // most calls at the same time; at least 1
	Only   string // the part that alone is done here, as others do the rest; empty: all are
	// Leave, if not nil, gives the error by which a run ends whose parts other machines are to do.
	Leave func(parts []string) error
}

// due gives what goes on with the parts of a run until nobody is at work on them and none may begin, or people or ctx end
// that; nil: there is nothing to do.
func (s *LaneSide) due(ctx context.Context, run metadata.Run) (Take, error) {
	if parts := phases.PartsOfWave(phases.On(s.Engine.Plan, run)); s.Leave != nil && parts != nil {
		return nil, s.Leave(parts)
	}
	if err := s.removeIdle(ctx, run); err != nil {
		return nil, err
	}
	if s.Only == "" && !phases.InLanes(run, s.Jobs) {
		return nil, nil
	}
	first, ok := s.next(run, nil)
	if !ok || s.Only == "" && !phases.InLanes(run, 1) && !s.Trees.Available(ctx) {
		return nil, nil
	}
	return func() (metadata.Run, error) { return s.run(ctx, run, first) }, nil
}

// run does them, and returns the record as it was last committed.
func (s *LaneSide) run(ctx context.Context, run metadata.Run, first phases.Decision) (metadata.Run, error) {
	// A setup that was never good is no fault of a part, so it runs in the tree of the run. The run stops if it fails.
	ready, err := run, error(nil)
	if run.Setup == nil || phases.Broken(run.Setup) != nil {
		ready, _, err = s.Engine.setUp(ctx, run, first)
	}
	switch {
	case errors.Is(err, ErrSteered), err != nil && ctx.Err() != nil: // the engine notes that it was told to stop
		return run, nil
	case err != nil || ready.Status != metadata.Running:
		return ready, err
	}
	w := &writer{LaneSide: s, run: ready, asks: make(chan func()), ended: make(chan *worker, 2*s.Jobs+1)}
	err = w.work(ctx)
	return w.run, err
}

// removeIdle removes trees in which nothing is done any more, such as that of a part whose work
// was on the branch when the program was killed.
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
		return phases.NextForLane(phases.On(s.Engine.Plan, run), atWork, s.Jobs)
	}
	d, ok := phases.NextForPart(phases.On(s.Engine.Plan, run), s.Only)
	return d, ok && len(atWork) == 0
}

// worker carries out one step of a part.
type worker struct {
	of   phases.Decision
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
	e, err := w.Trees.Open(ctx, one.like, one.of.Phase, tip)
	if err != nil {
		return Work{}, err
	}
	code := tip
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
		b.Base, b.Beside = tip, true
		w.ask(func() { begun, err = w.open(one, d, b) })
		begun.Budget = budget
		return begun, err
	}
	return e.doPart(ctx, run, one.of)
}

// open opens the attempt of a worker in the record, and saves that.
func (w *writer) open(one *worker, d phases.Decision, b phases.Beginning) (metadata.Run, error) {
	due := func(now phases.Decision) bool { return now.Phase == one.of.Phase && now.Do == one.of.Do }
	if w.run.Status != metadata.Running || !slices.ContainsFunc(phases.Due(phases.On(w.Engine.Plan, w.run)), due) {
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
		if against, err := e.policy(ctx, w.run, d); err != nil || against != nil {
			return err // the run stops once those at work are over
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
	attended, done := w.Engine.attendTo(ctx, func() metadata.Run { return *w.seen.Load() })
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
		one.work = e.cut(one.of, one.err, metadata.Because("told_to_stop"))
	}
	next, err := e.land(ctx, w.run, w.run, len(w.atWork) == 0, one.work)
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
			works = append(works, w.Engine.cut(one.of, ErrInterrupted, metadata.Because("step_broken")))
		case one.n > 0:
			works = append(works, w.Engine.cut(one.of, cause, metadata.Because("told_to_stop")))
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
	next, err := w.Engine.land(ctx, w.run, w.run, true, works...)
	w.run = next
	return err
}
