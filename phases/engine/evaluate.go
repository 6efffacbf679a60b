package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// ended is a call of an agent that has ended.
type ended struct {
	result Result
	err    error  // how it ended
	before string // digest of the artifact before the call
}

// outOfBudget reports whether the call was cut short by a budget: what it has
// written so far counts.
func (c ended) outOfBudget() bool { return errors.Is(c.err, errBudget) || c.result.Limit == "budget" }

// evaluate decides what a call came to, from what it left in the tree and what
// it returned, not from what it says about itself.
func (e *Engine) evaluate(ctx context.Context, run metadata.Run, d phases.Decision, c ended) (effects, error) {
	if c.err != nil && !c.outOfBudget() {
		return e.evaluateBroken(ctx, run, d, c.err)
	}
	changes, opens, err := e.keptChanges(ctx, run, d)
	if err != nil {
		return effects{}, err
	}
	w := work{run: run, d: d, p: e.Plan.Phase(d.Phase), rec: run.Phase(d.Phase), call: c, tries: phases.Tries(e.Plan, run, run.Phase(d.Phase), d.Step()), changes: changes, opens: opens, files: map[string][]byte{}}
	var o phases.Outcome
	if d.Do == phases.DoReview {
		o, err = e.evaluateReview(ctx, &w)
	} else {
		o, err = e.evaluateWriting(ctx, &w)
	}
	o.Stderr, o.Violations, o.Broke, o.Opened = phases.LastWords(c.result.Stderr), changes.Violations, changes.Broke, w.opens
	o.Refused = e.Mask(refusedText(c.result.Refused))
	for _, w := range c.result.Warnings {
		o.Warnings = append(o.Warnings, e.Mask(w))
	}
	return effects{outcome: o, files: w.files, staged: w.staged}, err
}

// evaluateBroken gives the outcome of a call that broke off. Its changes are
// discarded.
func (e *Engine) evaluateBroken(ctx context.Context, run metadata.Run, d phases.Decision, err error) (effects, error) {
	var o phases.Outcome
	var broke *AgentError
	switch {
	case errors.Is(err, ErrSteered):
		o = stopped(err, metadata.Because("steered"))
	case errors.Is(err, context.Canceled), errors.Is(err, ErrInterrupted):
		o = stopped(err, metadata.Because("told_to_stop"))
	case errors.As(err, &broke):
		o = phases.Outcome{
			Status: metadata.Errored, Code: phases.CodeOf(broke.Class), Class: broke.Class, Why: WhyBroke(broke, e.Mask),
			Stderr: phases.LastWords(e.Mask(broke.Stderr)), RetryAfter: broke.RetryAfter,
		}
	default:
		return effects{}, err
	}
	files, err := e.discard(ctx, run, d)
	return effects{outcome: o, files: files}, err
}

// keptChanges takes back what the step may not change, and gives what is left,
// sorted, and what a person is asked about, which is taken back, too.
func (e *Engine) keptChanges(ctx context.Context, run metadata.Run, d phases.Decision) (phases.SortedChanges, []metadata.Opened, error) {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return phases.SortedChanges{}, nil, err
	}
	s := phases.BoundaryOf(e.Plan, run, d).Sort(changes)
	opens, refused, err := TakeOpened(e.Tree.Dir(), s.Opened, func() error {
		if back := slices.Concat(s.Undo, s.Opened); len(back) > 0 {
			return e.Tree.Restore(ctx, back...)
		}
		return nil
	})
	if err != nil {
		return phases.SortedChanges{}, nil, err
	}
	s.Refuse(refused)
	for i := range s.Violations {
		s.Violations[i].Path = e.Mask(s.Violations[i].Path) // for people: the file is gone
	}
	return s, opens, nil
}

// evaluateReview reads the verdict.
func (e *Engine) evaluateReview(ctx context.Context, w *work) (phases.Outcome, error) {
	if w.call.outOfBudget() {
		return phases.Unsuccessfully(metadata.BudgetExceeded, metadata.Because("budget_used_in_call")), nil
	}
	if why := e.unfounded(w); why != "" {
		return phases.BlockedBy(metadata.OutputInvalid, metadata.All(append([]metadata.Reason{why}, hindrances(w.call.result)...)...)), nil
	}
	said := phases.AnsweredReport(w.call.result.Structured, w.call.result.Text)
	if said == nil {
		missing := []metadata.Reason{metadata.Because("verdict_missing")}
		return phases.BlockedBy(metadata.OutputInvalid, metadata.All(append(missing, circumstances(w.call.result)...)...)), nil
	}
	v, wrong := phases.ReadVerdict(said, w.p, w.rec)
	if len(wrong) == 0 {
		wrong = phases.Unanswered(w.run, w.rec, v)
	}
	if len(wrong) > 0 {
		return phases.BlockedBy(metadata.OutputInvalid, metadata.All(wrong...)), nil
	}
	diff, _, err := e.since(ctx, e.Tree, w.run, w.p, w.rec)
	if err != nil {
		return phases.Outcome{}, err
	}
	judged := phases.DigestOf([]byte(w.rec.Digest + diff))[:16]
	return phases.Outcome{Status: metadata.Succeeded, Verdict: &v, Work: judged}, nil
}

// discard takes the tree back to the last commit, and gives what a broken call
// changed as a patch to be kept beside the artifacts.
func (e *Engine) discard(ctx context.Context, run metadata.Run, d phases.Decision) (map[string][]byte, error) {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	s := phases.BoundaryOf(e.Plan, run, d).Sort(changes)
	if len(s.Artifacts)+len(s.Tree)+len(s.Violations) == 0 {
		return files, nil
	}
	patch, err := e.Tree.Patch(ctx)
	if err != nil {
		return nil, err
	}
	if len(patch) > 0 {
		files[patchFile(run, e.Plan.Phase(d.Phase), len(run.Attempts))] = []byte(e.Mask(string(patch)))
	}
	return files, e.Tree.Restore(ctx)
}
