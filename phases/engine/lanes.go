package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Lanes are how parts of a run's phases are done at the same time.
type Lanes struct {
	Trees laneTrees
	Jobs  int    // most calls at the same time; at least 1
	Only  string // the part that alone is done here, as others do the rest; empty: all are
	// Leave, if not nil, gives the error by which a run ends whose parts other machines are to do.
	Leave func(parts []string) error
}

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

// part is a part of a phase that is done beside others, in a tree of its own, which is Tree then.
type part struct {
	Lane lane
	Upon string // commit of the run's branch upon which the part is to come
}

// worker carries out one step: in the tree of the run, while nobody else is at work, or as a part in a tree of its own.
type worker struct {
	step
	w      *recorder
	beside bool               // it is a part in a tree of its own
	budget metadata.Budget    // as its call is to see it
	held   phases.BudgetShare // of the budget
	n      int                // number of its attempt; 0: it has not begun
	do     func(ctx context.Context)
	end    context.CancelCauseFunc // of a part
	err    error
}

// send has a worker carry out its step: a part begins now, any other when it is awaited.
func (w *recorder) send(ctx context.Context, one *worker, broken []metadata.CheckResult) {
	e, run, tip := *w.Engine, w.run.Clone(), w.Tree.Tip()
	run.Budget = one.budget
	e.Store = one
	e.open = func(d phases.Decision, b phases.Beginning) (begun metadata.Run, err error) {
		b.Base, b.Beside = tip, one.beside
		one.ask(func() { begun, err = w.open(one, d, b) })
		begun.Budget = one.budget
		return begun, err
	}
	w.atWork = append(w.atWork, one)
	if !one.beside {
		one.do = func(ctx context.Context) { one.x, one.err = e.do(ctx, run, one.of, broken) }
		return
	}
	ctx, one.end = context.WithCancelCause(ctx)
	go func() {
		one.x, one.err = w.Lanes.do(ctx, &e, run, one.of, tip)
		w.ended <- one
	}()
}

// do carries out a step of a part in its tree, upon a commit of the branch.
func (l *Lanes) do(ctx context.Context, like *Engine, run metadata.Run, d phases.Decision, tip string) (x effects, err error) {
	e, err := l.Trees.Open(ctx, like, d.Phase, tip)
	if err != nil {
		return effects{}, err
	}
	e.Store, e.open, e.Upon = like.Store, like.open, tip
	from := tip // whose code the part goes on from
	if lane := run.Phase(d.Phase).Lane; lane != nil && !phases.IsAnew(lane) {
		from = cmp.Or(lane.Head, lane.Base)
	}
	var broken []metadata.CheckResult
	if d.Do != phases.DoIntegrate { // that moves to what comes out of it, and sets that up
		if err = e.Lane.MoveTo(ctx, from, tip, e.Now()); err == nil {
			run, broken, err = e.setUp(ctx, run, d)
		}
	}
	if err == nil {
		x, err = e.do(ctx, run, d, broken)
	}
	if err != nil || x.Staged == nil {
		return x, err
	}
	m := phases.CommitMessage{Subject: phases.Heading(d)}
	x.outcome.Head, err = e.Lane.Keep(context.WithoutCancel(ctx), x.Staged, from, e.Mask(m.Text(run)), x.outcome.At)
	x.Beside, x.Staged = []StagedTree{x.Staged}, nil
	return x, err
}

// open opens the attempt of a worker in the record, and saves that.
func (w *recorder) open(one *worker, d phases.Decision, b phases.Beginning) (metadata.Run, error) {
	due := func(now phases.Decision) bool { return now.Phase == d.Phase && now.Do == d.Do }
	if w.run.Status != metadata.Running || !slices.ContainsFunc(phases.Due(phases.On(w.Plan, w.run)), due) {
		return w.run, ErrSteered
	}
	begun := phases.Begin(w.run, d, b)
	err := metadata.Follow(w.run, begun)
	if err == nil {
		err = w.Store.Save(begun)
	}
	if err != nil {
		return w.run, err
	}
	w.becomes(begun)
	one.n = len(begun.Attempts)
	return begun.Clone(), nil
}

// Save notes the session and the cost of the attempt.
func (one *worker) Save(run metadata.Run) (err error) {
	one.ask(func() {
		if one.n > 0 {
			now, seen := &one.w.run.Attempts[one.n-1], run.Attempts[one.n-1]
			now.Session, now.Confirmed, now.Usage = seen.Session, seen.Confirmed, seen.Usage
			err = one.w.Store.Save(one.w.run)
		}
	})
	return err
}

// ask has the writer do something, and waits for it.
func (one *worker) ask(f func()) {
	if !one.beside { // it is the same goroutine
		f()
		return
	}
	done := make(chan struct{})
	one.w.asks <- func() { f(); close(done) }
	<-done
}

// drop notes that a worker is done.
func (w *recorder) drop(one *worker) {
	w.atWork = slices.DeleteFunc(w.atWork, func(other *worker) bool { return other == one })
}

// held gives what calls at work may spend: checks leave theirs to what follows them.
func (w *recorder) held() (all []phases.BudgetShare) {
	for _, one := range w.atWork {
		if one.of.Calls() {
			all = append(all, one.held)
		}
	}
	return all
}

// nextBeside gives a step of a part that may begin beside those at work.
func (w *recorder) nextBeside(ctx context.Context) (d phases.Decision, ok bool) {
	l, c := w.Lanes, phases.On(w.Plan, w.run)
	switch {
	case l == nil || ctx.Err() != nil:
		return d, false
	case l.Only != "":
		d, ok = phases.NextForPart(c, l.Only)
		return d, ok && len(w.atWork) == 0
	case !phases.InLanes(w.run, l.Jobs):
		return d, false
	}
	var at []phases.Decision
	for _, one := range w.atWork {
		at = append(at, one.of)
	}
	d, ok = phases.NextForLane(c, at, l.Jobs)
	return d, ok && (phases.InLanes(w.run, 1) || l.Trees.Available(ctx))
}

// removeIdle removes trees in which nothing is done any more: the work is on the branch, or a program was killed.
func (w *recorder) removeIdle(ctx context.Context) error {
	if w.Lanes == nil || w.Lanes.Only != "" || ctx.Err() != nil {
		return nil
	}
	for _, part := range w.Lanes.Trees.Existing() {
		rec := w.run.Phase(part)
		if rec != nil && rec.Lane != nil || slices.ContainsFunc(w.atWork, func(one *worker) bool { return one.of.Phase == part }) {
			continue
		}
		like := *w.Engine
		// To open it removes what programs have left elsewhere, too.
		if _, err := w.Lanes.Trees.Open(ctx, &like, part, w.Tree.Tip()); err != nil {
			return err
		}
		if err := w.Lanes.Trees.Remove(part); err != nil {
			return err
		}
	}
	return nil
}
