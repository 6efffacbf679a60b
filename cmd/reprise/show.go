package main

import (
	"io"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// showOptions says how reports are printed to a terminal, or to whatever else
// standard output is: then without colour, and nothing is cut.
func showOptions(env environment) viewOptions {
	o := viewOptions{Color: wantsColor(env.getenv, isTerminal(env.stdout))}
	o.Width, _, _ = sizeOf(env.stdout)
	return o
}

// report prints what the show functions say.
type report struct {
	printer
	width int
}

func newReport(w io.Writer, o viewOptions) report {
	return report{printer{w, palette(o.Color)}, o.Width}
}

// heading begins a part.
func (r report) heading(text string) {
	r.line("")
	r.line("%s", r.bold(text))
}

// table prints a table, indented. It is never cut.
func (r report) table(t *table, indent string) {
	for _, l := range t.lines() {
		r.line("%s%s", indent, l)
	}
}

// text prints text from outside line by line, indented. It is never cut.
func (r report) text(text, indent string) {
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		r.line("%s%s", indent, flat(l))
	}
}

// words prints a word of the record, such as in_progress, as people write it.
func words[S ~string](s S) string { return flat(strings.ReplaceAll(string(s), "_", " ")) }

// clock prints a time for people; a time that is missing as a dash.
func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// titled prints what the run is about.
func (r report) titled(plan *pipelines.Pipeline, run metadata.Run) {
	r.line("%s", r.bold(cut("#"+flat(run.IssueNumber)+" "+flat(run.IssueTitle), r.width)))
	name := run.Pipeline.Name
	if name == "" {
		name = plan.Name
	}
	r.line("%s", r.faint(joined(" · ", "pipeline "+flat(name), "branch "+flat(run.BranchName), flat(run.PRURL))))
}
