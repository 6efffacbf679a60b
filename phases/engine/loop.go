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

// Run goes on with a run until it is completed, a person is needed, or ctx is cancelled. It returns the record as it
// was last committed; the error is nil when the record says how the run ended.
func (e *Engine) Run(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	w := &recorder{Engine: e, run: run, committed: run, asks: make(chan func()), ended: make(chan *worker)}
	err := w.work(ctx)
	err = errors.Join(err, w.fold(ctx, err, nil))
	return w.committed, err
}

// recorder is the one goroutine that touches the record and the branch of a run.
type recorder struct {
	*Engine
	run       metadata.Run                 // with what workers have begun
	committed metadata.Run                 // as it was last committed
	seen      atomic.Pointer[metadata.Run] // run, for who looks at it meanwhile
	atWork    []*worker
	broken    []*worker    // whose steps have come to nothing, for no reason in the work
	asks      chan func()  // what workers have it do to the record
	ended     chan *worker // that are done
}

// work goes on with the run: it begins what may begin, listens to workers and people until one of them has something,
// and lands what is done. Once a part cannot be carried out, such as in a tree that somebody has removed, nothing more
// begins; what others have done by their end is not lost.
func (w *recorder) work(ctx context.Context) error {
	for {
		if err := w.begin(ctx); err != nil || len(w.atWork) == 0 {
			return err
		}
		one, cause := w.await(ctx)
		var err error
		switch {
		case one == nil && errors.Is(cause, ErrSteered) && !errors.Is(cause, ErrCancelled): // others go on beside that
			err = w.steer(ctx)
		case cause != nil:
			if err = w.fold(ctx, cause, one); err == nil {
				err = w.steer(ctx)
			}
		default:
			err = w.take(ctx, one)
		}
		if err != nil {
			return err
		}
	}
}

// begin begins all that may begin now.
func (w *recorder) begin(ctx context.Context) error {
	err := w.removeIdle(ctx)
	for more := true; err == nil && more && len(w.broken) == 0 && w.run.Status == metadata.Running; {
		more, err = w.beginOne(ctx)
	}
	return err
}

// beginOne takes what a source has or, if none has anything, begins a step. More says that something else may begin then.
func (w *recorder) beginOne(ctx context.Context) (more bool, err error) {
	d, beside := w.nextBeside(ctx)
	alone := len(w.atWork) == 0
	var sources []Source
	switch {
	case beside && !alone: // the rest is asked once nobody is at work
		sources = []Source{w.policy, w.condition}
	case beside:
		sources = []Source{w.policy, w.money, w.condition, w.leave}
	case alone:
		d = phases.Decide(phases.On(w.Plan, w.run))
		sources = slices.Concat([]Source{w.policy, w.money, w.condition, w.leave, w.end}, w.Sources, []Source{w.final})
	default:
		return false, nil
	}
	before := ctx.Err()
	take, err := first(ctx, sources, w.run, d)
	switch {
	case err != nil && before == nil && ctx.Err() != nil: // that has cut it off: the run ends, or its parts do
		return alone, nil
	case err != nil || take != nil && !alone:
		return false, err // it comes once those at work are over
	}
	if take == nil {
		return w.start(ctx, &worker{step: step{of: d}, w: w, beside: beside})
	}
	run, err := take()
	if w.committedAs(run); err == nil {
		err = w.steer(ctx)
	}
	return true, err
}

// start has a worker begin its step, unless something comes before that.
func (w *recorder) start(ctx context.Context, one *worker) (more bool, err error) {
	d := &one.of
	if one.budget = w.run.Budget; one.beside && d.Calls() {
		held := w.held()
		seen, share, enough := phases.ShareOf(w.run, held, max(w.Lanes.Jobs-len(held), 1))
		if !enough {
			return false, nil // until others are over
		}
		one.budget, one.held = seen.Budget, share
	}
	broken, ready, err := w.makeReady(ctx, one)
	if err != nil {
		return false, err
	}
	if !ready {
		return true, w.steer(ctx)
	}
	if d.Resume <= w.Elsewhere {
		d.Resume = 0
	}
	if text, err := w.document(ctx, w.run, *d); err == nil && text != nil { // an error comes again when it is taken
		d.Agent, d.Why = metadata.Given, metadata.Because("document_given", "file", w.run.ExternalDocuments[d.Phase])
	}
	run, err := w.announce(ctx, w.run, *d)
	if err != nil {
		return false, err
	}
	w.committedAs(run)
	w.send(ctx, one, broken)
	return one.beside, nil
}

