package phases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// wake lets a run that waits for a person go on. A run that a person has ended goes on only when it is started again.
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

// NothingToApprove says that a run that is at a phase waits for no approval.
func NothingToApprove(run metadata.Run, phase string) metadata.Reason {
	if run.Status == metadata.Running {
		return metadata.Because("nothing_to_approve_at", "phase", phase)
	}
	return metadata.Because("nothing_to_approve", "status", run.Status, "phase", phase)
}

// Approve gives the record after a person has approved a phase as it stands; with an empty name the first that the
// run waits at. Whatever changes that phase later voids it. An error says why there is nothing to approve.
func Approve(of Course, c Command) (metadata.Run, error) {
	waits, role, _, ok := Approval(of, c.Phase)
	switch {
	case c.Phase != "" && of.Run.Phase(c.Phase) == nil:
		return of.Run, &UnknownPhase{Phase: c.Phase, Known: of.Run.Phases.Names()}
	case !ok && edited(of) != "":
		return of.Run, Refuse(metadata.Because("approve_after_review", "file", edited(of)))
	case !ok:
		return of.Run, Refuse(NothingToApprove(of.Run, At(of)))
	case c.Phase == "" && len(Approvals(of)) > 1:
		return of.Run, Refuse(metadata.Because("which_approval", "phases", Approvals(of), "first", waits))
	case c.Phase != "" && c.Phase != waits:
		return of.Run, Refuse(metadata.Because("approve_another", "phase", c.Phase, "other", waits))
	case isAmong(approvedBy(of.Run, of.Run.Phase(waits), role), c.By):
		return of.Run, Refuse(metadata.Because("approved_already", "phase", waits, "by", metadata.Said(c.By)))
	}
	of.Run = of.Run.Clone()
	rec := of.Run.Phase(waits)
	of.Run.Approvals = append(of.Run.Approvals, metadata.Approval{
		Phase: waits, Generation: rec.Generation, Attempt: rec.Written, Touched: rec.Touched, Digest: digestOf(rec), Role: role, By: c.By, Comment: c.Comment, At: c.At,
	})
	if why := advised(rec); why != "" && len(approvedBy(of.Run, rec, role)) >= max(1, of.Plan.Phase(waits).Approvers) {
		return Cancel(of.Run, metadata.Because("given_up", "reason", why), c.At)
	}
	switch still := needed(of, of.Plan.Phase(waits), rec); {
	case still.Code == metadata.AwaitingPerson && of.Run.Stop != nil && of.Run.Stop.Phase == waits: // for others
		of.Run.Stop.Why = still.Why
	case !paused(of.Run):
		wake(&of.Run)
	}
	return touch(of.Run, c.At), nil
}

// Answer gives the record after a person has answered a question: the one with that id, or with an empty id the only
// open one, or what an agent said that brought no result. The run goes on once none of that phase is open. An error
// says which questions there are.
func Answer(run metadata.Run, id, text string, c Command) (metadata.Run, error) {
	var ids []string
	for _, q := range Questions(run) {
		ids = append(ids, q.ID)
	}
	text = strings.TrimSpace(text)
	if q := unasked(run); len(ids) == 0 && q != nil && text != "" {
		run = run.Clone()
		run.Questions = append(run.Questions, *q)
		run.AllowanceFrom, ids = len(run.Attempts), []string{q.ID}
	}
	switch {
	case text == "":
		return run, Refuse(metadata.Because("answer_empty"))
	case len(ids) == 0:
		return run, Refuse(metadata.Because("no_question"))
	case id == "" && len(ids) > 1:
		return run, Refuse(metadata.Because("which_question", "questions", ids))
	case id != "" && !slices.Contains(ids, id):
		return run, Refuse(metadata.Because("another_question", "question", id, "questions", ids))
	}
	id, run = cmp.Or(id, ids[0]), run.Clone()
	held := paused(run)
	q := &run.Questions[slices.IndexFunc(run.Questions, func(q metadata.Question) bool { return q.ID == id })]
	q.Answer, q.By, q.AnsweredAt = text, c.By, &c.At
	switch unanswered := Questions(run); {
	case held:
	case len(openQuestions(run, run.Phase(q.Phase))) == 0:
		wake(&run)
	case run.Stop != nil && run.Stop.Code == metadata.AwaitingPerson:
		run.Stop.Why = whyAsks(unanswered)
	}
	return touch(run, c.At), nil
}

// Pause gives the record of a run that a person has halted. Starting it again goes on.
func Pause(run metadata.Run, why metadata.Reason, at time.Time) (metadata.Run, error) {
	if run.Status != metadata.Running && run.Status != metadata.Interrupted {
		return run, Refuse(metadata.Because("nothing_to_pause", "status", run.Status))
	}
	return stopped(run, metadata.Waiting, metadata.AwaitingPerson, why, at), nil
}

