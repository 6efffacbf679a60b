package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// screen is all that the live picture shows.
type screen struct {
	viewOptions
	Height   int // of the terminal in lines; 0 if unknown
	Run      metadata.Run
	Now      time.Time
	Began    time.Time // when this process took up the run
	Doing    *news     // the step under way
	Since    time.Time // when it began
	Activity string
	Extra    metadata.Usage // of the step under way
	Frame    int            // of the spinner
	Stopped  *news
	Closed   bool // nothing moves any more
}

// take lets an event change the screen, and gives the lines that it leaves
// above.
func (s *screen) take(e phases.Event) []string {
	if s.Began.IsZero() {
		s.Began = e.At
	}
	if e.Activity == nil {
		s.Run = e.Run.Clone() // it is drawn by another goroutine
	}
	if e.At.After(s.Now) {
		s.Now = e.At
	}
	var lines []string
	for _, n := range newsOf(s.Plan, e) {
		switch n.Event {
		case "begin":
			s.Doing, s.Since, s.Activity, s.Extra = &n, e.At, "", metadata.Usage{}
			if n.Again || n.DelayMS > 0 || n.TakenBack != "" {
				lines = append(lines, s.past(n)...)
			}
		case "activity":
			if s.Doing == nil || s.Doing.Phase != n.Phase || s.Doing.Step != n.Step {
				s.Doing, s.Since = &n, e.At
			}
			if n.Activity != "" {
				s.Activity = flat(n.Activity)
			}
			s.Extra = e.Activity.Usage
		case "end":
			s.Doing, s.Activity, s.Extra = nil, "", metadata.Usage{}
			lines = append(lines, s.past(n)...)
		case "stop":
			s.Stopped, s.Doing = &n, nil
			lines = append(lines, s.past(n)...)
		}
	}
	return lines
}

// past is what an event leaves above the picture.
func (s *screen) past(n news) []string {
	if n.Event == "stop" {
		return []string{stopLine(n, palette(s.Color))}
	}
	p := palette(s.Color)
	lines := []string{p.faint(joined(" ", flat(n.Phase), flat(n.Step))) + " " + happened(n, p)}
	if n.Event == "end" {
		for _, d := range n.details() {
			lines = append(lines, "  - "+d)
		}
		for _, l := range n.output(false) {
			lines = append(lines, "  "+p.faint("| "+l))
		}
	}
	return lines
}

// render draws a screen: what runs, every phase, and the step under way. No
// line is wider than the terminal and the picture is not higher.
func render(s screen) string {
	p, width := palette(s.Color), s.Width
	rows := rowsOf(whole(s.Plan), s.Run)
	lines := s.header(p)
	below := s.under(p)
	lines = append(lines, s.phaseLines(rows, p, s.Height-len(lines)-len(below))...)
	lines = append(lines, below...)
	for i, l := range lines {
		if width > 0 {
			lines[i] = ansi.Truncate(l, width, "")
		}
	}
	return strings.Join(lines, "\n")
}

// header says what runs, and what it has used.
func (s screen) header(p palette) []string {
	if s.Run.IssueNumber == "" {
		return []string{p.faint("starting")}
	}
	title := cut("#"+flat(s.Run.IssueNumber)+" "+flat(s.Run.IssueTitle), s.Width)
	run := s.Run
	run.Cost.USD += s.Extra.USD
	tokens := allTokens(run.Cost) + s.Extra.InputTokens + s.Extra.OutputTokens
	facts := joined(" · ", took(s.Now.Sub(s.Began)), spent(run), tokenCount(tokens)+" tokens")
	names := joined(" · ", flat(run.Pipeline.Name), flat(run.BranchName))
	lines := []string{p.bold(title)}
	if s.Width > 0 && ansi.StringWidth(facts+" · "+names) > s.Width {
		return append(lines, p.faint(cut(names, s.Width)), p.faint(cut(facts, s.Width)))
	}
	return append(lines, p.faint(facts+" · "+names))
}

