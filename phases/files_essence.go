package phases

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// The most of a run's history that a diagnosis is told.
const (
	lastAttempts  = 12
	lastRollbacks = 5
	maxReview     = 8000 // characters, of one phase
	maxOutput     = 2000 // characters, of one check
)

// Essence is what a diagnosis has to know about a run. Its length does not
// grow with the history.
func Essence(run metadata.Run) string {
	c := prompts.Words(run.Language)
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	line(c.Shown("state now", "status", c.Word("statuses", string(run.Status)), "phase", run.CurrentPhase))
	if s := run.Stop; s != nil {
		line(c.Shown("state stopped", "code", s.Code, "why", OneLine(s.Why.In(c))))
	}
	b.WriteString("\n## " + c.Shown("state phases") + "\n\n")
	for i := range run.Phases {
		rec := &run.Phases[i]
		line(c.Shown("state phase", "phase", rec.Name, "status", c.Word("statuses", string(rec.Status)), "revises", rec.RetryCount,
			"reviews", rec.Round, "back", rec.Generation, "verdict", cmp.Or(c.Word("verdicts", rec.ReviewResult), c.Say("none"))))
	}
	b.WriteString("\n## " + c.Shown("state attempts") + "\n\n")
	for _, a := range run.Attempts[max(len(run.Attempts)-lastAttempts, 0):] {
		line(c.Shown("state attempt", "n", a.N, "phase", a.Phase, "step", c.Word("steps", string(a.Step)),
			"result", TruncateText(fmt.Sprintf("%s %s %s", c.Word("statuses", string(a.Status)), a.Code, OneLine(a.Why.In(c))))))
	}
	if n := len(run.RollbackHistory); n > 0 {
		b.WriteString("\n## " + c.Shown("state rollbacks", "n", n) + "\n\n")
	}
	for _, r := range run.RollbackHistory[max(len(run.RollbackHistory)-lastRollbacks, 0):] {
		line(c.Shown("state rollback", "from", r.FromPhase, "to", r.ToPhase, "step", c.Word("steps", string(r.ToStep)),
			"trigger", c.Word("tell.triggers", string(r.TriggeredBy)), "reason", OneLine(r.Reason)))
	}
	for i := range run.Phases {
		writeOpen(&b, c, &run.Phases[i])
	}
	return b.String()
}

// standing writes what is open about a phase.
func writeOpen(b *strings.Builder, c prompts.Catalogue, rec *metadata.Phase) {
	if !HasOpenPoints(rec) {
		return
	}
	if rec.Verdict != nil {
		fmt.Fprintf(b, "\n%s", CutText(WrittenReview(c.Language, rec), maxReview))
	}
	if !rec.ChecksFail() {
		return
	}
	for _, x := range rec.Checks.Results {
		if !x.Pass {
			head := c.Shown("state check", "check", x.Name, "phase", rec.Name, "run", x.Run, "code", x.ExitCode)
			fmt.Fprintf(b, "\n%s\n\n%s\n", head, CutText(x.Output, maxOutput))
		}
	}
}
