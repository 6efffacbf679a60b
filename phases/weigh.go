package phases

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// weigh decides what a call came to, from what it left in the tree and what
// it returned, not from what it says about itself.
// before is the digest of the artifact before the call.
func (e *Engine) weigh(ctx context.Context, run metadata.Run, d Decision, r Result, before string, callErr error) (effects, error) {
	x := effects{files: map[string][]byte{}, outcome: Outcome{Stderr: lastWords(r.Stderr)}}
	broke := errors.Is(callErr, errBudget) || r.Limit == "budget"
	switch {
	case callErr == nil, broke:
	case errors.Is(callErr, context.Canceled), errors.Is(callErr, ErrInterrupted), errors.Is(callErr, ErrSteered):
		x.outcome = Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: metadata.Because("told_to_stop")}
		if errors.Is(callErr, ErrTimeUp) {
			x.outcome.Code, x.outcome.Why = metadata.TimedOut, metadata.Because("time_over")
		}
		if errors.Is(callErr, ErrSteered) {
			x.outcome.Why = metadata.Because("steered")
		}
		return x, e.discard(ctx, run, d, &x)
	default:
		var ae *AgentError
		if !errors.As(callErr, &ae) {
			return x, callErr
		}
		x.outcome = Outcome{Status: metadata.Errored, Code: codeOf(ae.Class), Class: ae.Class, Why: metadata.Said(e.mask(agentWhy(ae))), Stderr: lastWords(e.mask(ae.Stderr)), RetryAfter: ae.RetryAfter}
		return x, e.discard(ctx, run, d, &x)
	}
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return x, err
	}
	s := e.boundary(run, d).sort(changes)
	if len(s.undo) > 0 {
		if err := e.Tree.Restore(ctx, s.undo...); err != nil {
			return x, err
		}
	}
	for i := range s.violations {
		s.violations[i].Path = e.mask(s.violations[i].Path) // for people: the file is gone
	}
	x.outcome.Violations, x.outcome.Broke = s.violations, s.broke
	if d.Do == DoReview {
		return x, e.weighReview(ctx, run, d, r, broke, &x)
	}
	x.paths = append(s.artifacts, s.tree...)
	clean := searched{}
	x.judge = e.judge(e.boundary(run, d), clean)
	if where := e.leak(ctx, s, clean); where != "" {
		x.paths = nil
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Blocked, metadata.SecretFound, where
		return x, e.Tree.Restore(ctx)
	}
	return x, e.weighWriting(ctx, run, d, r, s, before, broke, &x)
}

// weighWriting holds the work of execute or revise against the evidence that
// the phase asks for. Work that does not suffice is kept all the same: the
// next call goes on from there.
func (e *Engine) weighWriting(ctx context.Context, run metadata.Run, d Decision, r Result, s sorted, before string, broke bool, x *effects) error {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	w := Written{}
	var missing []metadata.Reason
	artifact := path.Join(e.folder(run, p), p.Writes)
	again, answered := lastTry(run, rec, d), goesOn(run, rec, d)
	if again != metadata.OutputInvalid { // else the document is there, and this answer is the report
		if err := e.dictated(d, artifact, r, x); err != nil {
			return err
		}
	}
	sum, size, wrong := e.artifact(artifact)
	switch {
	case wrong != "":
		missing = append(missing, wrong)
	case size == 0:
		missing = append(missing, metadata.Because("is_empty", "file", artifact))
	case sum == rec.Digest && len(s.tree) == 0,
		d.Do == DoExecute && sum == before && again != metadata.OutputInvalid && again != metadata.BudgetExceeded && !answered && (!d.Again || len(s.tree) == 0):
		missing = append(missing, metadata.Because("is_unchanged", "file", artifact))
	}
	var err error
	if _, w.Diff, err = e.diff(ctx, p, rec); err != nil {
		return err
	}
	if p.MustChange && !e.differs(ctx, run, rec, w.Diff) {
		missing = append(missing, metadata.Because("tree_unchanged"))
	}
	code := metadata.NoProgress
	if s.over != "" {
		missing, code = []metadata.Reason{s.over}, metadata.PatchTooLarge
	}
	if len(missing) == 0 && p.Report != "" {
		if wrong := e.report(ctx, p, r); wrong != "" {
			missing, code = append(missing, wrong), metadata.OutputInvalid
		}
		w.Report = structured(r)
	}
	if broke {
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Unsuccessful, metadata.BudgetExceeded, metadata.Because("budget_used_in_call")
		return nil
	}
	if asked := e.questions(run, d, structured(r)); len(asked) > 0 {
		// What it has written so far stays; the session goes on with the answers.
		x.outcome.Status, x.outcome.Code, x.outcome.Questions = metadata.Blocked, metadata.AwaitingPerson, asked
		x.outcome.Why = metadata.Because("questions_raised", "n", len(asked))
		return nil
	}
	if len(missing) > 0 {
		if code == metadata.NoProgress {
			missing[0] = e.hidden(ctx, missing[0], effort(run, rec, d.Step())[0].StartedAt)
		}
		x.outcome.Status, x.outcome.Code = metadata.Unsuccessful, code
		x.outcome.Why = metadata.All(append(missing, circumstances(r)...)...)
		return nil
	}
	w.Digest, w.Files = sum, e.files(run, p, s)
	x.outcome.Status, x.outcome.Written = metadata.Succeeded, &w
	return nil
}

