package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Part is a part of a phase that is done beside others, in a tree of its own, which is Tree then.
type Part struct {
	Lane Lane
	Upon string                                                            // commit of the run's branch upon which the part is to come
	From string                                                            // commit whose code Lane has
	Open func(d phases.Decision, b phases.Beginning) (metadata.Run, error) // opens the attempt of its decision in the record of the run
}

// Aside gives an engine for a part that is done beside others, in a tree of its own.
func (e *Engine) Aside(lane Lane) *Engine {
	a := *e
	a.Journal = Journal{Plan: e.Plan, Tree: lane, Frozen: e.Frozen, Now: e.Now, LeakGuard: e.LeakGuard}
	a.Lane, a.Lanes, a.Sources, a.Steering = lane, nil, nil, nil
	a.ran.brokenBy = ""
	return &a
}

// Work is what a step of a part came to that was done beside others. It is not in the record of the run yet.
type Work struct {
	Of phases.Decision
	x  effects
}

// Cut is the work of a step that was begun and ended without anything, because of cause. Why says so.
func (e *Engine) Cut(d phases.Decision, cause error, why metadata.Reason) Work {
	o := stopped(cause, why)
	o.At = e.Now()
	return Work{d, effects{outcome: o}}
}

// Do carries out a decision about a part in its lane.
func (e *Engine) Do(ctx context.Context, run metadata.Run, d phases.Decision) (_ Work, err error) {
	var broken []metadata.CheckResult
	if d.Do != phases.DoIntegrate { // which sets up what the parts come to together
		run, broken, err = e.setUp(ctx, run, d)
	}
	if err != nil {
		return Work{}, err
	}
	_, x, err := e.do(ctx, run, d, broken)
	if err != nil || x.Staged == nil {
		return Work{d, x}, err
	}
	m := phases.CommitMessage{Subject: phases.Heading(d)}
	x.outcome.Head, err = e.Lane.Keep(context.WithoutCancel(ctx), x.Staged, e.From, e.Mask(m.Text(run)), x.outcome.At)
	x.Beside, x.Staged = []StagedTree{x.Staged}, nil
	return Work{d, x}, err
}

// Land takes work of parts into the record, in one commit, and returns the record as it
// was last committed. Last says that no other part is at work.
func (e *Engine) Land(ctx context.Context, run metadata.Run, last bool, works ...Work) (metadata.Run, error) {
	return e.land(ctx, run, run, last, works...)
}

// land takes works into a record, in one commit. Before is the record as it was last committed,
// which it returns with an error.
func (e *Engine) land(ctx context.Context, run, before metadata.Run, last bool, works ...Work) (metadata.Run, error) {
	next, all, done := run, effects{BranchCommit: BranchCommit{Files: map[string][]byte{}}}, []effects(nil)
	for _, w := range works {
		d, x, was := w.Of, w.x, next
		if !d.Final() && phases.IsVoid(next.Phase(d.Phase), *phases.AttemptOf(&next, d.Phase)) {
			x = effects{outcome: x.outcome}
		}
		var err error
		if next, err = e.apply(next, d, x.outcome); err == nil {
			x = e.withReview(next, d, x)
			next, err = e.consequences(ctx, was, next, d, &x)
		}
		if err == nil && last && len(works) == 1 {
			next, err = e.stopAfter(ctx, next, d)
		}
		if err != nil {
			return before, fmt.Errorf("%s: %w", phases.Heading(d), err)
		}
		done = append(done, x)
	}
	for i, x := range done {
		d := works[i].Of
		rec := next.Phase(d.Phase)
		if gone := !d.Final() && (rec == nil || rec.Generation != phases.AttemptOf(&next, d.Phase).Generation); gone && x.back == nil {
			x = effects{outcome: x.outcome} // another one of works has made it void
		}
		maps.Copy(all.Files, x.Files)
		all.outcome, all.Staged, all.Moves, all.back, all.Take, all.Gone = x.outcome, x.Staged, x.Moves, x.back, x.Take, x.Gone
		all.Beside = append(all.Beside, x.Beside...)
		if x.outcome.Head != "" {
			all.Parents = append(all.Parents, x.outcome.Head)
		}
	}
	next.Revision = run.Revision + 1
	err := metadata.Follow(run, next)
	if err == nil {
		err = e.record(ctx, next, works[len(works)-1].Of, all)
	}
	var kept *NotPushed
	if err != nil && !errors.As(err, &kept) {
		return before, err
	}
	if kept != nil && works[0].x.outcome.Code == metadata.PushFailed { // the record alone is refused as well
		return before, err
	}
	if kept != nil && kept.Withdraw != nil {
		if again, done, e := e.landRefused(ctx, run, before, last, kept, works); done {
			return again, e
		} else if e != nil {
			err = e
		}
	}
	for i, w := range works {
		shown := next
		if i < len(works)-1 { // that the run stops is said once
			shown.Status, shown.Stop = run.Status, run.Stop
		}
		e.Report.Report(Event{At: e.Now(), Run: shown, Of: w.Of, Done: &w.x.outcome})
	}
	return next, err
}

