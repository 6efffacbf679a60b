package phases

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Refresh gives the plan and the record of a run that goes on with a pipeline as it is defined now. What is done stays
// done, in the folder it lies in; new phases are pending; a phase that the new pipeline does not have any more is left
// as it is if it is completed, and skipped if it is not, because the history names it; once a pipeline has it again, it
// is pending. An allowance that a person gave stays. A completed run that has new phases runs again, and so does one
// that would not stop any more where it did, such as by checks that read otherwise now. No argument is changed.
func Refresh(old, now *pipelines.Pipeline, run metadata.Run, at time.Time) (*pipelines.Pipeline, metadata.Run) {
	run = run.Clone()
	plan := *now
	plan.Phases, plan.Spare = slices.Clone(now.Phases), slices.Clone(now.Spare)
	run.Phases = phasesUnder(old, &plan, run)
	for i := range run.Phases {
		rec := &run.Phases[i]
		was, is := old.Phase(rec.Name), plan.Phase(rec.Name)
		if rec.Status == metadata.PhaseFailed && rec.ChecksFail() && was != nil && is != nil && !slices.EqualFunc(was.Checks, is.Checks, sameCheck) {
			rec.Status, rec.CurrentStep, rec.RetryCount, rec.Recent = metadata.PhaseInProgress, metadata.Review, 0, nil
			rec.Checks, rec.Verdict, rec.ReviewResult = nil, nil, ""
		}
	}
	if plan.Phase(run.CurrentPhase) == nil {
		run.CurrentPhase = plan.Phases[0].Name
	}
	open := slices.IndexFunc(run.Phases, func(p metadata.Phase) bool { return p.Status == metadata.PhasePending })
	if run.Status == metadata.Completed && open >= 0 {
		run.Status, run.CurrentPhase, run.AllowanceFrom = metadata.Running, run.Phases[open].Name, len(run.Attempts)
	}
	run.Language = plan.Language
	run.Budget = keepAllowances(budgetOf(old), run.Budget, budgetOf(&plan))
	if run.Stop != nil && (run.Status == metadata.Waiting || run.Status == metadata.Failed) {
		on := run
		on.Status, on.Stop = metadata.Running, nil
		if d := Decide(On(&plan, on)); !d.Final() || d.Phase != run.Stop.Phase || d.Code != run.Stop.Code { // what it has stopped for is over
			run = on
		}
	}
	note(&run, at, "refresh", "", metadata.Because("pipeline_refreshed"))
	return &plan, touch(run, at)
}

// sameCheck reports whether two checks judge alike.
func sameCheck(a, b pipelines.Check) bool {
	return a.Name == b.Name && a.Run == b.Run && a.Timeout == b.Timeout
}

// phasesUnder gives the phases of a record for a plan as it is defined now: those
// of the plan in its order, and behind them those that only the history names.
func phasesUnder(old, plan *pipelines.Pipeline, run metadata.Run) metadata.Phases {
	var list metadata.Phases
	for i := range plan.Phases {
		p := &plan.Phases[i]
		rec := run.Phase(p.Name)
		for _, part := range run.Phases {
			if OwnsPart(p.Name, &part) {
				if part.Status == metadata.PhaseSkipped && part.Task != "" && old.Phase(p.Name) == nil && !skippedByHand(run, part.Name) && !skippedByHand(run, p.Name) {
					comeBack(&run, &part)
				}
				list = append(list, part)
			}
		}
		if rec == nil {
			list = append(list, metadata.Phase{Name: p.Name, Status: metadata.PhasePending})
			continue
		}
		if rec.Status == metadata.PhaseSkipped && old.Phase(p.Name) == nil && !skippedByHand(run, p.Name) {
			comeBack(&run, rec) // it was left out because the pipeline did not have it
		}
		keepFolder(old, p, rec, partsBegun(&run, p.Name))
		list = append(list, *rec)
	}
	for i, rec := range run.Phases {
		if p := plan.Phase(rec.Name); p != nil && plan.IsSpare(rec.Name) && indexOf(list, rec.Name) < 0 {
			keepFolder(old, p, &rec, false)
			list = slices.Insert(list, placeAfter(list, run.Phases[:i]), rec)
		}
	}
	return append(list, historic(On(plan, run))...)
}

// historic gives the phases that the plan does not have any more and that the history names.
func historic(c Course) (list metadata.Phases) {
	for _, rec := range c.Run.Phases {
		if c.Plan.Phase(rec.Name) != nil || rec.Status == metadata.PhasePending && !namesPart(c.Run, &rec) {
			continue
		}
		if rec.Status != metadata.PhaseCompleted {
			rec.Status, rec.CurrentStep = metadata.PhaseSkipped, ""
		}
		list = append(list, rec)
	}
	return list
}

// TakeIssue gives the record of a run that goes on with its issue as it reads now.
func TakeIssue(run metadata.Run, now metadata.Issue, changed metadata.Reason, by string, at time.Time) metadata.Run {
	run = run.Clone()
	run.Issue, run.IssueTitle = now, now.Title
	note(&run, at, IssueTaken, "", metadata.Because("issue_taken", "changed", changed))
	run.Decisions[len(run.Decisions)-1].By = by
	return touch(run, at)
}

// keepAllowances gives the limits of a pipeline as it is defined now.
func keepAllowances(old, run, now metadata.Budget) metadata.Budget {
	now.Since, now.EarlierUSD = run.Since, run.EarlierUSD
	now.USD, now.IssueUSD = unlessSame(old.USD, run.USD, now.USD), unlessSame(old.IssueUSD, run.IssueUSD, now.IssueUSD)
	now.Tokens, now.Seconds = unlessSame(old.Tokens, run.Tokens, now.Tokens), unlessSame(old.Seconds, run.Seconds, now.Seconds)
	now.Attempts = unlessSame(old.Attempts, run.Attempts, now.Attempts)
	return now
}

// unlessSame gives a value that is another one than it was, else the given one.
func unlessSame[T comparable](was, is, given T) T {
	if is != was {
		return is
	}
	return given
}

// keepFolder keeps the folder of a phase that has begun, itself or in part, because its files lie there.
func keepFolder(old *pipelines.Pipeline, p *pipelines.Phase, rec *metadata.Phase, inPart bool) {
	if before := old.Phase(p.Name); before != nil && (inPart || rec.Status != metadata.PhasePending) {
		p.Folder, p.Writes = before.Folder, before.Writes
	}
}

// skippedByHand reports whether a person has left a phase out.
func skippedByHand(run metadata.Run, phase string) bool {
	return slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Step == "skip" && d.Phase == phase })
}

// placeAfter gives the place in a list after the last of some phases that it has.
func placeAfter(list, before metadata.Phases) int {
	for _, rec := range slices.Backward(before) {
		if i := indexOf(list, rec.Name); i >= 0 {
			return i + 1
		}
	}
	return 0
}
