package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// screen is all that the live picture shows.
type screen struct {
	Options
	Height  int // of the terminal in lines; 0 if unknown
	Run     metadata.Run
	Now     time.Time
	Began   time.Time // when this process took up the run
	Doing   underWays // never changed in place, as another goroutine draws it
	Frame   int       // of the spinner
	Stopped *news
	Closed  bool // nothing moves any more
}

// underWay is a step that is at work, of which there is one for each phase or part.
type underWay struct {
	news
	since    time.Time
	activity string // harmless
	used     metadata.Usage
}

// underWays are steps in the order in which they began, one for each phase at most.
type underWays []underWay

// with gives them with another one, in the place of the one of its phase before.
func (all underWays) with(w underWay) underWays { return append(all.without(w.Phase), w) }

// without gives the steps of other phases.
func (all underWays) without(phase string) underWays {
	return slices.DeleteFunc(slices.Clone(all), func(w underWay) bool { return w.Phase == phase })
}

// at finds the step of a phase, or gives -1.
func (all underWays) at(phase string) int {
	return slices.IndexFunc(all, func(w underWay) bool { return w.Phase == phase })
}

// take lets an event change the screen, and gives the lines that it leaves
// above.
func (s *screen) take(e engine.Event) (lines []string) {
	if s.Began.IsZero() {
		s.Began = e.At
	}
	if e.Activity == nil {
		s.Run = e.Run.Clone() // it is drawn by another goroutine
	}
	if e.At.After(s.Now) {
		s.Now = e.At
	}
	for _, n := range newsOf(s.Plan, e) {
		switch n.Event {
		case "begin":
			s.Doing = s.Doing.with(underWay{news: n, since: e.At})
			if n.Again || n.DelayMS > 0 || n.TakenBack != "" {
				lines = append(lines, s.past(n)...)
			}
		case "activity":
			if i := s.Doing.at(n.Phase); i < 0 || s.Doing[i].Step != n.Step {
				s.Doing = s.Doing.with(underWay{news: n, since: e.At})
			}
			s.Doing = slices.Clone(s.Doing)
			w := &s.Doing[s.Doing.at(n.Phase)]
			w.used, w.activity = e.Activity.Usage, cmp.Or(text.Flat(n.Activity), w.activity)
			if n.Activity != "" && s.Verbose {
				lines = append(lines, s.past(n)...)
			}
		case phases.SkipStep, "end":
			s.Doing = s.Doing.without(n.Phase)
			lines = append(lines, s.past(n)...)
		case "merge":
			lines = append(lines, happened(n, text.Palette(s.Color)))
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
		n.said = true // below the picture, where somebody is asked or told how to go on
		return []string{stopLine(n, text.Palette(s.Color))}
	}
	p := text.Palette(s.Color)
	line := p.Faint(text.Join(" ", text.Flat(n.Phase), text.Flat(n.Step))) + " " + happened(n, p)
	return append([]string{line}, n.below("  ", p, false)...)
}

// render draws a screen: what runs, every phase, and the step under way. No
// line is wider than the terminal and the picture is not higher.
func render(s screen) string {
	p, width := text.Palette(s.Color), s.Width
	lines := s.header(p)
	below := s.under(p)
	lines = append(lines, s.phaseLines(view.StateOf(phases.On(s.Plan, s.Run)).Rows, p, s.Height-len(lines)-len(below))...)
	lines = append(lines, below...)
	for i, l := range lines {
		if width > 0 {
			lines[i] = ansi.Truncate(l, width, "")
		}
	}
	return strings.Join(lines, "\n")
}

// header says what runs, and what it has used.
func (s screen) header(p text.Palette) []string {
	if s.Run.IssueNumber == "" {
		return []string{p.Faint("starting")}
	}
	title := text.Cut(text.IssueHead(s.Run.IssueNumber, s.Run.IssueTitle), s.Width)
	run := s.Run
	tokens := phases.SpentOf(run).Tokens
	for _, w := range s.Doing {
		run.Cost.USD += w.used.USD
		tokens += w.used.InputTokens + w.used.OutputTokens
	}
	facts := text.Join(" · ", text.Duration(s.Now.Sub(s.Began)), view.Spent(run), prompts.Words(run.Language).Logged("tokens", "n", text.Tokens(tokens)))
	names := text.Join(" · ", text.Flat(run.Pipeline.Name), text.Flat(run.BranchName))
	lines := []string{p.Bold(title)}
	if s.Width > 0 && ansi.StringWidth(facts+" · "+names) > s.Width {
		return append(lines, p.Faint(text.Cut(names, s.Width)), p.Faint(text.Cut(facts, s.Width)))
	}
	return append(lines, p.Faint(facts+" · "+names))
}

// phaseLines draws the phases. Where there is no room for all, those that are
// done are left out first, then the last ones.
func (s screen) phaseLines(rows []view.Row, p text.Palette, room int) []string {
	t := text.Table{Align: "lrrrl"}
	for _, r := range rows {
		t.Add(s.phaseCells(r)...)
	}
	lines := t.Lines()
	for i, r := range rows {
		lines[i] = tint(p, r.Colour(), text.Cut(lines[i], s.Width))
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
		shown = append([]string{p.Faint(fmt.Sprintf("  %d before", first))}, shown...)
	}
	if left := len(rows) - last; notes && left > 0 {
		shown = append(shown, p.Faint(fmt.Sprintf("  %d more", left)))
	}
	return shown
}

func (s screen) phaseCells(r view.Row) []string {
	sign := r.Sign()
	if s.Doing.at(r.Rec.Name) >= 0 {
		sign = s.spinner()
	}
	cells := []string{sign + " " + text.Flat(r.Rec.Name), "", "", "", ""}
	if r.Attempts > 0 {
		cells[2], cells[3] = r.CostShort(), text.Duration(r.Took)
		if s.Width == 0 || s.Width >= 60 {
			cells[1] = text.Plural(r.Attempts, "call")
		}
	}
	switch {
	case r.Rec.Status == metadata.PhaseSkipped || r.Rec.Status == metadata.PhaseFailed:
		cells[4] = text.Words(r.Rec.Status)
	case r.Rec.Status == metadata.PhaseInProgress && r.Rec.RollbackContext != nil:
		cells[4] = "taken back"
	case r.Round() > 1:
		cells[4] = fmt.Sprintf("round %d", r.Round())
	}
	return cells
}

// under shows the steps under way: who does each, for how long, and of a single one
// what it does now.
func (s screen) under(p text.Palette) []string {
	if len(s.Doing) == 0 || s.Closed {
		return nil
	}
	shown := s.Doing
	if s.Height > 0 { // the phases need room, too, and have a sign for each
		shown = shown[:min(len(shown), max(s.Height/4, 1))]
	}
	lines := []string{""}
	for _, w := range shown {
		lines = append(lines, p.Cyan(text.Cut(s.workLine(w), s.Width)))
	}
	if w := s.Doing[0]; len(s.Doing) == 1 && w.activity != "" {
		lines = append(lines, p.Faint(text.Cut("  "+w.activity, s.Width)))
	}
	return lines
}

func (s screen) workLine(w underWay) string {
	who := cmp.Or(view.WithModel(text.Flat(w.Agent), text.Flat(w.Model)), "reprise") // it runs checks itself
	elapsed := s.Now.Sub(w.since)
	line := text.Join(" · ", text.Join(" ", s.spinner(), text.Flat(w.Phase), text.Flat(w.Step)), text.Duration(elapsed.Truncate(time.Second)), who)
	if wait := time.Duration(w.DelayMS)*time.Millisecond - elapsed; wait > 0 {
		line += " · waits " + text.Duration(wait.Truncate(time.Second)+time.Second)
	}
	return line
}

func (s screen) spinner() string {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	if s.Closed {
		return view.Sign(metadata.PhaseInProgress)
	}
	return string(frames[s.Frame%len(frames)])
}

func tint(p text.Palette, s metadata.PhaseStatus, text string) string {
	switch s {
	case metadata.PhaseCompleted:
		return p.Green(text)
	case metadata.PhaseInProgress:
		return p.Bold(text)
	case metadata.PhaseFailed:
		return p.Red(text)
	}
	return p.Faint(text)
}
