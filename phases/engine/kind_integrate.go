package engine

import (
	"context"
	"path"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

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
func (e *Engine) bringTogether(ctx context.Context, run metadata.Run, d phases.Decision, lane metadata.Lane) (effects, error) {
	p, at := e.Plan.Phase(d.Phase), e.Now()
	refused := func(path string) bool {
		return pipelines.IsProtected(path, e.Plan.Protect) || metadata.CheckPath(path) != nil
	}
	merged, err := e.Lane.Merge(ctx, lane.Base, e.Upon, lane.Head, at, refused)
	o, n := phases.Outcome{Status: metadata.Succeeded}, len(merged.Paths)
	if err == nil && n == 0 && len(p.Checks) > 0 {
		err = e.Lane.MoveTo(ctx, merged.Commit, e.Upon, at)
		if err == nil {
			_, o.Checks, err = e.setUp(ctx, run, d) // lock files of the others may have come in
		}
		if err == nil && o.Checks == nil {
			o, _, err = e.runChecks(ctx, run, p)
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
		o.Conflict = &metadata.Conflict{Parts: phases.IntegratedSince(run, d.Phase), Paths: merged.Paths[:min(n, mostApart)]}
		if o.Base = e.Upon; lane.Conflict == nil {
			o.Head = merged.Commit
		}
		merged.Versions[phases.BeforeFile], err = e.workBefore(ctx, lane, at)
		for name, data := range merged.Versions {
			x.Files[path.Join(phases.ConflictFolder(run, p), name)] = data
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
