package terminal

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// PlainView prints a line when a step begins, one when it ends, and under it
// what has to change. It reads well in the log of a CI job.
type PlainView struct {
	mu    sync.Mutex
	P     text.Printer
	O     Options
	pulse pulse
	begun bool // it has printed something
}

// Report prints what there is to tell about e.
func (v *PlainView) Report(e engine.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for n := range v.printed(e) {
		v.print(plainLines(n, columnsOf(v.O.Plan), v.P.Palette, v.O.Verbose))
	}
}

// printed gives the news of e that the view prints: what agents do only if that was asked for.
// Above the first it says once what its times are.
func (v *PlainView) printed(e engine.Event) iter.Seq[news] {
	return func(yield func(news) bool) {
		for _, n := range newsOf(v.O.Plan, e) {
			v.follow(n)
			if n.Event == "activity" && (!v.O.Verbose || n.Activity == "") {
				continue
			}
			if !v.begun {
				v.begun = true
				v.P.Line("%s", v.P.Faint(n.words().Shown("clock column")))
			}
			if !yield(n) {
				return
			}
		}
	}
}

func (v *PlainView) print(lines []string) {
	for _, l := range lines {
		v.P.Line("%s", l)
	}
}

// Close ends what the view does by itself. Every line is out already.
func (v *PlainView) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rest()
}

// columns are the widths of what stands before the text of a line.
type columns struct{ number, phase, agent int }

func columnsOf(plan *pipelines.Pipeline) columns {
	c := columns{number: 2*len(fmt.Sprint(len(plan.Phases))) + 1}
	for _, p := range plan.Phases {
		c.phase = max(c.phase, ansi.StringWidth(text.Flat(p.Name)))
	}
	for name := range plan.Agents {
		c.agent = max(c.agent, ansi.StringWidth(text.Flat(name)))
	}
	return c
}

// plainLines prints news: one line, then the details, indented. With all it has
// also what programs printed where nothing went wrong.
func plainLines(n news, c columns, p text.Palette, all bool) []string {
	at := p.Faint(n.Time.Format("15:04:05"))
	if n.Event == "stop" {
		return []string{at + "  " + stopLine(n, p)}
	}
	number := ""
	if n.Number > 0 {
		number = fmt.Sprintf("%d/%d", n.Number, n.Phases)
	}
	head := at + "  " + strings.Join([]string{
		strings.Repeat(" ", max(c.number-len(number), 0)) + number,
		text.Pad(text.Flat(n.Phase), c.phase), text.Pad(text.Flat(n.Step), len("execute")), text.Pad(text.Flat(n.Agent), c.agent),
	}, "  ")
	return append([]string{head + "  " + happened(n, p)}, n.below("          ", p, all)...)
}

// below gives the lines under that of an end, indented: the details, then what programs printed.
func (n news) below(indent string, p text.Palette, all bool) (lines []string) {
	if n.Event != "end" {
		return nil
	}
	for _, d := range n.details() {
		lines = append(lines, indent+"- "+d)
	}
	for _, l := range n.output(all) {
		lines = append(lines, indent+p.Faint("| "+l))
	}
	return lines
}

// happened is the text of a line: what begins and why, or what came out.
func happened(n news, p text.Palette) string {
	switch n.Event {
	case "begin":
		return startLine(n, p)
	case "at work":
		return p.Faint("… " + text.Join(": ", n.words().Logged("at work", "time", text.Duration(time.Duration(n.DurationMS)*time.Millisecond)), text.Cut(text.Flat(n.Activity), 120)))
	case "activity":
		return p.Faint("… " + text.Cut(text.Flat(n.Activity), 200))
	case "merge", phases.SkipStep:
		return "= " + text.Cut(text.Flat(n.Because.In(n.words())), 300)
	}
	text := n.result()
	if stats := n.stats(); stats != "" {
		text += p.Faint(" (" + stats + ")")
	}
	return mark(n, p) + " " + text
}

func startLine(n news, p text.Palette) string {
	c := n.words()
	why := text.Cut(text.Flat(n.Because.In(c)), 300)
	if n.TakenBack != "" {
		taken := p.Yellow(c.Logged("taken back", "reason", text.Cut(text.Flat(n.TakenBack), 300)))
		if n.Because.Code() == "taken_back" {
			why = ""
		}
		why = text.Join("; ", taken, why)
	}
	verb := c.Logged("starts")
	switch {
	case n.DelayMS > 0:
		verb = c.Logged("waits", "time", text.Duration(time.Duration(n.DelayMS)*time.Millisecond))
	case n.Resumed:
		verb = c.Logged("resumes")
	}
	return p.Cyan("> ") + text.Join(": ", verb, why)
}

// mark shows at a glance how an attempt ended.
func mark(n news, p text.Palette) string {
	good := n.Status == string(metadata.Succeeded) && n.Verdict != metadata.Fail
	for _, c := range n.Checks {
		good = good && (c.Pass || c.FailsBefore)
	}
	switch {
	case n.Code == metadata.AwaitingPerson:
		return p.Yellow("?") // nothing is wrong: it has a question
	case good:
		return p.Green("✓")
	case n.Status == string(metadata.Succeeded):
		return p.Yellow("✗")
	}
	return p.Red("✗")
}

// stopLine says how the run ended.
func stopLine(n news, p text.Palette) string {
	t := n.Total
	c := n.words()
	body := c.Logged("total", "done", t.Completed, "phases", n.Phases, "attempts", t.Attempts,
		"tokens", text.Tokens(t.Tokens), "usd", text.USD(t.USD), "time", text.Duration(time.Duration(t.DurationMS)*time.Millisecond))
	if n.Status == string(metadata.Completed) {
		return p.Green("✓ "+c.Logged("completed")) + ": " + body
	}
	ended := text.Flat(c.Word("statuses", n.Status))
	if n.Code != "" && string(n.Code) != n.Status && n.Status != string(metadata.Interrupted) { // which is no cancelling
		ended += " (" + text.Flat(string(n.Code)) + ")"
	}
	where := text.Flat(text.Join(" ", n.Phase, n.Step))
	if where != "" {
		where = c.Logged("at", "where", where)
	}
	sign := p.Yellow("! " + ended)
	if n.Status == string(metadata.Failed) {
		sign = p.Red("✗ " + ended)
	}
	return text.Join(": ", text.Join(" ", sign, where), text.Cut(text.Flat(n.Because.In(c)), 300)) + "; " + body
}
