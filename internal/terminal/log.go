package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// logView prints lines: one when a step begins, one when it ends, and under it what has to
// change; or each event as a JSON object. It reads well in the log of a CI job.
type logView struct {
	mu    sync.Mutex
	p     text.Printer
	o     Options
	begun bool // it has printed something
	open  bool // a group of what an agent does is
	doing underWays
	timer *time.Timer
}

// Report prints what there is to tell about e: what agents do only if that was asked for.
// Above the first line for people it says once what the times are.
func (v *logView) Report(e engine.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range newsOf(v.o.Plan, e) {
		v.follow(n)
		switch {
		case n.Event == "activity" && (!v.o.Verbose || n.Activity == "" && !v.o.JSON):
		case v.o.JSON:
			LogJSON(v.p.W, n)
		default:
			if !v.begun {
				v.begun = true
				v.p.Line("%s", v.p.Faint(n.Shown("clock column")))
			}
			v.show(n)
		}
	}
}

// show prints news, where the page of a job can fold lines, in groups: what stands below a result
// is one whose title is that result, and so is what an agent does, while it does it.
func (v *logView) show(n news) {
	lines, acts := plainLines(n, v.o.Plan, v.p.Palette, v.o.Verbose), n.Event == "activity"
	if group := v.o.Group; group != nil {
		switch {
		case acts && !v.open:
			group(text.Flat(text.Join(" ", n.Phase, n.Step, n.Agent)))
		case v.open && !acts:
			group("")
		}
		v.open = acts
	}
	if v.o.Group != nil && len(lines) > 1 {
		title, below := lines[0], lines[1:]
		if n.Because != "" { // the words of others are no part of a workflow command
			n.Because, below = "", lines
			title = plainLines(n, v.o.Plan, v.p.Palette, false)[0]
		}
		v.o.Group(strings.TrimSpace(title))
		v.print(below)
		v.o.Group("")
		return
	}
	v.print(lines)
}

func (v *logView) print(lines []string) {
	for _, l := range lines {
		v.p.Line("%s", l)
	}
}

// beatEvery is how long a log stays silent while something is at work: services that run
// jobs, and people, take silence for the end.
const beatEvery = time.Minute

// follow takes note of news. It is called with the view locked.
func (v *logView) follow(n news) {
	switch at := v.doing.at(n.Phase); n.Event {
	case "activity":
		if at >= 0 {
			v.doing[at].Activity = n.Activity
		}
		if at < 0 || !v.o.Verbose {
			return // nothing is printed, so it is as silent as before
		}
	case "begin":
		v.doing = v.doing.with(underWay{news: n, since: time.Now()})
	default:
		v.doing = v.doing.without(n.Phase)
	}
	v.rest()
	if n.Event == "stop" || len(v.doing) == 0 || v.o.JSON {
		v.doing = nil
		return
	}
	v.timer = time.AfterFunc(beatEvery, v.beat)
}

// rest ends the telling, until the next step. It is called with the view locked.
func (v *logView) rest() {
	if v.timer != nil {
		v.timer.Stop()
	}
}

// beat prints a line about each step under way.
func (v *logView) beat() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.doing {
		n, took := w.news, time.Since(w.since)
		n.Event, n.Time, n.DurationMS = "at work", n.Time.Add(took), took.Milliseconds()
		v.print(plainLines(n, v.o.Plan, v.p.Palette, false))
	}
	if len(v.doing) > 0 { // else the last one ended just now
		v.timer.Reset(beatEvery)
	}
}

// Close ends what the view does by itself. Every line is out already.
func (v *logView) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.doing = nil
	v.rest()
}

// widthsOf gives how wide what stands before the text of a line is.
func widthsOf(plan *pipelines.Pipeline) (number, phase, agent int) {
	for _, p := range plan.Phases {
		phase = max(phase, ansi.StringWidth(text.Flat(p.Name)))
	}
	for name := range plan.Agents {
		agent = max(agent, ansi.StringWidth(text.Flat(name)))
	}
	return 2*len(fmt.Sprint(len(plan.Phases))) + 1, phase, agent
}