// mostHidden is how many ignored paths people and agents are told of.
const mostHidden = 3

// hidden adds to why there is no work what was written since a time and cannot
// be seen, if there is something: who looks for it should know why it does not
// count.
func (e *Engine) hidden(ctx context.Context, why metadata.Reason, since time.Time) metadata.Reason {
	all, err := e.Tree.Hidden(ctx, since)
	if err != nil || len(all) == 0 {
		return why // what is missing is missing all the same
	}
	var files []metadata.Reason
	for _, h := range all[:min(mostHidden, len(all))] {
		files = append(files, metadata.Said(e.mask(fmt.Sprintf("%s (%s)", oneLine(h.Path), oneLine(h.Rule)))))
	}
	if more := len(all) - mostHidden; more > 0 {
		files = append(files, metadata.Because("and_more", "n", more))
	}
	return metadata.Because("only_ignored", "why", why, "files", files)
}

// weighReview reads the verdict.
func (e *Engine) weighReview(ctx context.Context, run metadata.Run, d Decision, r Result, broke bool, x *effects) error {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	if broke {
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Unsuccessful, metadata.BudgetExceeded, metadata.Because("budget_used_in_call")
		return nil
	}
	answer := structured(r)
	if answer == nil {
		x.outcome.Status, x.outcome.Code = metadata.Blocked, metadata.OutputInvalid
		x.outcome.Why = metadata.All(append([]metadata.Reason{metadata.Because("verdict_missing")}, circumstances(r)...)...)
		return nil
	}
	v, wrong := ParseVerdict(answer, p.Gates)
	if why := baseless(v, rec.Round, !checkFails(rec)); why != "" {
		wrong = append(wrong, why)
	}
	if len(wrong) > 0 {
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Blocked, metadata.OutputInvalid, metadata.All(wrong...)
		return nil
	}
	diff, _, err := e.diff(ctx, p, rec)
	if err != nil {
		return err
	}
	x.outcome.Status, x.outcome.Verdict = metadata.Succeeded, &v
	x.outcome.Work = digest([]byte(rec.Digest + diff))[:16]
	return nil
}

// discard keeps what a broken call changed as a patch beside the artifacts,
// and takes the tree back to the last commit.
func (e *Engine) discard(ctx context.Context, run metadata.Run, d Decision, x *effects) error {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return err
	}
	s := boundary{access: pipelines.AccessTree, state: Folder(run.IssueNumber), folder: e.folder(run, e.Plan.Phase(d.Phase))}.sort(changes)
	if len(s.artifacts)+len(s.tree)+len(s.violations) == 0 {
		return nil
	}
	patch, err := e.Tree.Patch(ctx)
	if err != nil {
		return err
	}
	if len(patch) > 0 {
		name := fmt.Sprintf("attempt-%d.patch", len(run.Attempts))
		x.files[path.Join(e.folder(run, e.Plan.Phase(d.Phase)), name)] = []byte(e.mask(string(patch)))
	}
	return e.Tree.Restore(ctx)
}

// diff gives what changed in the code since the phase began. A phase that
// cannot change code is not compared: looking would cost more than its record.
func (e *Engine) diff(ctx context.Context, p *pipelines.Phase, rec *metadata.Phase) (string, metadata.Diff, error) {
	if p.Access != pipelines.AccessTree || rec.Base == "" {
		return "", metadata.Diff{}, nil
	}
	return e.Tree.Diff(ctx, rec.Base)
}

// differs reports whether a phase that has to change the code did so: in its
// first generation since it began, later since the run began, because code is
// kept over a rollback.
func (e *Engine) differs(ctx context.Context, run metadata.Run, rec *metadata.Phase, since metadata.Diff) bool {
	if since.Files > 0 || rec.Generation == 0 {
		return since.Files > 0
	}
	_, all, err := e.Tree.Diff(ctx, run.BaseCommit)
	return err == nil && all.Files > 0
}

// report checks the structured answer of execute or revise, and says what is
// wrong with it.
func (e *Engine) report(ctx context.Context, p *pipelines.Phase, r Result) metadata.Reason {
	answer := structured(r)
	if answer == nil {
		return metadata.Because("report_missing")
	}
	if err := e.CheckReport(ctx, p.Report, answer); err != nil {
		return metadata.Because("report_misfit", "error", err)
	}
	if circle := tasksCircle(requestIn(p, answer).Tasks); circle != nil {
		return metadata.Because("tasks_in_circle", "tasks", strings.Join(circle, " → "))
	}
	return ""
}

// goesOn reports whether the call before this one, for the same work, had asked
// people something: what it wrote then may stand with their answer.
func goesOn(run metadata.Run, rec *metadata.Phase, d Decision) bool {
	tries := effort(run, rec, d.Step()) // the last is the call itself
	return len(tries) > 1 && tries[len(tries)-2].Code == metadata.AwaitingPerson
}

// lastTry gives the code of the call before this one, for the same work, if
// this one asks once more.
func lastTry(run metadata.Run, rec *metadata.Phase, d Decision) metadata.Code {
	tries := effort(run, rec, d.Step()) // the last is the call itself
	if !d.Again || len(tries) < 2 {
		return ""
	}
	return tries[len(tries)-2].Code
}