// landRefused takes calls into a record whose work the remote has refused. Where it refuses the record, too, this is no
// matter of the work: that stays here, to be pushed with the next commit, and done is false.
func (e *Engine) landRefused(ctx context.Context, run, before metadata.Run, last bool, kept *NotPushed, works []Work) (next metadata.Run, done bool, err error) {
	if works = e.withoutWork(works, kept.Rule); works == nil {
		return before, false, nil
	}
	ctx, stop := linger(ctx)
	defer stop()
	again, err := kept.Withdraw(ctx)
	if err != nil {
		return before, true, errors.Join(kept, err)
	}
	next, err = e.land(ctx, run, before, last, works...)
	if errors.As(err, new(*NotPushed)) {
		return before, false, errors.Join(kept, again(ctx))
	}
	return next, true, err
}

// withoutWork gives calls of agents as they are where a remote refuses what they left: that is reverted, and the next
// prompt has the words of the remote. Nil: not all were calls.
func (e *Engine) withoutWork(works []Work, rule string) (all []Work) {
	why := metadata.Because("push_refused", "rule", metadata.Said(phases.LastWords(e.Mask(rule))))
	for _, w := range works {
		o := w.x.outcome
		if !slices.Contains([]phases.Do{phases.DoExecute, phases.DoReview, phases.DoRevise}, w.Of.Do) {
			return nil
		}
		refused := phases.BlockedBy(metadata.PushFailed, why)
		refused.At, refused.Duration, refused.Tip = o.At, o.Duration, o.Tip
		refused.Usage, refused.Model, refused.Session, refused.Warnings = o.Usage, o.Model, o.Session, o.Warnings
		all = append(all, Work{w.Of, effects{outcome: refused}})
	}
	return all
}

// withReview adds what people read of a review.
func (e *Engine) withReview(next metadata.Run, d phases.Decision, x effects) effects {
	if rec := next.Phase(d.Phase); d.Do == phases.DoReview && x.outcome.Status == metadata.Succeeded && x.Files != nil && rec != nil {
		x.Files[path.Join(phases.PhaseFolder(next, e.Plan.Phase(d.Phase)), phases.ReviewFile)] = []byte(phases.WrittenReview(next.Language, rec))
	}
	return x
}

// integrate brings the parts of a phase together.
func (e *Engine) integrate(ctx context.Context, run metadata.Run, d phases.Decision) (effects, error) {
	tip, err := e.Tree.Stage(ctx)
	if err != nil {
		return effects{}, err
	}
	changed, _, err := e.own(ctx, tip, run, e.Plan.Phase(d.Phase), run.Phase(d.Phase))
	return e.writes(run, d, []byte(e.Mask(phases.WrittenParts(run, d.Phase))), changed), err
}

// mostApart is how many paths in conflict are recorded.
const mostApart = 100

// bringTogether merges the work of a part with what was merged since it began, and runs the checks of the part on the
// result: nothing gets to the branch that was not checked as it is there.
func (e *Engine) bringTogether(ctx context.Context, run *metadata.Run, d phases.Decision, lane metadata.Lane) (effects, error) {
	p, at := e.Plan.Phase(d.Phase), e.Now()
	refused := func(path string) bool {
		return pipelines.IsProtected(path, e.Plan.Protect) || metadata.CheckPath(path) != nil
	}
	merged, err := e.Lane.Merge(ctx, lane.Base, e.Upon, lane.Head, at, refused)
	o, n := phases.Outcome{Status: metadata.Succeeded}, len(merged.Paths)
	if err == nil && n == 0 && len(p.Checks) > 0 {
		err = e.Lane.MoveTo(ctx, merged.Commit, e.Upon, at)
		if err == nil {
			_, o.Checks, err = e.setUp(ctx, *run, d) // lock files of the others may have come in
		}
		if err == nil && o.Checks == nil {
			*run, o, err = e.runChecks(ctx, *run, p)
		}
	}
	if err != nil {
		return effects{}, err
	}
	x := effects{BranchCommit: BranchCommit{Files: map[string][]byte{}}}
	switch {
	case o.Status != metadata.Succeeded: // told to stop
	case n > 0 || phases.RulingOf(o.Checks) == metadata.Fail:
		o.Status, o.Code = metadata.Unsuccessful, metadata.Conflicts
		o.Why = metadata.All(metadata.Because("parts_apart", "n", n), phases.WhyChecksFailed(o.Checks))
		o.Conflict = &metadata.Conflict{Parts: phases.IntegratedSince(*run, d.Phase), Paths: merged.Paths[:min(n, mostApart)]}
		if o.Base = e.Upon; lane.Conflict == nil {
			o.Head = merged.Commit
		}
		merged.Versions[phases.BeforeFile], err = e.workBefore(ctx, lane, at)
		for name, data := range merged.Versions {
			x.Files[path.Join(phases.ConflictFolder(*run, p), name)] = data
		}
	default:
		x.Take = merged.Commit
		o.Written = &phases.Written{Files: run.Phase(d.Phase).OutputFiles, Diff: merged.Diff}
	}
	x.outcome = o
	return x, err
}

// workBefore gives the work of a part that could not be brought together with others.
func (e *Engine) workBefore(ctx context.Context, lane metadata.Lane, at time.Time) ([]byte, error) {
	if err := e.Lane.MoveTo(ctx, lane.Head, e.Upon, at); err != nil {
		return nil, err
	}
	diff, _, err := e.Tree.Diff(ctx, lane.Base)
	return []byte(e.Mask(phases.CutText(diff, 64<<10))), err
}
