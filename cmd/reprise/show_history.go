package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// happening is an entry of the history.
type happening struct {
	at    time.Time
	cells []string
}

// showHistory prints every attempt and every rollback of a run, what rules did
// and what people said, oldest first.
func showHistory(w io.Writer, run metadata.Run, o viewOptions) {
	out := bufio.NewWriter(w)
	defer func() { _ = out.Flush() }() // as with any other line
	r := newReport(out, o)
	var all []happening
	for _, a := range run.Attempts {
		all = append(all, happening{a.StartedAt, attemptCells(a, run.Language)})
	}
	for _, b := range run.RollbackHistory {
		all = append(all, happening{b.Timestamp, []string{
			"<-", flat(b.FromPhase), flat(string(b.FromStep)), "", "", "", "", "", joined(": ", "back "+goalLine(b), cut(reasons(b.Reason), 200)),
		}})
	}
	all = append(all, peopleCells(run)...)
	if len(all) == 0 {
		r.line("nothing has happened yet")
		return
	}
	slices.SortStableFunc(all, func(a, b happening) int { return a.at.Compare(b.at) })
	t := table{align: "lrllllrrr"}
	t.add("time", "attempt", "phase", "step", "agent", "result", "tokens", "cost", "took", "")
	for _, h := range all {
		t.add(append([]string{clock(h.at)}, h.cells...)...)
	}
	r.table(&t, "")
}

func attemptCells(a metadata.Attempt, language string) []string {
	agent := flat(a.Agent)
	if model := flat(a.Model); model != "" {
		agent += " (" + model + ")"
	}
	cells := []string{
		fmt.Sprint(a.N), flat(a.Phase), flat(string(a.Step)), agent, cameTo(a),
		"", "", took(time.Duration(a.DurationMS) * time.Millisecond), "",
	}
	if n := a.Usage.InputTokens + a.Usage.OutputTokens; n > 0 {
		cells[5] = tokenCount(n)
	}
	if a.Usage.USD > 0 {
		cells[6] = usd(a.Usage.USD)
	}
	why := string(a.Class)
	if why == "" {
		why = string(a.Code)
	}
	resumed := ""
	if a.Resumed {
		resumed = "went on in its session"
	}
	cells[8] = joined("; ", joined(": ", words(why), cut(reasons(phases.Say(language, a.Why)), 200)), resumed)
	return cells
}

// cameTo says what an attempt came to: of one that judged the work what it
// said, of others how they ended.
func cameTo(a metadata.Attempt) string {
	if a.Verdict != "" {
		return words(a.Verdict)
	}
	return words(a.Status)
}
