package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/budget"
	"github.com/reprise-ci/reprise/phases/daily"
	"github.com/reprise-ci/reprise/phases/facts"
	"github.com/reprise-ci/reprise/phases/files"
	"github.com/reprise-ci/reprise/phases/leaving"
	"github.com/reprise-ci/reprise/phases/reply"
	"github.com/reprise-ci/reprise/phases/scope"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/skipping"
)

// consequences applies what follows from a step besides the step itself: what
// the report asks for, and the rules of the pipeline. Before is the record that
// the step began with. Nothing here may fail for a reason that the next try
// would meet again: the step is paid for and not yet committed.
func (e *Engine) consequences(ctx context.Context, before, next metadata.Run, d phases.Decision, x *effects) (metadata.Run, error) {
	was, rec := before.Phase(d.Phase), next.Phase(d.Phase)
	if rec == nil || d.Final() || next.Status != metadata.Running {
		return next, nil
	}
	ctx = context.WithoutCancel(ctx) // rules are quick, and being told to stop must not lose the step
	p, after := e.Plan.Phase(d.Phase), next
	if d.Do != phases.DoReview && phases.MayStandUnreviewed(p, rec) {
		after, _ = e.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Skip != "" })
	}
	var back *phases.RollbackPlan
	switch now := after.Phase(d.Phase); {
	case now.Status == was.Status:
	case now.Status == metadata.PhaseCompleted:
		if after, back = phases.ApplyReport(e.Plan, after, p, e.Now()); back == nil {
			after, back = e.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Skip == "" })
		}
	case now.Status == metadata.PhaseFailed:
		after, back = e.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Rollback != nil })
	}
	// Both changes are one for the record; each has to follow on the other.
	then := after.Clone()
	then.Revision = next.Revision + 1
	if err := metadata.Follow(next, then); err != nil {
		return next, err
	}
	after.Revision = next.Revision
	return after, e.addRollback(x, back)
}

// fire applies, in their order, the rules of one kind after a phase whose
// conditions hold. It ends with the first one that skips the review or takes
// the run back. A rule that cannot be evaluated leaves it to a person to go on
// without it, unless it would only have saved a review.
func (e *Engine) fire(ctx context.Context, run metadata.Run, phase string, kind func(pipelines.Then) bool) (metadata.Run, *phases.RollbackPlan) {
	for i, r := range e.Plan.Rules {
		if r.After != phase || !kind(r.Then) {
			continue
		}
		known, err := facts.After(run, phase, facts.Issue{Labels: e.Issue.Labels, Title: e.Issue.Title, Author: e.Issue.Author})
		holds := false
		if err == nil {
			holds, err = e.Matches(ctx, r.When, known)
		}
		if err != nil {
			run = phases.Unclear(e.Plan, run, i, err, e.Now())
			continue
		}
		if !holds {
			continue
		}
		var back *phases.RollbackPlan
		run, back = phases.Fire(e.Plan, run, i, known, e.Now())
		if back != nil || r.Then.Skip != "" {
			return run, back
		}
	}
	return run, nil
}

