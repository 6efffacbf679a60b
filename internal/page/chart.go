package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/markdown"
	"github.com/reprise-ci/reprise/internal/progress"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// chart draws a run in Mermaid.
type chart struct{ writer }

// folded is the pipeline behind a fold: the list of phases says nearly the same, and
// is read on a phone.
func (w chart) folded() string {
	flow := w.flow()
	if flow == "" {
		return ""
	}
	return markdown.Details(w.Tell.Flow, flow, false)
}

// flow draws the pipeline.
func (w chart) flow() string {
	const most = 60 // more phases cannot be read
	if len(w.rows) == 0 || len(w.rows) > most {
		return ""
	}
	return "```mermaid\n" + progress.Mermaid(w.plan, &w.run) + "```"
}

// timeline draws when each attempt was made, and how it ended.
func (w chart) timeline() string {
	chart := gantt(w.rows, w.run, w.Steps)
	if chart == "" {
		return ""
	}
	out := "```mermaid\n" + chart + "```"
	if len(w.run.Attempts) > maxBars {
		out += "\n\n" + w.Tell.OnlyLast(maxBars)
	}
	return out
}

// maxBars is how many attempts a chart can show so that people can read it.
const maxBars = 120

// gantt draws the newest attempts of a run as a Gantt chart in Mermaid, by
// phase; "" if there are none that can be drawn. Steps names the steps.
func gantt(rows []progress.Row, run metadata.Run, steps map[string]string) string {
	bars := map[string][]string{}
	for _, a := range run.Attempts[max(len(run.Attempts)-maxBars, 0):] {
		if bar := barOf(a, run.UpdatedAt, steps); bar != "" {
			bars[a.Phase] = append(bars[a.Phase], bar)
		}
	}
	var b strings.Builder
	for _, r := range rows {
		if len(bars[r.Rec.Name]) > 0 {
			fmt.Fprintf(&b, "  section %d %s\n%s", r.Number, text.Cut(progress.Label(r.Rec.Name), 40), strings.Join(bars[r.Rec.Name], ""))
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
	return fmt.Sprintf("  %d %s :%s, %s, %ds\n", a.N, text.Cut(progress.Label(step), 20), barTag(a.Status), start.Format(time.DateTime), min(max(seconds, 1), longest))
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
