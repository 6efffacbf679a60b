package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/facts"
	"github.com/reprise-ci/reprise/phases/files"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// rules apply what follows from a step besides the step itself.
type rules struct {
	plan    *pipelines.Pipeline
	issue   prompts.Issue
	matches func(ctx context.Context, when string, facts []byte) (bool, error)
	now     func() time.Time
	dir     string // of the work tree
}

// consequences applies what follows from a step besides the step itself: what
// the report asks for, and the rules of the pipeline. Before is the record that
// the step began with. Nothing here may fail for a reason that the next try
// would meet again: the step is paid for and not yet committed.
func (r rules) consequences(ctx context.Context, before, next metadata.Run, d phases.Decision, x *effects) (metadata.Run, error) {
	was, rec := before.Phase(d.Phase), next.Phase(d.Phase)
	if rec == nil || d.Final() || next.Status != metadata.Running {
		return next, nil
	}
	ctx = context.WithoutCancel(ctx) // rules are quick, and being told to stop must not lose the step
	p, after := r.plan.Phase(d.Phase), next
	if d.Do != phases.DoReview && phases.MayStandUnreviewed(p, rec) {
		after, _ = r.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Skip != "" })
	}
	var back *phases.RollbackPlan
	switch now := after.Phase(d.Phase); {
	case now.Status == was.Status:
	case now.Status == metadata.PhaseCompleted:
		if after, back = phases.ApplyReport(r.plan, after, p, r.now()); back == nil {
			after, back = r.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Skip == "" })
		}
	case now.Status == metadata.PhaseFailed:
		after, back = r.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Rollback != nil })
	}
	// Both changes are one for the record; each has to follow on the other.
	then := after.Clone()
	then.Revision = next.Revision + 1
	if err := metadata.Follow(next, then); err != nil {
		return next, err
	}
	after.Revision = next.Revision
	return after, r.addRollback(x, back)
}

// fire applies, in their order, the rules of one kind after a phase whose
// conditions hold. It ends with the first one that skips the review or takes
// the run back. A rule that cannot be evaluated leaves it to a person to go on
// without it, unless it would only have saved a review.
func (r rules) fire(ctx context.Context, run metadata.Run, phase string, kind func(pipelines.Then) bool) (metadata.Run, *phases.RollbackPlan) {
	for i, rule := range r.plan.Rules {
		if rule.After != phase || !kind(rule.Then) {
			continue
		}
		known, err := facts.After(run, phase, facts.Issue{Labels: r.issue.Labels, Title: r.issue.Title, Author: r.issue.Author})
		holds := false
		if err == nil {
			holds, err = r.matches(ctx, rule.When, known)
		}
		if err != nil {
			run = phases.Unclear(r.plan, run, i, err, r.now())
			continue
		}
		if !holds {
			continue
		}
		var back *phases.RollbackPlan
		run, back = phases.Fire(r.plan, run, i, known, r.now())
		if back != nil || rule.Then.Skip != "" {
			return run, back
		}
	}
	return run, nil
}

// addRollback adds the files that a rollback moves and writes to the commit of
// the step that led to it. A file that reprise wrote for this step is in no
// commit yet, so it is written to its new place at once.
func (r rules) addRollback(x *effects, back *phases.RollbackPlan) error {
	if back == nil {
		return nil
	}
	if x.files == nil {
		x.files = map[string][]byte{}
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was removed is removed
	x.moves = map[string]string{}
	for from, to := range back.Moves {
		x.moves[from] = to
		body, dictated := x.files[from]
		if !dictated {
			continue
		}
		if err := root.Remove(filepath.FromSlash(from)); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a part it lies elsewhere
			return fmt.Errorf("put %s aside: %w", from, err)
		}
		delete(x.files, from)
		x.files[to] = body
	}
	x.files[back.ReasonFile] = files.Reason(*back)
	x.back = &back.Entry
	return nil
}
