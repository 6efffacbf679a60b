package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Conditions ask CUE.
type Conditions struct {
	// CheckReport holds a structured answer against the phase's report; its error says all that is wrong.
	CheckReport func(ctx context.Context, report string, value []byte) error
	// Matches says whether a rule's condition holds for facts; needed if the plan has rules.
	Matches func(ctx context.Context, when string, facts []byte) (bool, error)
	// Policy says what the policies demand of a plan that it does not have; nil: there are none.
	Policy func(ctx context.Context, plan *pipelines.Pipeline) error
	// Invented says whether nobody meant a report, as in a rehearsal: no rule goes by it. Nil: all are meant.
	Invented func(agent, phase string) bool
}

// consequences applies what the report of a step asks for, and the rules of the pipeline. Before is the record that the
// step began with. Nothing may fail for a reason that the next try would meet again: the step is paid for.
func (e *Engine) consequences(ctx context.Context, before, next metadata.Run, d phases.Decision, x *effects) (metadata.Run, error) {
	was, rec := before.Phase(d.Phase), next.Phase(d.Phase)
	if rec == nil || d.Final() || next.Status != metadata.Running {
		return next, nil
	}
	ctx = context.WithoutCancel(ctx) // rules are quick, and being told to stop must not lose the step
	p, after := e.Plan.Phase(d.Phase), next
	if err := e.takeBack(ctx, phases.TookBack(was, rec), was, x); err != nil {
		return next, err
	}
	if d.Do != phases.DoReview && phases.MayStandUnreviewed(p, rec) {
		after, _ = e.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Skip != "" })
	}
	var back *phases.RollbackPlan
	switch now := after.Phase(d.Phase); {
	case now.Status == was.Status:
	case now.Status == metadata.PhaseCompleted:
		if after, back = phases.ApplyReport(phases.On(e.Plan, after), p, e.Now()); back == nil {
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

// takeBack adds the best work of a phase to the commit of the step that took it back to that: code and artifacts.
func (e *Engine) takeBack(ctx context.Context, best *metadata.Best, was *metadata.Phase, x *effects) error {
	if best == nil {
		return nil
	}
	x.Take = best.Commit
	if x.Files == nil {
		x.Files = map[string][]byte{}
	}
	for _, name := range slices.Concat(best.OutputFiles, was.OutputFiles) {
		switch data, err := e.Tree.ReadFile(ctx, best.Commit, name); {
		case errors.Is(err, fs.ErrNotExist):
			x.Gone = append(x.Gone, name)
		case err != nil:
			return err
		default:
			x.Files[name] = data
		}
	}
	return nil
}

// fire applies the rules of one kind after a phase whose conditions hold, up to the first one that skips the review or
// takes the run back. Where a rule cannot be evaluated, a person decides, unless it would only have saved a review.
func (e *Engine) fire(ctx context.Context, run metadata.Run, phase string, kind func(pipelines.Then) bool) (metadata.Run, *phases.RollbackPlan) {
	for i, rule := range e.Plan.Rules {
		if rule.After != phase || !kind(rule.Then) {
			continue
		}
		known, err := e.facts(run, phase)
		holds := false
		if err == nil {
			holds, err = e.Matches(ctx, rule.When, known)
		}
		if err != nil {
			run = phases.Unclear(phases.On(e.Plan, run), i, err, e.Now())
			continue
		}
		if !holds {
			continue
		}
		var back *phases.RollbackPlan
		run, back = phases.Fire(phases.On(e.Plan, run), i, known, e.Now())
		if back != nil || rule.Then.Skip != "" {
			return run, back
		}
	}
	return run, nil
}

// facts gives what the rules after a phase know about it.
func (e *Engine) facts(run metadata.Run, phase string) ([]byte, error) {
	if n := run.Phase(phase).Written; e.Invented != nil && n > 0 && e.Invented(run.Attempts[n-1].Agent, phase) {
		run = run.Clone()
		run.Phase(phase).Report = nil
	}
	return phases.FactsAfter(run, phase, e.Issue)
}

// addRollback adds the files that a rollback moves and writes to the commit of the step that led to it. What reprise
// wrote for this step is in no commit yet, so it is written to its new place at once.
func (e *Engine) addRollback(x *effects, back *phases.RollbackPlan) error {
	if back == nil {
		return nil
	}
	if x.Files == nil {
		x.Files = map[string][]byte{}
	}
	x.Moves = back.Moves
	for from, to := range back.Moves {
		body, dictated := x.Files[from]
		if !dictated {
			continue
		}
		if err := lay(e.Tree.Dir(), e.Tree.Dir(), map[string][]byte{from: nil}); err != nil { // of a part it lies elsewhere
			return fmt.Errorf("put %s aside: %w", from, err)
		}
		delete(x.Files, from)
		x.Files[to] = body
	}
	x.Files[back.ReasonFile] = phases.WrittenReason(*back)
	x.back = &back.Entry
	return nil
}
