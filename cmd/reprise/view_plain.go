package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// plainView prints a line when a step begins, one when it ends, and under it
// what has to change. It reads well in the log of a CI job.
type plainView struct {
	mu sync.Mutex
	p  printer
	o  viewOptions
}

// Report prints what there is to tell about e.
func (v *plainView) Report(e phases.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range newsOf(v.o.Plan, e) {
		if n.Event == "activity" && (!v.o.Verbose || n.Activity == "") {
			continue
		}
		for _, l := range plainLines(n, columnsOf(v.o.Plan), v.p.palette, v.o.Verbose) {
			v.p.line("%s", l)
		}
	}
}

// Close does nothing: every line is out already.
func (v *plainView) Close() {}

// columns are the widths of what stands before the text of a line.
type columns struct{ number, phase, agent int }

func columnsOf(plan *pipelines.Pipeline) columns {
	c := columns{number: 2*len(fmt.Sprint(len(plan.Phases))) + 1}
	for _, p := range plan.Phases {
		c.phase = max(c.phase, ansi.StringWidth(flat(p.Name)))
	}
	for name := range plan.Agents {
		c.agent = max(c.agent, ansi.StringWidth(flat(name)))
	}
	return c
}

// plainLines prints news: one line, then the details, indented. With all it has
// also what programs printed where nothing went wrong.
func plainLines(n news, c columns, p palette, all bool) []string {
	at := p.faint(n.Time.Format("15:04:05"))
	if n.Event == "stop" {
		return []string{at + "  " + stopLine(n, p)}
	}
	number := ""
	if n.Number > 0 {
		number = fmt.Sprintf("%d/%d", n.Number, n.Phases)
	}
	head := at + "  " + strings.Join([]string{
		strings.Repeat(" ", max(c.number-len(number), 0)) + number,
		padded(flat(n.Phase), c.phase), padded(flat(n.Step), len("execute")), padded(flat(n.Agent), c.agent),
	}, "  ")
	lines := []string{head + "  " + happened(n, p)}
	if n.Event == "end" {
		for _, d := range n.details() {
			lines = append(lines, "          - "+d)
		}
		for _, l := range n.output(all) {
			lines = append(lines, "          "+p.faint("| "+l))
		}
	}
	return lines
}

// happened is the text of a line: what begins and why, or what came out.
func happened(n news, p palette) string {
	switch n.Event {
	case "begin":
		return startLine(n, p)
	case "activity":
		return p.faint("… " + cut(flat(n.Activity), 200))
	}
	text := n.result()
	if stats := n.stats(); stats != "" {
		text += p.faint(" (" + stats + ")")
	}
	return mark(n, p) + " " + text
}

func startLine(n news, p palette) string {
	c := n.words()
	why := cut(flat(n.Because.In(c)), 300)
	if n.TakenBack != "" {
		taken := p.yellow(c.Logged("taken back", "reason", cut(flat(n.TakenBack), 300)))
		if n.Because.Code() == "taken_back" {
			why = ""
		}
		why = joined("; ", taken, why)
	}
	verb := c.Logged("starts")
	switch {
	case n.DelayMS > 0:
		verb = c.Logged("waits", "time", took(time.Duration(n.DelayMS)*time.Millisecond))
	case n.Resumed:
		verb = c.Logged("resumes")
	}
	return p.cyan("> ") + joined(": ", verb, why)
}

// mark shows at a glance how an attempt ended.
func mark(n news, p palette) string {
	good := n.Status == string(metadata.Succeeded) && n.Verdict != metadata.Fail
	for _, c := range n.Checks {
		good = good && c.Pass
	}
	switch {
	case n.Code == metadata.AwaitingPerson:
		return p.yellow("?") // nothing is wrong: it has a question
	case good:
		return p.green("✓")
	case n.Status == string(metadata.Succeeded):
		return p.yellow("✗")
	}
	return p.red("✗")
}

// stopLine says how the run ended.
func stopLine(n news, p palette) string {
	t := n.Total
	c := n.words()
	text := c.Logged("total", "done", t.Completed, "phases", n.Phases, "attempts", t.Attempts,
		"tokens", tokenCount(t.Tokens), "usd", usd(t.USD), "time", took(time.Duration(t.DurationMS)*time.Millisecond))
	if n.Status == string(metadata.Completed) {
		return p.green("✓ "+c.Logged("completed")) + ": " + text
	}
	ended := flat(prompts.Word(c.Statuses, n.Status))
	if n.Code != "" && string(n.Code) != n.Status && n.Status != string(metadata.Interrupted) { // which is no cancelling
		ended += " (" + flat(string(n.Code)) + ")"
	}
	where := flat(joined(" ", n.Phase, n.Step))
	if where != "" {
		where = c.Logged("at", "where", where)
	}
	sign := p.yellow("! " + ended)
	if n.Status == string(metadata.Failed) {
		sign = p.red("✗ " + ended)
	}
	return joined(": ", joined(" ", sign, where), cut(flat(n.Because.In(c)), 300)) + "; " + text
}
