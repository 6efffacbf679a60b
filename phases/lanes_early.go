package phases

import (
	"path"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// BegunUpon is what a step builds on that begins before that is accepted.
type BegunUpon struct {
	Phase   string // whose review it does not wait for
	Written int    // number of the attempt that wrote what is reviewed
	Code    string // commit with the code of that; "": the branch has it
}

// EarlyStart is a step that may begin before what it builds on is accepted.
type EarlyStart struct {
	Decision
	Upon BegunUpon
	Seen metadata.Run // as the record would be if that were accepted: agents are told what it says
}

// Ahead gives the steps that may begin while reviews are at work or about to be, in a
// pipeline with speculate: true: the first steps of whole phases that nothing else keeps.
func EarlyStarts(plan *pipelines.Pipeline, run metadata.Run) (all []EarlyStart) {
	if !plan.Speculate || MergeRequested(run) || len(OpenConflicts(run)) > 0 {
		return nil
	}
	due := Due(plan, run)
	for _, review := range due {
		rec := run.Phase(review.Phase)
		if review.Do != DoReview || !review.Calls() || rec.Task != "" || rec.ChecksFail() {
			continue
		}
		upon := BegunUpon{Phase: rec.Name, Written: rec.Written}
		if rec.Lane != nil {
			upon.Code = rec.Lane.Head
		}
		seen := accepted(run, rec.Name)
		for _, d := range Due(plan, seen) {
			known := slices.ContainsFunc(due, func(other Decision) bool { return other.Phase == d.Phase })
			if !known && d.Do == DoExecute && d.Calls() && mayBegin(plan, run, d.Phase, upon) && fits(plan, seen, d.Phase, nil) {
				if d.Why.Code() == "not_begun" {
					d.Why = metadata.Because("early_begun", "phase", rec.Name)
				}
				all = append(all, EarlyStart{d, upon, seen})
			}
		}
	}
	return all
}

// StillEarly reports whether a step that was decided on is to be done in a record that others have
// changed since, upon what it was to build on.
func StillEarly(plan *pipelines.Pipeline, run metadata.Run, d Decision, upon BegunUpon) bool {
	same := func(now Decision) bool { return now.Phase == d.Phase && now.Do == d.Do }
	if upon.Phase == "" {
		return slices.ContainsFunc(Due(plan, run), same)
	}
	return slices.ContainsFunc(EarlyStarts(plan, run), func(e EarlyStart) bool { return same(e.Decision) && e.Upon == upon })
}

// accepted gives the record as it would be if the review of a phase had passed.
func accepted(run metadata.Run, phase string) metadata.Run {
	run = run.Clone()
	rec, at := run.Phase(phase), run.UpdatedAt
	rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseCompleted, "", &at
	rec.Accepted, rec.Lane = rec.Digest, nil
	return run
}

// mayBegin reports whether a phase may begin before another one is accepted: nothing but
// that review decides whether and how it is done.
func mayBegin(plan *pipelines.Pipeline, run metadata.Run, phase string, upon BegunUpon) bool {
	p, rec := plan.Phase(phase), run.Phase(phase)
	switch {
	case rec.Task != "", p.SkipIf != nil, run.ExternalDocuments[phase] != "":
		return false
	case rec.Lane != nil && rec.Lane.Ahead != upon.Written:
		return false
	case plan.Update == MergeBeforeCode && p.Access == pipelines.AccessTree && ConflictMender(plan, run) == "":
		return false // the base is merged before it begins
	}
	return !slices.ContainsFunc(plan.Rules, func(r pipelines.Rule) bool { return r.After == upon.Phase && decides(r.Then, phase) })
}

// decides reports whether what a rule does once the phase before is accepted may keep
// another one from being done as it is begun.
func decides(then pipelines.Then, phase string) bool {
	switch {
	case then.Skip != "", then.Rollback != nil:
		return false // there is no review then, or all that builds on it is taken back
	case then.Drop != nil:
		return slices.Contains(then.Drop, phase)
	case then.Split != "":
		return then.Split == pipelines.NextPhase || string(then.Split) == phase
	}
	return true
}

// AtOnce is how many steps of a run can be at work at the same time, of the jobs there are.
func AtOnce(plan *pipelines.Pipeline, run metadata.Run, jobs int) int {
	several := slices.ContainsFunc(run.Phases, func(rec metadata.Phase) bool {
		return rec.Task != "" && rec.Status != metadata.PhaseCompleted && rec.Status != metadata.PhaseSkipped
	})
	if several || plan.Parallel {
		return jobs
	}
	return min(jobs, 2) // a review, and what begins meanwhile
}

// inVain gives the attempts of a run at work that was given up, because it was begun before
// what it builds on was accepted, and that was not.
func inVain(run metadata.Run) (all []metadata.Attempt) {
	type work struct {
		phase      string
		generation int
	}
	given := map[work]bool{}
	for _, d := range run.Decisions {
		if d.Step == metadata.GivenUp && d.Attempt > 0 && d.Attempt <= len(run.Attempts) {
			given[work{d.Phase, run.Attempts[d.Attempt-1].Generation}] = true
		}
	}
	for _, a := range run.Attempts {
		if given[work{a.Phase, a.Generation}] {
			all = append(all, a)
		}
	}
	return all
}

// SpentInVain gives what those attempts have cost, and how long they took.
func SpentInVain(run metadata.Run) (usd float64, took time.Duration) {
	for _, a := range inVain(run) {
		usd, took = usd+a.Usage.USD, took+time.Duration(a.DurationMS)*time.Millisecond
	}
	return usd, took
}

// GivenUpFiles gives the artifacts of phases that have not begun again since work on them was given
// up, or the folders of those that had nothing else in them.
func GivenUpFiles(plan *pipelines.Pipeline, run metadata.Run) (files []string) {
	for _, a := range inVain(run) {
		rec, p := run.Phase(a.Phase), plan.Phase(a.Phase)
		if rec == nil || p == nil || rec.Status != metadata.PhasePending || rec.Generation != a.Generation+1 {
			continue
		}
		file := PhaseFolder(run, p)
		if a.Generation > 0 { // of earlier work something was kept there
			file = path.Join(file, p.Writes)
		}
		files = append(files, file)
	}
	return files
}
