package phases

import (
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// approver gives the role of the person who has to approve a phase before the
// run goes on, and why; no role if nobody has to, or somebody has.
func approver(p *pipelines.Phase, run metadata.Run, rec *metadata.Phase) (role string, why metadata.Reason) {
	role, why = stronger(p.Approve, rec.Approve), rec.Ask
	if role == "" || approved(run, rec, role) {
		return "", ""
	}
	if why == "" {
		why = metadata.Because("approval_by_pipeline")
	}
	return role, why
}

// demand asks for a person with at least a role to approve a phase, besides
// what is asked for already.
func demand(rec *metadata.Phase, role string, why metadata.Reason) {
	rec.Approve = stronger(rec.Approve, role)
	if len(rec.Ask.Each()) < mostAsked {
		rec.Ask = metadata.All(rec.Ask, why)
	}
}

// mostAsked is how many reasons for an approval are kept.
const mostAsked = 5

// rank orders roles; 0 is none at all.
func rank(role string) int {
	return slices.Index([]string{"triage", "write", "maintain", "admin"}, role) + 1
}

// stronger gives the role of the two that fewer people have.
func stronger(a, b string) string {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// approved reports whether a person with at least a role has approved a phase
// as it stands now. New work is a new attempt even where the artifact reads the
// same, and going back is a new generation, so that neither keeps it.
func approved(run metadata.Run, rec *metadata.Phase, role string) bool {
	return slices.ContainsFunc(run.Approvals, func(a metadata.Approval) bool {
		return a.Phase == rec.Name && Stands(run, a) && (a.Role == "" || rank(a.Role) >= rank(role))
	})
}

// Stands reports whether an approval is for its phase as it is now.
func Stands(run metadata.Run, a metadata.Approval) bool {
	rec := run.Phase(a.Phase)
	return rec != nil && a.Generation == rec.Generation && a.Attempt == rec.Written && a.Touched == rec.Touched && a.Digest == digestOf(rec)
}

// wake lets a run go on that waits for a person. One that a person has ended
// only goes on when it is started again.
func wake(run *metadata.Run) {
	if run.Status != metadata.Cancelled && run.Status != metadata.Completed {
		run.Status, run.Stop = metadata.Running, nil
	}
}

// digestOf is what an approval is bound to: the artifact, or where a phase has
// written none the attempt alone.
func digestOf(rec *metadata.Phase) string {
	if rec.Digest == "" {
		return "none"
	}
	return rec.Digest
}

// Approval says for what a run waits to be approved, and by whom. ok is false
// if it does not wait for that.
func Approval(plan *pipelines.Pipeline, run metadata.Run) (phase, role string, why metadata.Reason, ok bool) {
	for i := range run.Phases {
		rec := &run.Phases[i]
		p := plan.Phase(rec.Name)
		if rec.Status == metadata.PhaseSkipped || p == nil {
			continue
		}
		if rec.Status != metadata.PhaseCompleted {
			return "", "", "", false
		}
		if Unreviewed(p, rec) {
			return "", "", "", false
		}
		if role, why := approver(p, run, rec); role != "" {
			return rec.Name, role, why, true
		}
	}
	return "", "", "", false
}

// Unreviewed reports whether a completed phase is reviewed again before anything
// follows: what it left behind does not read any more as it was accepted.
func Unreviewed(p *pipelines.Phase, rec *metadata.Phase) bool {
	return rec.Status == metadata.PhaseCompleted && rec.Edited() && !p.NoReview
}

// edited names the first artifact that is reviewed again, or "".
func edited(plan *pipelines.Pipeline, run metadata.Run) string {
	for i := range run.Phases {
		if p := plan.Phase(run.Phases[i].Name); p != nil && Unreviewed(p, &run.Phases[i]) {
			return p.Writes
		}
	}
	return ""
}

// Approve gives the record after a person has approved a phase as it stands;
// with an empty name the one that the run waits at. Whatever changes that phase
// later voids it. An error says why there is nothing to approve.
func Approve(plan *pipelines.Pipeline, run metadata.Run, c Command) (metadata.Run, error) {
	waits, role, _, ok := Approval(plan, run)
	switch {
	case c.Phase != "" && run.Phase(c.Phase) == nil:
		return run, &UnknownPhase{Phase: c.Phase, Known: names(run)}
	case !ok && edited(plan, run) != "":
		return run, refuse(metadata.Because("approve_after_review", "file", edited(plan, run)))
	case !ok:
		return run, refuse(metadata.Because("nothing_to_approve", "status", run.Status, "phase", At(plan, run)))
	case c.Phase != "" && c.Phase != waits:
		return run, refuse(metadata.Because("approve_another", "phase", c.Phase, "other", waits))
	}
	run = run.Clone()
	rec := run.Phase(waits)
	run.Approvals = append(run.Approvals, metadata.Approval{
		Phase: waits, Generation: rec.Generation, Attempt: rec.Written, Touched: rec.Touched, Digest: digestOf(rec), Role: role, By: c.By, Comment: c.Comment, At: c.At,
	})
	wake(&run)
	return touch(run, c.At), nil
}

// Questions gives the questions that a run waits for an answer to. Those of a
// phase that was taken back or left out since are nobody's business any more.
func Questions(run metadata.Run) []metadata.Question {
	return slices.DeleteFunc(slices.Clone(run.Questions), func(q metadata.Question) bool {
		rec := run.Phase(q.Phase)
		return !q.Open() || rec == nil || rec.Status != metadata.PhaseInProgress || q.Generation != rec.Generation
	})
}

// openQuestions gives those of one phase.
func openQuestions(run metadata.Run, rec *metadata.Phase) []metadata.Question {
	return slices.DeleteFunc(Questions(run), func(q metadata.Question) bool { return q.Phase != rec.Name })
}

// Answer gives the record after a person has answered a question: the one with
// that id, or with an empty id the only open one. The run goes on once none is
// open. An error says which questions there are.
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
	q := &run.Questions[slices.IndexFunc(run.Questions, func(q metadata.Question) bool { return q.ID == id })]
	at := c.At
	q.Answer, q.By, q.AnsweredAt = text, c.By, &at
	if left := Questions(run); len(left) == 0 {
		wake(&run)
	} else if run.Stop != nil && run.Stop.Code == metadata.AwaitingPerson {
		stop := *run.Stop
		stop.Why = whyAsks(left)
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
		return run, &UnknownPhase{Phase: phase, Known: names(run)}
	case rec.Status == metadata.PhaseCompleted:
		return run, refuse(metadata.Because("skip_completed", "phase", phase))
	case rec.Status == metadata.PhaseSkipped:
		return run, refuse(metadata.Because("skipped_already", "phase", phase))
	}
	var need []string
	for _, other := range run.Phases {
		p := plan.Phase(other.Name)
		waiting := other.Status != metadata.PhaseCompleted && other.Status != metadata.PhaseSkipped
		if p != nil && waiting && slices.Contains(p.Needs, phase) {
			need = append(need, other.Name)
		}
	}
	if len(need) > 0 {
		return run, refuse(metadata.Because("skip_needed", "phase", phase, "phases", need))
	}
	rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseSkipped, "", nil
	rec.RollbackContext = nil
	forgetChildren(&run, func(name string) bool { return name == phase })
	if run.Stop != nil && run.Stop.Phase == phase {
		wake(&run)
	}
	return touch(run, at), nil
}