// addRollback adds the files that a rollback moves and writes to the commit of
// the step that led to it. A file that reprise wrote for this step is in no
// commit yet, so it is written to its new place at once.
func (e *Engine) addRollback(x *effects, back *phases.RollbackPlan) error {
	if back == nil {
		return nil
	}
	if x.files == nil {
		x.files = map[string][]byte{}
	}
	root, err := os.OpenRoot(e.Tree.Dir())
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

// beforehand does what comes before a decision is carried out: it may stop the run because
// of what was spent today, or leave a phase out. It returns the record as it was last
// committed.
func (e *Engine) beforehand(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	b := e.Plan.Budget
	if !d.Calls() || b.DayUSD+b.RepoDayUSD == 0 {
		return e.leaveOut(ctx, run, d)
	}
	var others []daily.Spent
	var why metadata.Reason
	var err error
	if e.Spent != nil {
		if others, err = e.Spent(ctx, run); err != nil {
			return run, fmt.Errorf("what was spent today: %w", err)
		}
	}
	if e.today, why = daily.Remaining(b, run, others, e.Now()); why != "" {
		return e.carryOut(ctx, run, phases.Decision{Do: phases.DoWait, Phase: d.Phase, Code: metadata.DayBudget, Why: why})
	}
	return e.leaveOut(ctx, run, d)
}

// remaining gives what one more call may cost; 0: there is no limit.
func (e *Engine) remaining(run metadata.Run) float64 {
	usd := budget.RemainingUSD(run)
	if e.today > 0 && (usd == 0 || e.today < usd) {
		return e.today
	}
	return usd
}

// leaveOut asks what skip_if of the phase says that a decision is about, if it has not
// begun, and returns the record as it was last committed. A condition that cannot be
// decided stops the run, and a command that says neither yes nor no is told: neither
// leaves the phase out.
func (e *Engine) leaveOut(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	phase, asked := leaving.Due(e.Plan, run, d)
	if asked == nil {
		return run, nil
	}
	now := fmt.Sprintf("%s %d %d", phase, run.Phase(phase).Generation, len(run.RollbackHistory))
	if e.asked == now {
		return run, nil
	}
	holds, why, err := e.holds(ctx, run, phase, *asked)
	if ctx.Err() != nil {
		return run, nil // it is asked again when the run goes on
	}
	if err != nil {
		return run, fmt.Errorf("%s: skip_if: %w", phase, err)
	}
	e.asked = now
	if why.Code() == "skip_if_unclear" {
		e.asked = ""
		return e.carryOut(ctx, run, phases.Decision{Do: phases.DoWait, Phase: phase, Code: metadata.ConfigInvalid, Why: why})
	}
	next, what := leaving.Answered(run, phase, holds, why, e.Now())
	if what == "" {
		return run, nil
	}
	if err = metadata.Follow(run, next); err == nil {
		err = e.Amend(ctx, next, phase+": "+what)
	}
	if err != nil {
		return run, err
	}
	e.Report.Report(Event{At: e.Now(), Run: next})
	return next, nil
}

// holds says whether a condition of skip_if holds, and why, or why that cannot be said.
func (e *Engine) holds(ctx context.Context, run metadata.Run, phase string, asked skipping.If) (bool, metadata.Reason, error) {
	if asked.Run != "" {
		return e.commandHolds(ctx, asked)
	}
	unclear := func(err error) (bool, metadata.Reason, error) {
		return false, metadata.Because("skip_if_unclear", "at", "phases."+phase+".skip_if.when", "error", e.Mask(texts.Line(err.Error()))), nil
	}
	patch, stat, err := e.Tree.Diff(ctx, run.BaseCommit)
	if err != nil {
		return false, "", err
	}
	changed, named := scope.Changed(patch)
	slices.Sort(changed)
	if named != stat.Files {
		return unclear(fmt.Errorf("%d files are changed, and only %d of them can be named", stat.Files, named))
	}
	known, err := facts.Before(run, phase, facts.Issue{Labels: e.Issue.Labels, Title: e.Issue.Title, Author: e.Issue.Author}, changed)
	if err != nil {
		return unclear(err)
	}
	holds, err := e.Matches(ctx, asked.When, known)
	if err != nil {
		return unclear(err)
	}
	if !holds {
		return false, "", nil
	}
	return true, metadata.Because("skip_if_holds", "facts", facts.About(asked.When, known)), nil
}

// commandHolds runs the command of a condition on what the branch has.
func (e *Engine) commandHolds(ctx context.Context, asked skipping.If) (bool, metadata.Reason, error) {
	ctx, done := e.attend(ctx)
	defer done()
	if err := e.Tree.Prepare(ctx); err != nil {
		return false, "", err
	}
	back, err := e.Tree.SetAside(ctx, nil)
	if err != nil {
		return false, "", err
	}
	r, err := e.Checker.Check(ctx, e.Tree.Dir(), pipelines.Check{
		Name: leaving.Step, Run: asked.Run, Env: asked.Env, Timeout: cmp.Or(asked.Timeout, pipelines.Duration(time.Minute)), Network: pipelines.Network{Closed: true},
	})
	// What it has written is nobody's work.
	err = errors.Join(err, back(), e.Tree.Restore(context.WithoutCancel(ctx)))
	switch {
	case ctx.Err() != nil:
		return false, "", context.Cause(ctx)
	case err != nil:
		return false, "", err
	case r.Pass:
		return true, metadata.Because("skip_if_passed", "run", metadata.Said(texts.Cut(asked.Run, 200))), nil
	case r.ExitCode == 1:
		return false, "", nil
	}
	return false, metadata.Because("skip_if_broken", "run", metadata.Said(texts.Cut(asked.Run, 200)), "code", r.ExitCode, "end", metadata.Said(e.Mask(texts.Cut(reply.LastWords(r.Output), 500)))), nil
}
