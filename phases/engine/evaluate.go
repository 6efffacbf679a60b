package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// ended is a call of an agent that has ended.
type ended struct {
	result Result
	err    error  // how it ended
	before string // digest of the artifact before the call
}

// outOfBudget reports whether the call was cut short by a budget: what it has written so far counts.
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
	w := work{run: run, d: d, p: e.Plan.Phase(d.Phase), rec: run.Phase(d.Phase), call: c, tries: phases.Tries(phases.On(e.Plan, run), run.Phase(d.Phase), d.Step()), changes: changes, opens: opens, files: map[string][]byte{}}
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
	return effects{BranchCommit: BranchCommit{Files: w.files, Staged: w.staged}, outcome: o}, err
}

// evaluateBroken gives the outcome of a call that broke off. Its changes are discarded.
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
			Status: metadata.Errored, Code: phases.CodeOf(broke.Class), Class: broke.Class, Why: broke.WhyBroke(e.Mask),
			Stderr: phases.LastWords(e.Mask(broke.Stderr)), RetryAfter: broke.RetryAfter,
		}
	default:
		return effects{}, err
	}
	files, err := e.discard(ctx, run, d)
	return effects{BranchCommit: BranchCommit{Files: files}, outcome: o}, err
}

// keptChanges takes back what the step may not change, and gives what is left,
// sorted, and what a person is asked about, which is taken back, too.
func (e *Engine) keptChanges(ctx context.Context, run metadata.Run, d phases.Decision) (phases.SortedChanges, []metadata.Opened, error) {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return phases.SortedChanges{}, nil, err
	}
	s := phases.BoundaryOf(phases.On(e.Plan, run), d).Sort(changes)
	opens, refused, err := takeOpened(e.Tree.Dir(), s.Opened, func() error {
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
		return phases.BlockedBy(metadata.OutputInvalid, metadata.All(append([]metadata.Reason{why, lastWords(w.call.result)}, hindrances(w.call.result)...)...)), nil
	}
	said, err := phases.AnsweredReport(w.call.result.Structured, w.call.result.Text)
	if said == nil {
		missing := []metadata.Reason{metadata.Because("verdict_missing")}
		if err != nil {
			missing[0] = metadata.Because("not_a_verdict", "error", phases.OneLine(err.Error()))
		}
		return phases.BlockedBy(metadata.OutputInvalid, metadata.All(append(missing, circumstances(w.call.result)...)...)), nil
	}
	if w.call.result.Unsaid {
		return phases.BlockedBy(metadata.OutputInvalid, metadata.Because("verdict_unsaid")), nil
	}
	v, wrong := e.verdict(w.run, w.d, said)
	if len(wrong) > 0 {
		return phases.BlockedBy(metadata.OutputInvalid, metadata.All(append(wrong, lastWords(w.call.result))...)), nil
	}
	diff, _, err := e.since(ctx, w.run, w.p, w.rec)
	if err != nil {
		return phases.Outcome{}, err
	}
	v.Unbound = w.call.result.Unheard
	judged := phases.DigestOf([]byte(w.rec.Digest + diff))[:16]
	return phases.Outcome{Status: metadata.Succeeded, Verdict: &v, Work: judged}, nil
}

// verdict reads what a reviewer has answered, and says what is wrong with it.
func (e *Engine) verdict(run metadata.Run, d phases.Decision, said []byte) (metadata.Verdict, []metadata.Reason) {
	rec := run.Phase(d.Phase)
	v, wrong := phases.ReadVerdict(bytes.ReplaceAll(said, []byte(e.dirOf(d)+"/"), nil), e.Plan.Phase(d.Phase), rec) // paths from the top
	if len(wrong) == 0 {
		wrong = phases.Unanswered(run, rec, v)
	}
	return v, wrong
}

// wrong says what is wrong with the answer of a step, while its agent can still mend it.
func (e *Engine) wrong(ctx context.Context, run metadata.Run, d phases.Decision, answer json.RawMessage) metadata.Reason {
	p := e.Plan.Phase(d.Phase)
	switch {
	case d.Do == phases.DoReview:
		_, wrong := e.verdict(run, d, answer)
		return metadata.All(wrong...)
	case p.Report == "" || len(phases.AskedQuestions(phases.On(e.Plan, run), d, answer)) > 0:
		return ""
	}
	return e.report(ctx, p, Result{Structured: answer})
}

// weighLate notes in the verdict of a review what its late blockers count for. Their commands run as checks of the phase.
func (e *Engine) weighLate(ctx context.Context, run metadata.Run, p *pipelines.Phase, o phases.Outcome) (phases.Outcome, error) {
	changed, err := e.changedSinceReview(context.WithoutCancel(ctx), run.Phase(p.Name))
	if len(changed) == 0 {
		return o, err
	}
	err = phases.WeighLate(p, run.Phase(p.Name).Verdict, o.Verdict, changed, func(c pipelines.Check) (metadata.CheckResult, error) {
		ended, err := e.round("").one(ctx, c)
		return ended, errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx))) // without a sandbox it may have changed the tree
	})
	if ctx.Err() != nil {
		return stopped(context.Cause(ctx), metadata.Because("interrupted")), nil
	}
	return o, err
}