// makeReady makes the tree of the run ready for a step that is done there. So it does for a part if the setup was never
// good: that is no fault of a part, and the run stops if it fails. Ready is false if people, or the end of the run, come
// before the step. Broken is how the setup ended, if the work breaks it.
func (w *recorder) makeReady(ctx context.Context, one *worker) (broken []metadata.CheckResult, ready bool, err error) {
	if never := w.run.Setup == nil || phases.Broken(w.run.Setup) != nil; one.beside && !(never && len(w.atWork) == 0) {
		return nil, true, nil
	}
	run, err := w.Renew(ctx, w.run)
	if err != nil {
		return nil, false, err
	}
	w.committedAs(run)
	attended, done := w.attend(ctx, w.now)
	defer done()
	run, broken, err = w.setUp(attended, w.run, one.of)
	if err == nil && !one.beside && run.Status == metadata.Running {
		run, err = w.baseline(attended, run, one.of)
	}
	w.committedAs(run)
	if err != nil && attended.Err() != nil {
		return nil, false, nil
	}
	return broken, w.run.Status == metadata.Running, err
}

// committedAs notes a record that was committed.
func (w *recorder) committedAs(run metadata.Run) {
	w.committed = run
	w.becomes(run)
}

// becomes notes a record, committed or not yet.
func (w *recorder) becomes(run metadata.Run) {
	seen := run.Clone()
	w.run = run
	w.seen.Store(&seen)
}

// now gives the record to who looks at it from another goroutine.
func (w *recorder) now() metadata.Run { return *w.seen.Load() }

// await does what workers ask for until one of them is done. If ctx or people end all
// work it gives the cause, and perhaps none.
func (w *recorder) await(ctx context.Context) (*worker, error) {
	attended, done := w.attend(ctx, w.now)
	defer done()
	if one := w.atWork[0]; !one.beside {
		one.do(attended)
		w.run.Baseline = append(slices.Clip(w.run.Baseline), one.x.before...)
		return one, context.Cause(attended)
	}
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

// take takes what a worker has done into the record, and what people have asked for.
func (w *recorder) take(ctx context.Context, one *worker) error {
	w.drop(one)
	switch {
	case one.err == nil || errors.Is(one.err, ErrSteered):
	case !one.beside:
		return about(one.of, one.err)
	default:
		w.broken = append(w.broken, one)
		return nil
	}
	if err := w.land(ctx, w.cameTo(one, one.err)...); err != nil {
		return err
	}
	return w.steer(ctx)
}

// cameTo gives what a worker has done, or that it was begun and came to nothing, because of cause.
func (w *recorder) cameTo(one *worker, cause error) []step {
	switch {
	case one.err == nil:
		return []step{one.step}
	case one.n == 0:
		return nil
	}
	o := stopped(cause, metadata.Because("told_to_stop"))
	if slices.Contains(w.broken, one) {
		o = stopped(ErrInterrupted, metadata.Because("step_broken"))
	}
	o.At = w.Now()
	return []step{{one.of, effects{outcome: o}}}
}

// land takes steps into the record, as one commit.
func (w *recorder) land(ctx context.Context, steps ...step) error {
	if len(steps) == 0 {
		return nil
	}
	next, err := w.Engine.land(ctx, w.run, len(w.atWork) == 0, steps...)
	if next.Revision != w.run.Revision { // it is committed
		w.committedAs(next)
	}
	return err
}

// steer has people's commands carried out, and ends the steps that are void then.
func (w *recorder) steer(ctx context.Context) error {
	if w.Steering == nil || ctx.Err() != nil {
		return nil
	}
	next, err := w.Steering.Steer(ctx, w.run)
	w.committedAs(next)
	for _, other := range w.atWork {
		if err == nil && other.n > 0 && phases.IsVoid(next.Phase(other.of.Phase), next.Attempts[other.n-1]) {
			other.end(ErrSteered)
		}
	}
	return err
}

// fold ends all workers and takes what they, and one that is done already, have done into the record, as one commit. Its
// error also says which steps could not be carried out.
func (w *recorder) fold(ctx context.Context, cause error, done *worker) error {
	if !errors.Is(cause, ErrSteered) && !errors.Is(cause, ErrInterrupted) {
		cause = ErrInterrupted
	}
	var steps []step
	take := func(one *worker) {
		w.drop(one)
		steps = append(steps, w.cameTo(one, cause)...)
	}
	if done != nil {
		take(done)
	}
	var failed error
	for _, one := range w.broken {
		take(one)
		failed = errors.Join(failed, about(one.of, one.err))
	}
	for _, one := range w.atWork {
		one.end(cause)
	}
	for len(w.atWork) > 0 {
		select {
		case f := <-w.asks:
			f()
		case one := <-w.ended:
			take(one)
		}
	}
	w.broken = nil
	return errors.Join(failed, w.land(ctx, steps...))
}

// about says of which step an error is.
func about(d phases.Decision, err error) error { return fmt.Errorf("%s: %w", phases.Heading(d), err) }
