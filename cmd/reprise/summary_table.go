package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// cell makes text from outside fit for a cell of a table in Markdown. There a
// bar ends a cell even within code, so code becomes plain text.
func cell(text string, limit int) string {
	return inline(strings.NewReplacer("`", "'", "|", "/").Replace(brief(text, limit)), limit)
}

// grid is a table in Markdown. The cells are Markdown fit for it. Align has a
// letter for each column: l or r.
func grid(align string, head []string, rows [][]string) []string {
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
		if i < len(align) && align[i] == 'r' {
			rule[i] = "--:"
		}
	}
	var lines []string
	for _, r := range slices.Concat([][]string{head, rule}, rows) {
		lines = append(lines, "| "+strings.Join(r, " | ")+" |")
	}
	return lines
}

// phaseTable has a row for each phase.
func (c commenter) phaseTable() string {
	var rows [][]string
	for _, r := range c.rows {
		attempts, spent, took := "", "", ""
		if r.Attempts > 0 {
			attempts, spent = fmt.Sprint(r.Attempts), usd(r.USD)
		}
		if r.Took > 0 {
			took = c.Duration(r.Took)
		}
		rows = append(rows, []string{
			statusSign(r.Rec.Status), cell(r.Rec.Name, 60), cell(c.word(c.Statuses, string(r.Rec.Status)), 40), attempts,
			cell(c.word(c.Verdicts, r.Rec.ReviewResult), 40), took, spent,
		})
	}
	if len(rows) == 0 {
		return ""
	}
	head := []string{"", c.Phase, c.Status, c.Attempts, c.Tell.Verdict, c.Tell.Took, c.Cost}
	return c.within(100_000, grid("lllrlrr", head, rows))
}

// timeline draws when each attempt was made, and how it ended.
func (c commenter) timeline() string {
	chart := gantt(c.rows, c.run, c.Steps)
	if chart == "" {
		return ""
	}
	out := "```mermaid\n" + chart + "```"
	if len(c.run.Attempts) > maxBars {
		out += "\n\n" + c.Tell.OnlyLast(maxBars)
	}
	return out
}

// maxBars is how many attempts a chart can show so that people can read it.
const maxBars = 120

// gantt draws the newest attempts of a run as a Gantt chart in Mermaid, by
// phase; "" if there are none that can be drawn. Steps names the steps.
func gantt(rows []row, run metadata.Run, steps map[string]string) string {
	bars := map[string][]string{}
	for _, a := range run.Attempts[max(len(run.Attempts)-maxBars, 0):] {
		if bar := barOf(a, run.UpdatedAt, steps); bar != "" {
			bars[a.Phase] = append(bars[a.Phase], bar)
		}
	}
	var b strings.Builder
	for _, r := range rows {
		if len(bars[r.Rec.Name]) > 0 {
			fmt.Fprintf(&b, "  section %d %s\n%s", r.Number, cut(labelled(r.Rec.Name), 40), strings.Join(bars[r.Rec.Name], ""))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "gantt\n  dateFormat YYYY-MM-DD HH:mm:ss\n  axisFormat %H:%M\n  todayMarker off\n" + b.String()
}

// barOf is the line of an attempt, to the second; "" if its time is none that
// a chart could show. One that is open lasts until now.
func barOf(a metadata.Attempt, now time.Time, steps map[string]string) string {
	const longest = 7 * 24 * 3600
	start := a.StartedAt.UTC()
	if y := start.Year(); y < 1970 || y > 9999 {
		return ""
	}
	seconds := a.DurationMS / 1000
	if a.Status == metadata.Started {
		seconds = int64(now.Sub(start) / time.Second)
	}
	step := string(a.Step)
	if s, ok := steps[step]; ok {
		step = s
	}
	return fmt.Sprintf("  %d %s :%s, %s, %ds\n", a.N, cut(labelled(step), 20), barTag(a.Status), start.Format(time.DateTime), min(max(seconds, 1), longest))
}

// barTag gives the colour of a bar.
func barTag(s metadata.AttemptStatus) string {
	switch s {
	case metadata.Succeeded:
		return "done"
	case metadata.Started:
		return "active"
	}
	return "crit"
}