// changedSinceReview gives what has changed since the last review of a phase, of whose documents each round writes the
// whole; nothing if there was none in these rounds, or if it cannot be said in full.
func (e *Engine) changedSinceReview(ctx context.Context, rec *metadata.Phase) (changed []phases.Place, err error) {
	if rec.Round == 0 || rec.Verdict == nil || rec.Verdict.Commit == "" {
		return nil, nil
	}
	patch, stat, err := e.Tree.Diff(ctx, rec.Verdict.Commit)
	if _, named := phases.ChangedInPatch(patch); err != nil || named != stat.Files {
		return nil, err
	}
	for _, file := range rec.OutputFiles {
		changed = append(changed, phases.Place{File: file})
	}
	return append(changed, phases.ChangedPlaces(patch)...), nil
}

// discard takes the tree back to the last commit, and gives what a broken call
// changed as a patch to be kept beside the artifacts.
func (e *Engine) discard(ctx context.Context, run metadata.Run, d phases.Decision) (map[string][]byte, error) {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	s := phases.BoundaryOf(phases.On(e.Plan, run), d).Sort(changes)
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

// work is what a writing step has left behind, with what it is compared with.
type work struct {
	run     metadata.Run
	d       phases.Decision
	p       *pipelines.Phase
	rec     *metadata.Phase
	call    ended
	tries   []metadata.Attempt // calls for the same work; the last is this one
	changes phases.SortedChanges
	opens   []metadata.Opened // what a person is asked about
	staged  StagedTree        // nil: nothing
	files   map[string][]byte // that reprise writes for the step
}

// read gives a file of the run's folder as the commit will have it.
func (w *work) read(ctx context.Context, name string) ([]byte, error) {
	if data, ok := w.files[name]; ok {
		return data, nil
	}
	return w.staged.Read(ctx, name)
}

// artifact is the path of the phase's artifact.
func (w *work) artifact() string { return path.Join(phases.PhaseFolder(w.run, w.p), w.p.Writes) }

// evaluateWriting holds the work of execute or revise against the evidence that the phase asks for. Work that does not
// suffice is kept all the same: the next call goes on from there.
func (e *Engine) evaluateWriting(ctx context.Context, w *work) (o phases.Outcome, err error) {
	if w.staged, err = e.Tree.Stage(ctx, append(w.changes.Artifacts, w.changes.Tree...)...); err != nil {
		return o, err
	}
	secrets, err := e.CheckStaged(ctx, phases.BoundaryOf(phases.On(e.Plan, w.run), w.d), e.Plan.Secrets.Allow, w.staged)
	if err != nil {
		return o, err
	}
	for _, o := range w.opens {
		if found := e.inFile(ctx, o.Path, e.Plan.Secrets.Allow, []byte(o.Text)); len(found) > 0 && secrets == "" {
			secrets = metadata.Because("secrets_found", "found", metadata.All(found...))
		}
	}
	if secrets != "" {
		w.staged, w.opens = nil, nil
		return phases.BlockedBy(metadata.SecretFound, secrets), e.Tree.Restore(ctx)
	}
	if w.lastTry() != metadata.OutputInvalid { // else the document is there, and this answer is the report
		if err := e.writeDictated(w); err != nil {
			return o, err
		}
	}
	written, lack, missing, err := e.evidence(ctx, w)
	if err != nil {
		return o, err
	}
	report, _ := phases.AnsweredReport(w.call.result.Structured, w.call.result.Text)
	switch requested := phases.AskedQuestions(phases.On(e.Plan, w.run), w.d, report); {
	case w.call.outOfBudget():
		return phases.Unsuccessfully(metadata.BudgetExceeded, metadata.Because("budget_used_in_call")), nil
	case len(requested) > 0: // what it has written so far stays; the session goes on with the answers
		o = phases.BlockedBy(metadata.AwaitingPerson, metadata.Because("questions_raised", "n", len(requested)))
		o.Questions = requested
		return o, nil
	case len(missing) > 0:
		if lack == metadata.NoProgress {
			missing[0] = e.hidden(ctx, missing[0], w.tries[0].StartedAt)
		}
		return phases.Unsuccessfully(lack, metadata.All(append(missing, circumstances(w.call.result)...)...)), nil
	}
	written.Files = e.files(ctx, w)
	o = phases.Outcome{Status: metadata.Succeeded, Written: &written}
	if limit := w.call.result.Limit; limit != "" {
		o.Why = metadata.Because("limit_reached", "limit", limit) // what it has written counts, and may be unfinished
		o.Warnings = append(o.Warnings, o.Why.In(prompts.Words("en")))
	}
	return o, nil
}

// evidence gathers what a writing step left behind, and says what is missing.
func (e *Engine) evidence(ctx context.Context, w *work) (written phases.Written, lack metadata.Code, missing []metadata.Reason, err error) {
	lack = metadata.NoProgress
	sum, size, wrong := e.artifact(ctx, w.read, w.artifact())
	switch {
	case wrong != "":
		missing = append(missing, wrong)
	case size == 0:
		missing = append(missing, metadata.Because("is_empty", "file", w.artifact()))
	case w.unchanged(sum):
		missing = append(missing, metadata.Because("is_unchanged", "file", w.artifact()))
	}
	written.Digest = sum
	changed := false
	if written.Diff, changed, err = e.own(ctx, w.staged, w.run, w.p, w.rec); err != nil {
		return written, lack, nil, err
	}
	if w.p.MustChange && len(w.opens) == 0 && !changed {
		missing = append(missing, metadata.Because("tree_unchanged"))
	}
	if w.changes.Over != "" {
		lack, missing = metadata.ChangeRefused, []metadata.Reason{w.changes.Over}
	}
	if len(missing) == 0 && w.p.Report != "" {
		if wrong := e.report(ctx, w.p, w.call.result); wrong != "" {
			lack, missing = metadata.OutputInvalid, []metadata.Reason{wrong}
		}
		written.Report, _ = phases.AnsweredReport(w.call.result.Structured, w.call.result.Text)
	}
	return written, lack, missing, nil
}

// unchanged reports whether an artifact with this digest shows no new work: it was reviewed in this form, or it is
// what it was before an execute that did not continue the work of an earlier call.
func (w *work) unchanged(sum string) bool {
	code := len(w.changes.Tree)+len(w.opens) > 0
	if sum == w.rec.Digest && !code {
		return true
	}
	if w.d.Do != phases.DoExecute || sum != w.call.before {
		return false
	}
	// What it wrote before it asked people something may be complete now that they have answered.
	goesOn := slices.Contains([]metadata.Code{metadata.OutputInvalid, metadata.BudgetExceeded, metadata.AwaitingPerson}, w.lastTry())
	return !goesOn && !(w.d.Again && code)
}

// lastTry gives the code of the call before this one, for the same work, if there was one and this one asks once more, or
// that had asked people something.
func (w *work) lastTry() metadata.Code {
	before := len(w.tries) - 2
	if before < 0 || !w.d.Again && w.tries[before].Code != metadata.AwaitingPerson {
		return ""
	}
	return w.tries[before].Code
}

// mostHidden is how many ignored paths people and agents are told of.
const mostHidden = 3

// hidden adds the ignored files that were written since a time to the reason why there is no work.
func (e *Engine) hidden(ctx context.Context, why metadata.Reason, since time.Time) metadata.Reason {
	all, err := e.Tree.Hidden(ctx, since)
	if err != nil || len(all) == 0 {
		return why // the work is missing in any case
	}
	var files []metadata.Reason
	for _, h := range all[:min(mostHidden, len(all))] {
		files = append(files, metadata.Said(e.Mask(fmt.Sprintf("%s (%s)", phases.TruncateText(h.Path), phases.TruncateText(h.Rule)))))
	}
	if more := len(all) - mostHidden; more > 0 {
		files = append(files, metadata.Because("and_more", "n", more))
	}
	return metadata.Because("only_ignored", "why", why, "files", files)
}

// report checks the structured answer of execute or revise, and says what is wrong with it.
func (e *Engine) report(ctx context.Context, p *pipelines.Phase, r Result) metadata.Reason {
	said, err := phases.AnsweredReport(r.Structured, r.Text)
	switch {
	case err != nil:
		return metadata.Because("report_misfit", "error", phases.OneLine(err.Error()))
	case said == nil:
		return metadata.Because("report_missing")
	}
	if err := e.CheckReport(ctx, p.Report, said); err != nil {
		return metadata.Because("report_misfit", "error", err)
	}
	return metadata.All(phases.SplitMistakes(e.Plan, p, said)...)
}

// unfounded says why a verdict rests on nothing; "" if it does not. A reviewer that is to run what it judges has to have run
// something. Any other has to have used a tool: no prompt has the artifact in it, only its path.
func (e *Engine) unfounded(w *work) metadata.Reason {
	switch r := w.call.result; {
	case r.RanNothing:
		return metadata.Because("review_ran_nothing")
	case r.ToolCalls >= 0 && r.ToolCalls <= len(r.Denials):
		return metadata.Because("review_opened_nothing", "file", w.artifact())
	}
	return ""
}
