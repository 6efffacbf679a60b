package delivery

import (
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// fixing is the decision to have the work revised for what CI says.
const fixing = "ci"

// WaitsForCI reports whether a run has stopped until CI has spoken: what CI says of its
// newest commit is what decides how it goes on.
func WaitsForCI(run metadata.Run) bool {
	return run.AwaitsCI() && run.Stop != nil && (run.Stop.Code == metadata.AwaitingCI || run.Stop.Code == metadata.CIFailed)
}

// CIFixes is how often the work was revised for CI since a person spoke last.
func CIFixes(run metadata.Run) int {
	n := 0
	for _, d := range slices.Backward(run.Decisions) {
		if d.By != "" {
			break
		}
		if d.Step == fixing {
			n++
		}
	}
	return n
}

// CISpoke reports whether CI has had something to say of the work of a run before: then it will again.
func CISpoke(run metadata.Run) bool {
	return run.CI.Commit != "" || run.Stop != nil && run.Stop.Code == metadata.CIFailed ||
		slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Step == fixing })
}

// CILate reports whether what CI says of a run now is for people: it is completed, and has a pull request.
func CILate(run metadata.Run) bool {
	return run.Status == metadata.Completed && run.PRNumber > 0
}

// PassCI gives the record of a run after CI was good on a commit; empty: nothing has run there, and why not.
func PassCI(plan *pipelines.Pipeline, run metadata.Run, commit string, none metadata.Reason, at time.Time) metadata.Run {
	next := run.Clone()
	next.CI, next.Unchecked = &metadata.CI{After: len(run.Attempts), Commit: commit}, none
	next.Status, next.Stop = metadata.Running, nil
	if d := phases.Decide(plan, next); d.Final() {
		next = phases.Apply(plan, next, d, phases.Outcome{At: at})
	}
	next.Revision, next.UpdatedAt = run.Revision+1, at
	return next
}

// FixCI takes a run back to the newest phase that changes code, for what failed. Ok is
// false if no such phase has done anything.
func FixCI(plan *pipelines.Pipeline, run metadata.Run, commit string, failed []metadata.CheckResult, at time.Time) (back phases.RollbackPlan, ok bool, err error) {
	phase := changedCheck(plan, run)
	if phase == "" {
		return back, false, nil
	}
	why := metadata.Because("ci_reason", "commit", ShortCommit(commit), "names", names(failed))
	back, err = phases.PlanRollback(plan, run, phases.Rollback{
		To: phase, Step: metadata.Revise, Reason: why.In(prompts.Words(run.Language)), Trigger: metadata.Automatic, At: at,
	})
	if err != nil {
		return back, false, err
	}
	next, rec := &back.Run, back.Run.Phase(phase)
	results := failed
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		results = slices.Concat(slices.DeleteFunc(slices.Clone(rec.Checks.Results), func(c metadata.CheckResult) bool { return strings.HasPrefix(c.Name, "ci/") }), failed)
	}
	rec.Checks = &metadata.Checks{Written: rec.Written, Results: results}
	next.Decisions = append(next.Decisions, metadata.Decision{At: at, Step: fixing, Phase: phase, Why: metadata.Because("ci_red", "commit", ShortCommit(commit), "names", names(failed))})
	return back, true, nil
}

// GiveUpCI stops a run for a person, because CI still fails.
func GiveUpCI(plan *pipelines.Pipeline, run metadata.Run, commit string, failed []string, at time.Time) metadata.Run {
	next := phases.Halt(run, metadata.CIFailed, metadata.Because("ci_still_red", "commit", ShortCommit(commit), "n", CIFixes(run), "names", failed), at)
	next.Stop.Phase = changedCheck(plan, run)
	return next
}

// MissCI gives the record of a run for which the time to wait for CI is over; ok is false if no person has to see to
// it. What has begun goes on without one, since its end is an event, and so may what waits for its end; what has not
// even begun may never do so. That is said once: the run waits on as it did.
func MissCI(run metadata.Run, commit string, v CIVerdict, at time.Time) (next metadata.Run, ok bool) {
	if run.MissesCI() || run.Stop.Code != metadata.AwaitingCI || len(v.Pending) > 0 || v.AtWork {
		return run, false
	}
	next = phases.Touch(run, at)
	next.Stop.Why = metadata.Because("ci_silent", "commit", ShortCommit(commit))
	if len(v.Missing) > 0 {
		next.Stop.Why = metadata.Because("ci_absent", "commit", ShortCommit(commit), "names", v.Missing)
	}
	return next, true
}

// changed is the newest phase that may change the code and has done so.
func changedCheck(plan *pipelines.Pipeline, run metadata.Run) string {
	for _, rec := range slices.Backward(run.Phases) {
		if p := plan.Phase(rec.Name); p != nil && p.Access == pipelines.AccessTree && rec.Status == metadata.PhaseCompleted {
			return rec.Name
		}
	}
	return ""
}

func names(results []metadata.CheckResult) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Name)
	}
	return out
}

// ShortCommit is a commit as people write it.
func ShortCommit(commit string) string { return commit[:min(len(commit), 7)] }
