package page

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// columns is how wide a timeline is: more has no room on a phone.
const columns = 36

// timeline draws which phase was at work when, as bars of text, without the time that the
// run waited between them. What became of a phase is a sign before it: GitHub gives such
// a text no colours.
func (w *writer) timeline() string {
	spans, all := spansOf(w.Run)
	if all == 0 {
		return ""
	}
	var lines []string
	for _, r := range w.Rows {
		bar := barOf(spans[r.Rec.Name], all)
		if bar == "" {
			continue
		}
		worked := time.Duration(0)
		for _, s := range spans[r.Rec.Name] {
			worked += s.to - s.from
		}
		name, took := text.Cut(view.Label(r.Title), columns-12), w.Duration(worked)
		gap := max(1, columns-ansi.StringWidth(name)-ansi.StringWidth(took))
		lines = append(lines, w.square(r)+" "+name+strings.Repeat(" ", gap)+took, "   "+bar)
	}
	if len(lines) == 0 {
		return ""
	}
	return "```text\n" + strings.Join(lines, "\n") + "\n```\n\n" + w.Say("tell.bars")
}

// span is an attempt among all the time that was worked.
type span struct {
	from, to time.Duration
	judges   bool // it checks or reviews
}

// spansOf gives the attempts of a run by phase, and how long the run was at work. One that
// is open lasts until now.
func spansOf(run metadata.Run) (of map[string][]span, all time.Duration) {
	const longest = 24 * time.Hour // of one attempt: a clock may have jumped
	attempts := slices.Clone(run.Attempts)
	slices.SortStableFunc(attempts, func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	at := view.AxisOf(attempts, func(a metadata.Attempt) time.Duration {
		if a.Status == metadata.Started {
			return min(max(run.UpdatedAt.Sub(a.StartedAt), 0), longest)
		}
		return time.Duration(min(max(a.DurationMS, 0), longest.Milliseconds())) * time.Millisecond
	}, 0, 0)
	of = map[string][]span{}
	for i, a := range attempts {
		of[a.Phase] = append(of[a.Phase], span{at.Starts[i], at.Starts[i] + at.Widths[i], a.Step == metadata.Review || a.Step == metadata.Check})
	}
	return of, at.All
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
