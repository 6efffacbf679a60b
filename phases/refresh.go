package phases

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Refresh gives the plan and the record of a run that goes on with a pipeline
// as it is defined now. What is done stays done, in the folder it lies in; new
// phases are pending; a phase that the new pipeline does not have any more is
// left as it is if it is completed, and skipped if it is not, because the
// history names it; once a pipeline has it again, it is pending. An allowance
// that a person gave stays. A completed run that has new phases runs again. No
// argument is changed.
func Refresh(old, now *pipelines.Pipeline, run metadata.Run, at time.Time) (*pipelines.Pipeline, metadata.Run) {
	run = run.Clone()
	plan := *now
	plan.Phases, plan.Spare = slices.Clone(now.Phases), slices.Clone(now.Spare)
	var list metadata.Phases
	for i := range plan.Phases {
		p := &plan.Phases[i]
		rec := run.Phase(p.Name)
		if rec == nil {
			list = append(list, metadata.Phase{Name: p.Name, Status: metadata.PhasePending})
			continue
		}
		if rec.Status == metadata.PhaseSkipped && old.Phase(p.Name) == nil && !skippedByHand(run, p.Name) {
			comeBack(rec) // it was left out because the pipeline did not have it
		}
		stay(old, p, rec)
		list = append(list, *rec)
	}
	for i, rec := range run.Phases {
		if p := plan.Phase(rec.Name); p != nil && plan.IsSpare(rec.Name) && indexOf(list, rec.Name) < 0 {
			stay(old, p, &rec)
			list = slices.Insert(list, behind(list, run.Phases[:i]), rec)
		}
	}
	for _, rec := range run.Phases {
		if plan.Phase(rec.Name) != nil || rec.Status == metadata.PhasePending && !named(run, rec.Name) {
			continue
		}
		if rec.Status != metadata.PhaseCompleted {
			rec.Status, rec.CurrentStep = metadata.PhaseSkipped, ""
		}
		list = append(list, rec)
	}
	run.Phases = list
	if plan.Phase(run.CurrentPhase) == nil {
		run.CurrentPhase = plan.Phases[0].Name
	}
	open := slices.IndexFunc(list, func(p metadata.Phase) bool { return p.Status == metadata.PhasePending })
	if run.Status == metadata.Completed && open >= 0 {
		run.Status, run.CurrentPhase, run.AllowanceFrom = metadata.Running, list[open].Name, len(run.Attempts)
	}
	run.Language = plan.Language
	run.Budget = keepAllowed(budgetOf(old), run.Budget, budgetOf(&plan))
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "refresh", Why: metadata.Because("pipeline_refreshed")})
	return &plan, touch(run, at)
}

// IssueTaken is the step of a decision to take the issue anew.
const IssueTaken = "refresh-issue"

// TakeIssue gives the record of a run that goes on with its issue as it reads
// now. What is done stays done; sessions that know the old text are not gone on
// with. Changed says what reads otherwise.
func TakeIssue(run metadata.Run, now metadata.Issue, changed metadata.Reason, by string, at time.Time) metadata.Run {
	run = run.Clone()
	run.Issue, run.IssueTitle = now, now.Title
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: IssueTaken, Why: metadata.Because("issue_taken", "changed", changed), By: by})
	return touch(run, at)
}

// issueTaken is when the issue was last taken anew; zero if it never was.
func issueTaken(run metadata.Run) time.Time {
	for _, d := range slices.Backward(run.Decisions) {
		if d.Step == IssueTaken {
			return d.At
		}
	}
	return time.Time{}
}

// keepAllowed gives the limits of a pipeline as it is defined now, but for those
// that a person has changed: they are not what the old definition says.
func keepAllowed(old, run, now metadata.Budget) metadata.Budget {
	now.Since = run.Since
	if run.USD != old.USD {
		now.USD = run.USD
	}
	if run.IssueUSD != old.IssueUSD {
		now.IssueUSD = run.IssueUSD
	}
	if run.Tokens != old.Tokens {
		now.Tokens = run.Tokens
	}
	if run.Seconds != old.Seconds {
		now.Seconds = run.Seconds
	}
	if run.Attempts != old.Attempts {
		now.Attempts = run.Attempts
	}
	return now
}

// stay keeps a phase that has begun where its files lie.
func stay(old *pipelines.Pipeline, p *pipelines.Phase, rec *metadata.Phase) {
	if before := old.Phase(p.Name); before != nil && rec.Status != metadata.PhasePending {
		p.Folder, p.Writes = before.Folder, before.Writes
	}
}

// skippedByHand reports whether a person has left a phase out.
func skippedByHand(run metadata.Run, phase string) bool {
	return slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Step == "skip" && d.Phase == phase })
}

// behind gives the place in a list after the last of some phases that it has.
func behind(list, before metadata.Phases) int {
	for _, rec := range slices.Backward(before) {
		if i := indexOf(list, rec.Name); i >= 0 {
			return i + 1
		}
	}
	return 0
}

func indexOf(list metadata.Phases, name string) int {
	return slices.IndexFunc(list, func(p metadata.Phase) bool { return p.Name == name })
}

// named reports whether the history of a run speaks of a phase.
func named(run metadata.Run, phase string) bool {
	for _, a := range run.Attempts {
		if a.Phase == phase {
			return true
		}
	}
	for _, r := range run.RollbackHistory {
		if r.ToPhase == phase || r.FromPhase == phase {
			return true
		}
	}
	for _, d := range run.Decisions {
		if d.Phase == phase {
			return true
		}
	}
	return false
}