// plainLines prints news: one line, then the details, indented. With all it has
// also what programs printed where nothing went wrong.
func plainLines(n news, plan *pipelines.Pipeline, p text.Palette, all bool) []string {
	at := p.Faint(n.Time.Format("15:04:05"))
	if n.Event == "stop" {
		return []string{at + "  " + stopLine(n, p)}
	}
	number, phase, agent := widthsOf(plan)
	head := at + "  " + strings.Join([]string{
		fmt.Sprintf("%*s", number, text.If(n.Number > 0, fmt.Sprintf("%d/%d", n.Number, n.Phases))),
		text.Pad(text.Flat(n.Phase), phase), text.Pad(text.Pad(text.Flat(n.Step), len("execute"))+"  "+text.Flat(n.Agent), len("execute  ")+agent), // a longer step is none of an agent
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
		return p.Faint("… " + text.Join(": ", n.Logged("at work", "time", text.Duration(time.Duration(n.DurationMS)*time.Millisecond)), text.Cut(text.Flat(n.Activity), 120)))
	case "activity":
		return p.Faint("… " + text.Cut(text.Flat(n.Activity), 200))
	case "merge", phases.SkipStep:
		return "= " + text.Cut(text.Flat(n.Because.In(n.Catalogue)), 300)
	}
	text := n.result()
	if stats := n.stats(); stats != "" {
		text += p.Faint(" (" + stats + ")")
	}
	return mark(n, p) + " " + text
}

func startLine(n news, p text.Palette) string {
	why := text.Cut(text.Flat(n.Because.In(n.Catalogue)), 300)
	if n.TakenBack != "" {
		taken := p.Yellow(n.Logged("taken back", "reason", text.Cut(text.Flat(n.TakenBack), 300)))
		if n.Because.Code() == "taken_back" {
			why = ""
		}
		why = text.Join("; ", taken, why)
	}
	verb := n.Logged("starts")
	switch {
	case n.DelayMS > 0:
		verb = n.Logged("waits", "time", text.Duration(time.Duration(n.DelayMS)*time.Millisecond))
	case n.Resumed:
		verb = n.Logged("resumes")
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
	case good && slices.ContainsFunc(n.Checks, func(c checkNews) bool { return c.FailsBefore }):
		return p.Yellow("–") // red before the work
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
	body := n.Logged("total", "done", t.Completed, "phases", n.Phases, "attempts", t.Attempts,
		"tokens", text.Tokens(t.Tokens), "usd", t.CostShort(), "time", text.Duration(time.Duration(t.DurationMS)*time.Millisecond))
	if n.Status == string(metadata.Completed) {
		return p.Green("✓ "+n.Logged("completed")) + ": " + body
	}
	ended := text.Flat(n.Word("statuses", n.Status))
	if n.Code != "" && string(n.Code) != n.Status && n.Status != string(metadata.Interrupted) { // which is no cancelling
		ended += " (" + text.Flat(string(n.Code)) + ")"
	}
	where := text.Flat(text.Join(" ", n.Phase, n.Step))
	if where != "" {
		where = n.Logged("at", "where", where)
	}
	sign := p.Yellow("! " + ended)
	if n.Status == string(metadata.Failed) {
		sign = p.Red("✗ " + ended)
	}
	return text.Join(": ", text.Join(" ", sign, where), text.If(!n.said, text.Cut(text.Flat(n.Because.In(n.Catalogue)), 300))) + "; " + body
}

// unfinishedLog is the last line of the JSON log: where a process has left the run. It is
// there also where nothing was to do.
type unfinishedLog struct {
	Time   time.Time       `json:"time"`
	Event  string          `json:"event"` // left
	Issue  string          `json:"issue"`
	Phase  string          `json:"phase,omitempty"`
	Why    string          `json:"why,omitempty"`
	Status metadata.Status `json:"status"`
	Code   metadata.Code   `json:"reason_code,omitempty"`
	Branch string          `json:"branch,omitempty"`
	Head   string          `json:"head_sha,omitempty"`
	Next   []string        `json:"next,omitempty"` // commands that take the run further
}

// LogSummary ends the JSON log with where a run is, and its result. Of a rehearsal
// nothing is left that could be gone on with.
func LogSummary(w io.Writer, at time.Time, is metadata.Status, s view.Summary, rehearsed bool) {
	l := unfinishedLog{Time: at.UTC(), Event: "left", Issue: s.Issue, Phase: s.Phase, Why: s.Error, Status: is, Code: s.Code}
	if !rehearsed {
		l.Branch, l.Head, l.Next = s.Branch, s.Head, s.Next
	}
	LogJSON(w, l)
}

// LogJSON prints one line of the JSON log. What cannot be told or written never
// stops the work.
func LogJSON(w io.Writer, v any) {
	if line, err := json.Marshal(v); err == nil {
		_, _ = w.Write(append(text.EscapeJSON(line), '\n'))
	}
}
