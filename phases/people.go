package phases

import (
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// wake lets a run that waits for a person go on. A run that a person has ended
// goes on only when it is started again.
func wake(run *metadata.Run) {
	if run.Status != metadata.Cancelled && run.Status != metadata.Completed {
		run.Status, run.Stop = metadata.Running, nil
	}
}

// paused reports whether a person has halted a run while parts were at work: to
// answer or approve another part does not let it go on.
func paused(run metadata.Run) bool {
	if run.Stop == nil || run.Stop.Code != metadata.AwaitingPerson {
		return false
	}
	rec := run.Phase(run.Stop.Phase)
	return rec != nil && rec.Task != "" && rec.Status != metadata.PhaseCompleted && len(openQuestions(run, rec)) == 0
}

// NothingToApprove says that a run that is at a phase waits for no approval. Whether a process
// works on one that is running, its record does not know.
func NothingToApprove(run metadata.Run, phase string) metadata.Reason {
	if run.Status == metadata.Running {
		return metadata.Because("nothing_to_approve_at", "phase", phase)
	}
	return metadata.Because("nothing_to_approve", "status", run.Status, "phase", phase)
}

// Approve gives the record after a person has approved a phase as it stands;
// with an empty name the first that the run waits at. Whatever changes that phase
// later voids it. An error says why there is nothing to approve.
func Approve(plan *pipelines.Pipeline, run metadata.Run, c Command) (metadata.Run, error) {
	waits, role, _, ok := ApprovalOf(plan, run, c.Phase)
	switch {
	case c.Phase != "" && run.Phase(c.Phase) == nil:
		return run, &UnknownPhase{Phase: c.Phase, Known: phaseNames(run)}
	case !ok && edited(plan, run) != "":
		return run, refuse(metadata.Because("approve_after_review", "file", edited(plan, run)))
	case !ok:
		return run, refuse(NothingToApprove(run, At(plan, run)))
	case c.Phase == "" && len(Approvals(plan, run)) > 1:
		return run, refuse(metadata.Because("which_approval", "phases", Approvals(plan, run), "first", waits))
	case c.Phase != "" && c.Phase != waits:
		return run, refuse(metadata.Because("approve_another", "phase", c.Phase, "other", waits))
	case isAmong(approvedBy(run, run.Phase(waits), role), c.By):
		return run, refuse(metadata.Because("approved_already", "phase", waits, "by", metadata.Said(c.By)))
	}
	run = run.Clone()
	rec := run.Phase(waits)
	run.Approvals = append(run.Approvals, metadata.Approval{
		Phase: waits, Generation: rec.Generation, Attempt: rec.Written, Touched: rec.Touched, Digest: digestOf(rec), Role: role, By: c.By, Comment: c.Comment, At: c.At,
	})
	if why := advised(rec); why != "" && len(approvedBy(run, rec, role)) >= max(1, plan.Phase(waits).Approvers) {
		return Cancel(run, metadata.Because("given_up", "reason", why), c.At)
	}
	switch still := needed(plan, run, plan.Phase(waits), rec); {
	case still.Code == metadata.AwaitingPerson && run.Stop != nil && run.Stop.Phase == waits: // for others
		stop := *run.Stop
		stop.Why = still.Why
		run.Stop = &stop
	case !paused(run):
		wake(&run)
	}
	return touch(run, c.At), nil
}

// Answer gives the record after a person has answered a question: the one with
// that id, or with an empty id the only open one. The run goes on once none of that
// phase is open. An error says which questions there are.
func Answer(run metadata.Run, id, text string, c Command) (metadata.Run, error) {
	var ids []string
	for _, q := range Questions(run) {
		ids = append(ids, q.ID)
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return run, refuse(metadata.Because("answer_empty"))
	case len(ids) == 0:
		return run, refuse(metadata.Because("no_question"))
	case id == "" && len(ids) > 1:
		return run, refuse(metadata.Because("which_question", "questions", ids))
	case id != "" && !slices.Contains(ids, id):
		return run, refuse(metadata.Because("another_question", "question", id, "questions", ids))
	}
	if id == "" {
		id = ids[0]
	}
	run = run.Clone()
	held := paused(run)
	q := &run.Questions[slices.IndexFunc(run.Questions, func(q metadata.Question) bool { return q.ID == id })]
	at := c.At
	q.Answer, q.By, q.AnsweredAt = text, c.By, &at
	switch unanswered := Questions(run); {
	case held:
	case len(openQuestions(run, run.Phase(q.Phase))) == 0:
		wake(&run)
	case run.Stop != nil && run.Stop.Code == metadata.AwaitingPerson:
		stop := *run.Stop
		stop.Why = whyAsks(unanswered)
		run.Stop = &stop
	}
	return touch(run, c.At), nil
}

// Pause gives the record of a run that a person has halted. Starting it again
// goes on.
func Pause(run metadata.Run, why metadata.Reason, at time.Time) (metadata.Run, error) {
	if run.Status != metadata.Running && run.Status != metadata.Interrupted {
		return run, refuse(metadata.Because("nothing_to_pause", "status", run.Status))
	}
	run = run.Clone()
	run.Status = metadata.Waiting
	run.Stop = &metadata.Stop{Code: metadata.AwaitingPerson, Why: why, Phase: run.CurrentPhase, At: at}
	return touch(run, at), nil
}

// Skip gives the record of a run that leaves a phase out. A phase that others
// need cannot be left out before them. An error says why not.
func Skip(plan *pipelines.Pipeline, run metadata.Run, phase string, at time.Time) (metadata.Run, error) {
	run = run.Clone()
	rec := run.Phase(phase)
	switch {
	case rec == nil || plan.Phase(phase) == nil:
		return run, &UnknownPhase{Phase: phase, Known: phaseNames(run)}
	case rec.Status == metadata.PhaseCompleted:
		return run, refuse(metadata.Because("skip_completed", "phase", phase))
	case rec.Status == metadata.PhaseSkipped:
		return run, refuse(metadata.Because("skipped_already", "phase", phase))
	}
	var need []string
	for _, other := range run.Phases {
		p := plan.Phase(other.Name)
		waiting := other.Status != metadata.PhaseCompleted && other.Status != metadata.PhaseSkipped
		if p != nil && waiting && (slices.Contains(p.Needs, phase) || PartNeeds(&run, &other, phase)) {
			need = append(need, other.Name)
		}
	}
	if len(need) > 0 {
		return run, refuse(metadata.Because("skip_needed", "phase", phase, "phases", need))
	}
	if whole := WholeOf(rec); whole != "" && len(PartsOf(&run, whole)) == 1 {
		return run, refuse(metadata.Because("skip_last_part", "part", phase, "phase", whole))
	}
	for _, rec := range withParts(&run, phase) {
		if rec.Status == metadata.PhaseCompleted {
			continue // a part whose work is there
		}
		rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseSkipped, "", nil
		rec.RollbackContext = nil
		leaveLane(rec)
		forgetChildren(&run, func(name string) bool { return name == rec.Name })
		if run.Stop != nil && run.Stop.Phase == rec.Name {
			wake(&run)
		}
	}
	return touch(run, at), nil
}