// Skip gives the record of a run that leaves a phase out. A phase that others need cannot be left out before them.
func Skip(c Course, phase string, at time.Time) (metadata.Run, error) {
	c.Run = c.Run.Clone()
	rec := c.Run.Phase(phase)
	switch {
	case rec == nil || c.Plan.Phase(phase) == nil:
		return c.Run, &UnknownPhase{Phase: phase, Known: c.Run.Phases.Names()}
	case rec.Status == metadata.PhaseCompleted:
		return c.Run, Refuse(metadata.Because("skip_completed", "phase", phase))
	case rec.Status == metadata.PhaseSkipped:
		return c.Run, Refuse(metadata.Because("skipped_already", "phase", phase))
	}
	var need []string
	for _, other := range c.Run.Phases {
		p := c.Plan.Phase(other.Name)
		waiting := other.Status != metadata.PhaseCompleted && other.Status != metadata.PhaseSkipped
		if p != nil && waiting && (slices.Contains(p.Needs, phase) || PartNeeds(&c.Run, &other, phase)) {
			need = append(need, other.Name)
		}
	}
	if len(need) > 0 {
		return c.Run, Refuse(metadata.Because("skip_needed", "phase", phase, "phases", need))
	}
	if whole := WholeOf(rec); whole != "" && len(PartsOf(&c.Run, whole)) == 1 {
		return c.Run, Refuse(metadata.Because("skip_last_part", "part", phase, "phase", whole))
	}
	for _, rec := range withParts(&c.Run, phase) {
		if rec.Status == metadata.PhaseCompleted {
			continue // a part whose work is there
		}
		rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseSkipped, "", nil
		rec.RollbackContext = nil
		leaveLane(rec)
		forgetChildren(&c.Run, func(name string) bool { return name == rec.Name })
		if c.Run.Stop != nil && c.Run.Stop.Phase == rec.Name {
			wake(&c.Run)
		}
	}
	return touch(c.Run, at), nil
}

// approver gives the role of the person who has to approve a phase before the run goes on, and why.
func approver(p *pipelines.Phase, run metadata.Run, rec *metadata.Phase) (role string, why metadata.Reason) {
	role, why = stronger(p.Approve, rec.Approve), rec.Ask
	if len(rec.Opened) > 0 {
		role, why = stronger(role, "maintain"), metadata.All(why, metadata.Because("approval_opened", "paths", OpenedPaths(rec.Opened)))
	}
	given := len(approvedBy(run, rec, role))
	if role == "" || given >= max(1, p.Approvers) {
		return "", ""
	}
	why = cmp.Or(why, metadata.Because("approval_by_pipeline"))
	if p.Approvers > 1 {
		why = metadata.All(why, metadata.Because("approvals_given", "n", given, "count", p.Approvers))
	}
	return role, why
}

// demand asks for the approval of a phase by a person with at least this role,
// in addition to what is asked for already.
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
	return slices.Index(metadata.Roles(), role) + 1
}

