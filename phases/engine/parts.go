package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/branch"
	"github.com/reprise-ci/reprise/phases/checking"
	"github.com/reprise-ci/reprise/phases/files"
	"github.com/reprise-ci/reprise/phases/message"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines/protection"
)

// Aside gives an engine for a part that is done beside others, in a tree of its own.
func (e *Engine) Aside(lane branch.Lane) *Engine {
	a := *e
	a.Journal = branch.Journal{Plan: e.Plan, Tree: lane, Frozen: e.Frozen, Now: e.Now, Guard: e.Guard}
	a.Lane, a.Beside, a.Steering = lane, nil, nil
	a.ran.setUpAs, a.ran.brokenBy = "", ""
	return &a
}

// Ready has the setup run in the tree of the run, if it never did so well: one that was
// never good is no fault of a part. The run stops if it fails.
func (e *Engine) Ready(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	if run.Setup != nil && phases.Broken(run.Setup) == nil {
		return run, nil
	}
	next, _, err := e.runner().setUp(ctx, run, d)
	return next, err
}

// Work is what a step of a part came to that was done beside others. It is not in the
// record of the run yet.
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

// Do carries out a decision about a part in its lane. What comes of it lies in commits
// that no branch has, until Land.
func (e *Engine) Do(ctx context.Context, run metadata.Run, d phases.Decision) (Work, error) {
	var broken []metadata.CheckResult
	var err error
	if d.Do != phases.DoIntegrate { // which sets up what the parts come to together
		run, broken, err = e.runner().setUp(ctx, run, d)
	}
	if err != nil {
		return Work{}, err
	}
	_, x, err := e.do(ctx, run, d, broken)
	if err != nil || x.staged == nil {
		return Work{d, x}, err
	}
	m := message.Commit{Subject: message.Heading(d)}
	x.outcome.Head, err = e.Lane.Keep(context.WithoutCancel(ctx), x.staged, e.From, e.Mask(m.Text(run)), x.outcome.At)
	x.beside, x.staged = []branch.Staged{x.staged}, nil
	return Work{d, x}, err
}

