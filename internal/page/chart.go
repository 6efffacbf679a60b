package page

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/markdown"
	"github.com/reprise-ci/reprise/internal/progress"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// chart draws a run.
type chart struct{ writer }

// folded is the pipeline in Mermaid behind a fold: the list of phases says nearly the
// same, and is read on a phone.
func (w chart) folded() string {
	const most = 60 // more phases cannot be read
	if len(w.rows) == 0 || len(w.rows) > most {
		return ""
	}
	return markdown.Details(w.Tell.Flow, "```mermaid\n"+progress.Mermaid(w.plan, &w.run)+"```", false)
}

// columns is how wide a timeline is: more has no room on a phone.
const columns = 36

// timeline draws which phase was at work when, as bars of text: all attempts one
// after another, without the time that the run waited between them. It is written as
// a difference, which GitHub colours: what passed is green, what failed red.
func (w chart) timeline() string {
	spans, all := spansOf(w.run)
	if all == 0 {
		return ""
	}
	var lines []string
	for _, r := range w.rows {
		bar := barOf(spans[r.Rec.Name], all)
		if bar == "" {
			continue
		}
		worked := time.Duration(0)
		for _, s := range spans[r.Rec.Name] {
			worked += s.to - s.from
		}
		name, took := text.Cut(progress.Label(r.Title), columns-12), w.Duration(worked)
		gap := max(1, columns-ansi.StringWidth(name)-ansi.StringWidth(took))
		lines = append(lines, "  "+name+strings.Repeat(" ", gap)+took, barColour(w.standing(r))+" "+bar)
	}
	if len(lines) == 0 {
		return ""
	}
	return "```diff\n" + strings.Join(lines, "\n") + "\n```\n\n" + w.Tell.Bars
}

// span is an attempt among all the time that was worked.
type span struct {
	from, to time.Duration
	judges   bool // it checks or reviews
}

// spansOf gives the attempts of a run by phase, one after another, and how long they
// took together. One that is open lasts until now.
func spansOf(run metadata.Run) (of map[string][]span, all time.Duration) {
	const longest = 24 * time.Hour // of one attempt: a clock may have jumped
	of = map[string][]span{}
	for _, a := range run.Attempts {
		took := time.Duration(min(max(a.DurationMS, 0), longest.Milliseconds())) * time.Millisecond
		if a.Status == metadata.Started {
			took = min(max(run.UpdatedAt.Sub(a.StartedAt), 0), longest)
		}
		of[a.Phase] = append(of[a.Phase], span{all, all + took, a.Step == metadata.Review || a.Step == metadata.Check})
		all += took
	}
	return of, all
}

// barOf draws the attempts of a phase; each is seen, however short it was.
func barOf(spans []span, all time.Duration) string {
	bar := []rune(strings.Repeat(" ", columns))
	for _, judges := range []bool{true, false} { // work covers what judged it in the same column
		for _, s := range spans {
			if s.judges != judges {
				continue
			}
			from := min(int(float64(s.from)/float64(all)*columns), columns-1)
			to := max(from+1, int(float64(s.to)/float64(all)*columns))
			for i := from; i < min(to, columns); i++ {
				bar[i] = map[bool]rune{true: '▒', false: '█'}[judges]
			}
		}
	}
	return strings.TrimRight(string(bar), " ")
}

// barColour begins a line of a difference that GitHub colours.
func barColour(s metadata.PhaseStatus) string {
	switch s {
	case metadata.PhaseCompleted:
		return "+"
	case metadata.PhaseFailed:
		return "-"
	case metadata.PhaseInProgress:
		return "!"
	}
	return " "
}
