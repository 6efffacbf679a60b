package phases

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Quiet says why there is nothing about a run that an agent could diagnose, or
// "": it is still going on, or nothing stands against the work.
func Quiet(plan *pipelines.Pipeline, run metadata.Run) metadata.Reason {
	switch {
	case run.Status == metadata.Running, run.Status == metadata.Interrupted:
		return metadata.Because("run_goes_on", "status", run.Status)
	case len(begun(plan, run)) == 0:
		return metadata.Because("no_phase_begun")
	}
	for i := range run.Phases {
		if against(&run.Phases[i]) {
			return ""
		}
	}
	if run.Stop != nil && !resumable(run.Stop.Code, Start{More: Allowance{USD: 1}}) {
		return ""
	}
	if run.Stop != nil {
		return metadata.Because("nothing_against_it", "status", run.Status, "why", first(run.Stop.Why))
	}
	return metadata.Because("nothing_against", "status", run.Status)
}

// against reports whether anything is open about what a phase has written.
func against(rec *metadata.Phase) bool {
	return len(openBlockers(rec.Verdict))+len(suggestions(rec.Verdict))+len(failedGates(rec.Verdict)) > 0 || checkFails(rec)
}

// The most of a run's history that a diagnosis is told.
const (
	lastAttempts  = 12
	lastRollbacks = 5
	maxReview     = 8000 // characters, of one phase
	maxOutput     = 2000 // characters, of one check
)

// essence is what a diagnosis has to know about a run. Its length does not
// grow with the history.
func essence(run metadata.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Status: %s, at %s\n", run.Status, run.CurrentPhase)
	if s := run.Stop; s != nil {
		fmt.Fprintf(&b, "Stopped: %s: %s\n", s.Code, brief(Say(run.Language, s.Why)))
	}
	b.WriteString("\n## Phases\n\n")
	for i := range run.Phases {
		rec := &run.Phases[i]
		fmt.Fprintf(&b, "- %s: %s, revises %d, reviews %d, taken back %d times, newest review: %s\n",
			rec.Name, rec.Status, rec.RetryCount, rec.Round, rec.Generation, orNone(rec.ReviewResult))
	}
	b.WriteString("\n## Newest attempts\n\n")
	for _, a := range tail(run.Attempts, lastAttempts) {
		fmt.Fprintf(&b, "- %d %s %s: %s %s %s\n", a.N, a.Phase, a.Step, a.Status, a.Code, brief(Say(run.Language, a.Why)))
	}
	if len(run.RollbackHistory) > 0 {
		fmt.Fprintf(&b, "\n## Newest of %s\n\n", count(len(run.RollbackHistory), "rollback"))
	}
	for _, r := range tail(run.RollbackHistory, lastRollbacks) {
		fmt.Fprintf(&b, "- from %s to %s %s (%s): %s\n", r.FromPhase, r.ToPhase, r.ToStep, r.TriggeredBy, brief(r.Reason))
	}
	for i := range run.Phases {
		standing(&b, run.Language, &run.Phases[i])
	}
	return b.String()
}

// standing writes what is open about a phase.
func standing(b *strings.Builder, language string, rec *metadata.Phase) {
	if !against(rec) {
		return
	}
	if rec.Verdict != nil {
		fmt.Fprintf(b, "\n%s", limit(reviewText(language, rec), maxReview))
	}
	if !checkFails(rec) {
		return
	}
	for _, c := range rec.Checks.Results {
		if !c.Pass {
			fmt.Fprintf(b, "\nCheck %s of %s (%s) ended with %d:\n\n%s\n", c.Name, rec.Name, c.Run, c.ExitCode, limit(c.Output, maxOutput))
		}
	}
}

// tail gives the last n elements, or all.
func tail[E any](list []E, n int) []E { return list[max(len(list)-n, 0):] }

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