// Land takes work of parts into the record, in one commit, and returns the record as it
// was last committed. Last says that no other part is at work.
func (e *Engine) Land(ctx context.Context, run metadata.Run, last bool, works ...Work) (metadata.Run, error) {
	next, all, done := run, effects{files: map[string][]byte{}}, []effects(nil)
	for _, w := range works {
		d, x, before := w.Of, w.x, next
		if phases.IsVoid(next.Phase(d.Phase), *phases.AttemptOf(&next, d.Phase)) {
			x = effects{outcome: x.outcome}
		}
		var err error
		if next, err = e.apply(next, d, x.outcome); err == nil {
			next, err = e.rules().consequences(ctx, before, next, d, &x)
		}
		if err == nil && last && len(works) == 1 {
			next, err = e.stopAfter(ctx, next, d)
		}
		if err != nil {
			return run, fmt.Errorf("%s: %w", message.Heading(d), err)
		}
		done = append(done, x)
	}
	for i, x := range done {
		phase := works[i].Of.Phase
		rec := next.Phase(phase)
		if gone := rec == nil || rec.Generation != phases.AttemptOf(&next, phase).Generation; gone && x.back == nil {
			x = effects{outcome: x.outcome} // another one of works has made it void
		}
		maps.Copy(all.files, x.files)
		all.outcome, all.moves, all.back, all.take = x.outcome, x.moves, x.back, x.take
		all.beside = append(all.beside, x.beside...)
		if x.outcome.Head != "" {
			all.heads = append(all.heads, x.outcome.Head)
		}
	}
	next.Revision = run.Revision + 1
	err := metadata.Follow(run, next)
	if err == nil {
		err = e.record(ctx, next, works[len(works)-1].Of, all)
	}
	var kept *branch.NotPushed
	if err != nil && !errors.As(err, &kept) {
		return run, err
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

// integrate brings the parts of a phase together. Their work is in the tree: what
// is left is an artifact that says what was done where.
func (e *Engine) integrate(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, effects, error) {
	p, start := e.Plan.Phase(d.Phase), e.Now()
	run, err := e.begin(run, d, phases.Beginning{At: start, Base: e.Tree.Tip()})
	if err != nil {
		return run, effects{}, err
	}
	tip, err := e.Tree.Stage(ctx)
	if err != nil {
		return run, effects{}, err
	}
	_, changed, err := comparison{e.Tree}.with(ctx, tip, run, p, run.Phase(d.Phase))
	if err != nil {
		return run, effects{}, err
	}
	text := []byte(e.Mask(files.Parts(run, d.Phase)))
	file := path.Join(phases.PhaseFolder(run, p), p.Writes)
	o := phases.Outcome{
		At: e.Now(), Status: metadata.Succeeded, Written: &phases.Written{Digest: texts.Digest(text), Files: []string{file}, Diff: changed},
	}
	o.End(start, o.At)
	next, err := e.apply(run, d, o)
	return next, effects{outcome: o, files: map[string][]byte{file: text}}, err
}

// mostApart is how many paths in conflict are recorded.
const mostApart = 100

// bringTogether merges the work of a part with what was merged since it began, and runs the
// checks of the part on the result: nothing gets to the branch that was not checked as it
// is there.
func (e *Engine) bringTogether(ctx context.Context, run metadata.Run, d phases.Decision, lane metadata.Lane) (metadata.Run, effects, error) {
	p, start := e.Plan.Phase(d.Phase), e.Now()
	run, err := e.begin(run, d, phases.Beginning{At: start, Base: e.Upon})
	if err != nil {
		return run, effects{}, err
	}
	refused := func(path string) bool {
		return protection.Protected(path, e.Plan.Protect) || metadata.CheckPath(path) != nil
	}
	merged, err := e.Lane.Merge(ctx, lane.Base, e.Upon, lane.Head, start, refused)
	o, n := phases.Outcome{Status: metadata.Succeeded}, len(merged.Paths)
	if err == nil && n == 0 && len(p.Checks) > 0 {
		err = e.Lane.MoveTo(ctx, merged.Commit, e.Upon, start)
		if err == nil {
			_, o.Checks, err = e.runner().setUp(ctx, run, d) // lock files of the others may have come in
		}
		if err == nil && o.Checks == nil {
			run, o, err = e.runner().runChecks(ctx, run, p)
		}
	}
	if err != nil {
		return run, effects{}, err
	}
	x := effects{files: map[string][]byte{}}
	switch {
	case o.Status != metadata.Succeeded: // told to stop
	case n > 0 || checking.RulingOf(o.Checks) == metadata.Fail:
		o.Status, o.Code = metadata.Unsuccessful, metadata.Conflicts
		o.Why = metadata.All(metadata.Because("parts_apart", "n", n), checking.WhyFailed(o.Checks))
		o.Conflict = &metadata.Conflict{Parts: phases.IntegratedSince(run, d.Phase), Paths: merged.Paths[:min(n, mostApart)]}
		if o.Base = e.Upon; lane.Conflict == nil {
			o.Head = merged.Commit
		}
		merged.Versions[phases.BeforeFile], err = e.workBefore(ctx, lane, start)
		for name, data := range merged.Versions {
			x.files[path.Join(phases.ConflictFolder(run, p), name)] = data
		}
	default:
		x.take = merged.Commit
		o.Written = &phases.Written{Files: run.Phase(d.Phase).OutputFiles, Diff: merged.Diff}
	}
	o.End(start, e.Now())
	x.outcome = o
	return run, x, err
}

// workBefore gives the work of a part that could not be brought together with others.
func (e *Engine) workBefore(ctx context.Context, lane metadata.Lane, at time.Time) ([]byte, error) {
	if err := e.Lane.MoveTo(ctx, lane.Head, e.Upon, at); err != nil {
		return nil, err
	}
	diff, _, err := e.Tree.Diff(ctx, lane.Base)
	return []byte(e.Mask(texts.Cut(diff, 64<<10))), err
}
