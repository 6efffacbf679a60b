package phases

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// approver gives the role of the person who has to approve a phase before the
// run goes on, and why; no role if nobody has to, or somebody has.
func approver(p *pipelines.Phase, run metadata.Run, rec *metadata.Phase) (role, why string) {
	switch {
	case rec.Approve != "":
		role, why = rec.Approve, rec.Ask
	case p.Approve != "":
		role = p.Approve
	}
	if role == "" || approved(run, rec) {
		return "", ""
	}
	if why == "" {
		why = "the pipeline asks for it"
	}
	return role, why
}

// approved reports whether a person has approved a phase as it stands now.
func approved(run metadata.Run, rec *metadata.Phase) bool {
	return slices.ContainsFunc(run.Approvals, func(a metadata.Approval) bool {
		return a.Phase == rec.Name && a.Generation == rec.Generation && a.Attempt == rec.Written && a.Digest == digestOf(rec)
	})
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
func Approval(plan *pipelines.Pipeline, run metadata.Run) (phase, role, why string, ok bool) {
	for i := range run.Phases {
		rec := &run.Phases[i]
		p := plan.Phase(rec.Name)
		if rec.Status == metadata.PhaseSkipped || p == nil {
			continue
		}
		if rec.Status != metadata.PhaseCompleted {
			return "", "", "", false
		}
		if role, why := approver(p, run, rec); role != "" {
			return rec.Name, role, why, true
		}
	}
	return "", "", "", false
}

// Approve gives the record after a person has approved a phase as it stands;
// with an empty name the one that the run waits at. Whatever changes that phase
// later voids it. An error says why there is nothing to approve.
func Approve(plan *pipelines.Pipeline, run metadata.Run, c Command) (metadata.Run, error) {
	waits, _, _, ok := Approval(plan, run)
	switch {
	case c.Phase != "" && run.Phase(c.Phase) == nil:
		return run, &UnknownPhase{Phase: c.Phase, Known: names(run)}
	case !ok:
		return run, fmt.Errorf("nothing waits for an approval; the run is %s at %s", run.Status, run.CurrentPhase)
	case c.Phase != "" && c.Phase != waits:
		return run, fmt.Errorf("phase %s does not wait for an approval; %s does", c.Phase, waits)
	}
	run = run.Clone()
	rec := run.Phase(waits)
	run.Approvals = append(run.Approvals, metadata.Approval{
		Phase: waits, Generation: rec.Generation, Attempt: rec.Written, Digest: digestOf(rec), By: c.By, Comment: c.Comment, At: c.At,
	})
	run.Status, run.Stop = metadata.Running, nil
	return touch(run, c.At), nil
}

// openQuestions gives the questions of a phase that nobody has answered.
func openQuestions(run metadata.Run, rec *metadata.Phase) []metadata.Question {
	return slices.DeleteFunc(slices.Clone(run.Questions), func(q metadata.Question) bool {
		return !q.Open() || q.Phase != rec.Name || q.Generation != rec.Generation
	})
}

// Answer gives the record after a person has answered a question: the one with
// that id, or with an empty id the only open one. The run goes on once none is
// open. An error says which questions there are.
func Answer(run metadata.Run, id, text string, c Command) (metadata.Run, error) {
	run = run.Clone()
	var open []*metadata.Question
	for i := range run.Questions {
		q := &run.Questions[i]
		if rec := run.Phase(q.Phase); q.Open() && rec != nil && q.Generation == rec.Generation {
			open = append(open, q)
		}
	}
	var ids []string
	for _, q := range open {
		ids = append(ids, q.ID)
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return run, fmt.Errorf("the answer is empty")
	case len(open) == 0:
		return run, fmt.Errorf("no question is open")
	case id == "" && len(open) > 1:
		return run, fmt.Errorf("several questions are open: say which one you answer: %s", strings.Join(ids, ", "))
	case id != "" && !slices.Contains(ids, id):
		return run, fmt.Errorf("no question %s is open; there is %s", id, strings.Join(ids, ", "))
	}
	at := c.At
	for _, q := range open {
		if id == "" || q.ID == id {
			q.Answer, q.By, q.AnsweredAt = text, c.By, &at
		}
	}
	if len(open) == 1 {
		run.Status, run.Stop = metadata.Running, nil
	}
	return touch(run, c.At), nil
}

// Pause gives the record of a run that a person has halted. Starting it again
// goes on.
func Pause(run metadata.Run, why string, at time.Time) (metadata.Run, error) {
	if run.Status != metadata.Running && run.Status != metadata.Interrupted {
		return run, fmt.Errorf("the run is %s: there is nothing to pause", run.Status)
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
		return run, fmt.Errorf("phase %s is completed; take it back with rollback if it is wrong", phase)
	case rec.Status == metadata.PhaseSkipped:
		return run, fmt.Errorf("phase %s is skipped already", phase)
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
		return run, fmt.Errorf("phase %s is needed by %s: skip that first, the last one first", phase, strings.Join(need, ", "))
	}
	rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseSkipped, "", nil
	rec.RollbackContext = nil
	if run.Stop != nil && run.Stop.Phase == phase {
		run.Status, run.Stop = metadata.Running, nil
	}
	return touch(run, at), nil
}