// phaseLines draws the phases. Where there is no room for all, those that are
// done are left out first, then the last ones.
func (s screen) phaseLines(rows []row, p palette, room int) []string {
	t := table{align: "lrrrl"}
	for _, r := range rows {
		t.add(s.phaseCells(r)...)
	}
	lines := t.lines()
	for i, r := range rows {
		lines[i] = tint(p, r.Rec.Status, cut(lines[i], s.Width))
	}
	if s.Height == 0 || len(lines) <= room {
		return lines
	}
	notes := room >= 3 // of what is left out
	if notes {
		room -= 2
	}
	room = min(max(room, 0), len(rows))
	first := 0
	for first < len(rows)-room && (rows[first].Rec.Status == metadata.PhaseCompleted || rows[first].Rec.Status == metadata.PhaseSkipped) {
		first++
	}
	if first > 0 && room > 1 {
		first-- // one that is done shows where the run comes from
	}
	last := first + room
	shown := lines[first:last:last]
	if notes && first > 0 {
		shown = append([]string{p.faint(fmt.Sprintf("  %d before", first))}, shown...)
	}
	if left := len(rows) - last; notes && left > 0 {
		shown = append(shown, p.faint(fmt.Sprintf("  %d more", left)))
	}
	return shown
}

func (s screen) phaseCells(r row) []string {
	sign := statusSign(r.Rec.Status)
	if s.Doing != nil && s.Doing.Phase == r.Rec.Name {
		sign = s.spinner()
	}
	cells := []string{sign + " " + flat(r.Rec.Name), "", "", "", ""}
	if r.Attempts > 0 {
		cells[2], cells[3] = usd(r.USD), took(r.Took)
		if s.Width == 0 || s.Width >= 60 {
			cells[1] = plural(r.Attempts, "call")
		}
	}
	switch {
	case r.Rec.Status == metadata.PhaseSkipped || r.Rec.Status == metadata.PhaseFailed:
		cells[4] = words(r.Rec.Status)
	case r.Rec.Status == metadata.PhaseInProgress && r.Rec.RollbackContext != nil:
		cells[4] = "taken back"
	case r.round() > 1:
		cells[4] = fmt.Sprintf("round %d", r.round())
	}
	return cells
}

// under shows the step under way: who does it, for how long, and what now.
func (s screen) under(p palette) []string {
	if s.Doing == nil || s.Closed {
		return nil
	}
	n := s.Doing
	who := flat(n.Agent)
	if model := flat(n.Model); model != "" {
		who += " (" + model + ")"
	}
	if who == "" {
		who = "reprise" // it runs checks itself
	}
	elapsed := s.Now.Sub(s.Since)
	line := joined(" · ", joined(" ", s.spinner(), flat(n.Phase), flat(n.Step)), took(elapsed.Truncate(time.Second)), who)
	if wait := time.Duration(n.DelayMS)*time.Millisecond - elapsed; wait > 0 {
		line += " · waits " + took(wait.Truncate(time.Second)+time.Second)
	}
	lines := []string{"", p.cyan(cut(line, s.Width))}
	if s.Activity != "" {
		lines = append(lines, p.faint(cut("  "+s.Activity, s.Width)))
	}
	return lines
}

func (s screen) spinner() string {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	if s.Closed {
		return statusSign(metadata.PhaseInProgress)
	}
	return string(frames[s.Frame%len(frames)])
}

// statusSign is a sign for where a phase stands, one cell wide.
func statusSign(s metadata.PhaseStatus) string {
	switch s {
	case metadata.PhaseCompleted:
		return "✓"
	case metadata.PhaseInProgress:
		return "▸"
	case metadata.PhaseFailed:
		return "✗"
	case metadata.PhaseSkipped:
		return "–"
	}
	return "·"
}

func tint(p palette, s metadata.PhaseStatus, text string) string {
	switch s {
	case metadata.PhaseCompleted:
		return p.green(text)
	case metadata.PhaseInProgress:
		return p.bold(text)
	case metadata.PhaseFailed:
		return p.red(text)
	}
	return p.faint(text)
}
