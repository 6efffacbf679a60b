package phases

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// approver gives the role of the person who has to approve a phase before the
// run goes on, and why. The role is empty if no approval is needed, or it was
// given.
func approver(p *pipelines.Phase, run metadata.Run, rec *metadata.Phase) (role string, why metadata.Reason) {
	role, why = stronger(p.Approve, rec.Approve), rec.Ask
	if len(rec.Opened) > 0 {
		role, why = stronger(role, "maintain"), metadata.All(why, metadata.Because("approval_opened", "paths", OpenedPaths(rec.Opened)))
	}
	given := len(approvedBy(run, rec, role))
	if role == "" || given >= max(1, p.Approvers) {
		return "", ""
	}
	if why == "" {
		why = metadata.Because("approval_by_pipeline")
	}
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
	return cmp.Or(rec.Digest, "none") + OpenedDigest(rec.Opened)
}

// ToPlace gives what a run has to change at protected paths now that a person has approved
// it: what the newest approval is about, if the phase needs no other one.
func ToPlace(plan *pipelines.Pipeline, run metadata.Run) []metadata.Opened {
	if len(run.Approvals) == 0 {
		return nil
	}
	rec := run.Phase(run.Approvals[len(run.Approvals)-1].Phase)
	if rec == nil || plan.Phase(rec.Name) == nil {
		return nil
	}
	if role, _ := approver(plan.Phase(rec.Name), run, rec); role != "" {
		return nil
	}
	return Opens(plan, rec)
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

// GivenUp is why a run was given up: its agent advised so, and a person approved that.
// "" if it was not.
func GivenUp(run metadata.Run) metadata.Reason {
	if run.Status != metadata.Cancelled || run.Stop == nil || run.Stop.Why.Code() != "given_up" {
		return ""
	}
	return run.Stop.Why.Value("reason")
}

// Approval says which phase waits for an approval, and by whom: the first, if
// several parts do. ok is false if none does.
func Approval(plan *pipelines.Pipeline, run metadata.Run) (phase, role string, why metadata.Reason, ok bool) {
	return ApprovalOf(plan, run, "")
}

// ApprovalOf is Approval for the part of that name, if it waits for one.
func ApprovalOf(plan *pipelines.Pipeline, run metadata.Run, part string) (phase, role string, why metadata.Reason, ok bool) {
	for _, name := range Approvals(plan, run) {
		if !ok || name == part {
			role, why = approver(plan.Phase(name), run, run.Phase(name))
			phase, ok = name, true
		}
	}
	return phase, role, why, ok
}

// Approvals names what waits for an approval: a phase, or those of its parts that do.
func Approvals(plan *pipelines.Pipeline, run metadata.Run) (names []string) {
	for _, d := range Due(plan, run) {
		rec, p := run.Phase(d.Phase), plan.Phase(d.Phase)
		if rec == nil || p == nil || rec.Status != metadata.PhaseCompleted || Unreviewed(p, rec) {
			continue
		}
		if role, _ := approver(p, run, rec); role != "" {
			names = append(names, d.Phase)
		}
	}
	return names
}

// Unreviewed reports whether a completed phase has to be reviewed again before
// anything else happens, because its artifact is not what was accepted.
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

// Questions gives the questions that a run waits for an answer to. Those of a
// phase that was taken back or left out since do not count.
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