// stronger gives the higher of two roles.
func stronger(a, b string) string {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// approvedBy gives the people with at least a role who have approved a phase as it
// stands now. New work is a new attempt even if the artifact is the same, and a
// rollback begins a new generation: each ends approvals.
func approvedBy(run metadata.Run, rec *metadata.Phase, role string) (people []string) {
	for _, a := range run.Approvals {
		if a.Phase == rec.Name && Stands(run, a) && (a.Role == "" || rank(a.Role) >= rank(role)) && !isAmong(people, a.By) {
			people = append(people, a.By)
		}
	}
	return people
}

// isAmong reports whether a person is one of some, however GitHub's login is spelled.
func isAmong(people []string, login string) bool {
	return slices.ContainsFunc(people, func(p string) bool { return strings.EqualFold(p, login) })
}

// Stands reports whether an approval is for its phase as it is now.
func Stands(run metadata.Run, a metadata.Approval) bool {
	rec := run.Phase(a.Phase)
	return rec != nil && a.Generation == rec.Generation && a.Attempt == rec.Written && a.Touched == rec.Touched && a.Digest == digestOf(rec)
}

// digestOf is what an approval is bound to: the artifact or, if the phase has
// written none, the attempt alone; and what is asked for at protected paths.
func digestOf(rec *metadata.Phase) string {
	return cmp.Or(rec.Digest, "none") + openedDigest(rec.Opened)
}

// ToPlace gives what a run has to change at protected paths now that a person has approved
// it: what the newest approval is about, if the phase needs no other one.
func ToPlace(c Course) []metadata.Opened {
	if len(c.Run.Approvals) == 0 {
		return nil
	}
	rec := c.Run.Phase(c.Run.Approvals[len(c.Run.Approvals)-1].Phase)
	if rec == nil || c.Plan.Phase(rec.Name) == nil {
		return nil
	}
	if role, _ := approver(c.Plan.Phase(rec.Name), c.Run, rec); role != "" {
		return nil
	}
	return Opens(c.Plan, rec)
}

// Opens gives what a phase asks for at protected paths that its pipeline opens still.
func Opens(plan *pipelines.Pipeline, rec *metadata.Phase) []metadata.Opened {
	return slices.DeleteFunc(slices.Clone(rec.Opened), func(o metadata.Opened) bool { return !pipelines.IsOpened(o.Path, plan.Open) })
}

// advised is why a phase advises to give up; "" if it does not.
func advised(rec *metadata.Phase) metadata.Reason {
	for _, ask := range rec.Ask.Each() {
		if ask.Code() == "gives_up" {
			return ask.Value("reason")
		}
	}
	return ""
}

// GivenUp is why a run was given up: its agent advised so, and a person approved that. "" if it was not.
func GivenUp(run metadata.Run) metadata.Reason {
	if run.Status != metadata.Cancelled || run.Stop == nil || run.Stop.Why.Code() != "given_up" {
		return ""
	}
	return run.Stop.Why.Value("reason")
}

// Approval says which phase waits for an approval, and by whom: the part of that name if it does, else the first.
// ok is false if none does.
func Approval(c Course, part string) (phase, role string, why metadata.Reason, ok bool) {
	for _, name := range Approvals(c) {
		if !ok || name == part {
			role, why = approver(c.Plan.Phase(name), c.Run, c.Run.Phase(name))
			phase, ok = name, true
		}
	}
	return phase, role, why, ok
}

// Approvals names what waits for an approval: a phase, or those of its parts that do.
func Approvals(c Course) (names []string) {
	for _, d := range Due(c) {
		rec, p := c.Run.Phase(d.Phase), c.Plan.Phase(d.Phase)
		if rec == nil || p == nil || rec.Status != metadata.PhaseCompleted || unreviewed(p, rec) {
			continue
		}
		if role, _ := approver(p, c.Run, rec); role != "" {
			names = append(names, d.Phase)
		}
	}
	return names
}

// unreviewed reports whether a completed phase has to be reviewed again before
// anything else happens, because its artifact is not what was accepted.
func unreviewed(p *pipelines.Phase, rec *metadata.Phase) bool {
	return rec.Status == metadata.PhaseCompleted && rec.Edited() && !p.NoReview
}

// edited names the first artifact that is reviewed again, or "".
func edited(c Course) string {
	for i := range c.Run.Phases {
		if p := c.Plan.Phase(c.Run.Phases[i].Name); p != nil && unreviewed(p, &c.Run.Phases[i]) {
			return p.Writes
		}
	}
	return ""
}

// Questions gives the questions that a run waits for an answer to.
func Questions(run metadata.Run) []metadata.Question {
	return slices.DeleteFunc(slices.Clone(run.Questions), func(q metadata.Question) bool {
		rec := run.Phase(q.Phase)
		return !q.Open() || rec == nil || rec.Status != metadata.PhaseInProgress || q.Generation != rec.Generation
	})
}

// unasked is what an agent said last before its run halted for want of a result, as the question that this may be;
// nil: the run has not halted for that.
func unasked(run metadata.Run) *metadata.Question {
	stop := run.Stop
	if run.Status != metadata.Waiting || stop == nil || stop.Code != metadata.NoProgress && stop.Code != metadata.OutputInvalid || run.Phase(stop.Phase) == nil {
		return nil
	}
	said := "?"
	for _, why := range stop.Why.Each() {
		if why.Code() == "last_words" {
			said = why.Value("said").Said()
		}
	}
	return &metadata.Question{
		ID: fmt.Sprintf("q%d", len(run.Questions)+1), Phase: stop.Phase, Generation: run.Phase(stop.Phase).Generation, Attempt: AttemptOf(&run, stop.Phase).N,
		Text: said, AskedAt: stop.At,
	}
}

// openQuestions gives those of one phase.
func openQuestions(run metadata.Run, rec *metadata.Phase) []metadata.Question {
	return slices.DeleteFunc(Questions(run), func(q metadata.Question) bool { return q.Phase != rec.Name })
}

// Refusal is the error for what a run does not allow in its present state.
type Refusal struct{ Reason metadata.Reason }

// Error says why not, in English.
func (e *Refusal) Error() string { return e.Reason.In(prompts.Words("en")) }

// Why says why not.
func (e *Refusal) Why() metadata.Reason { return e.Reason }

// Refuse makes a Refusal of its reason.
func Refuse(why metadata.Reason) error { return &Refusal{why} }

// UnknownPhase is the error of a phase name that the run does not have.
type UnknownPhase struct {
	Phase string
	Known []string
}

// Error names the phase and the valid ones, in English.
func (e *UnknownPhase) Error() string { return e.Why().In(prompts.Words("en")) }

// Why names the phase and the valid ones.
func (e *UnknownPhase) Why() metadata.Reason {
	return metadata.Because("no_such_phase", "phase", e.Phase, "phases", e.Known)
}
