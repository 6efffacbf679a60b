package terminal

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// questions prints what a run waits for an answer to.
func (r statusReport) questions(run metadata.Run) {
	open := phases.Questions(run)
	if len(open) == 0 {
		return
	}
	r.Heading(r.Shown("questions"))
	for _, q := range open {
		r.Text(text.Join(" ", text.Flat(q.ID), text.Flat(q.Phase)+":", q.Text), "  ")
		for _, o := range q.Options {
			r.Text("- "+text.JoinLines(o), "    ") // or one could pass for two
		}
	}
}

// halts prints which parts of a phase do not go on, and why.
func (r statusReport) halts(plan *pipelines.Pipeline, run metadata.Run) {
	all := phases.Halts(plan, run)
	if len(all) == 0 {
		return
	}
	r.Heading(r.Shown("halted"))
	for _, d := range all {
		r.Text(text.Join(" ", text.Flat(d.Phase)+":", text.JoinLines(d.Why.In(r.C))), "  ")
	}
}

// waits prints which parts of a phase have not begun, and what for.
func (r statusReport) waits(rows []view.Row) {
	headed := false
	for _, x := range rows {
		if x.Waits == "" {
			continue
		}
		if !headed {
			r.Heading(r.Shown("waiting parts"))
		}
		headed = true
		r.Text(text.Join(" ", text.Flat(x.Rec.Name)+":", text.JoinLines(x.Waits.In(r.C))), "  ")
	}
}

// approvals prints what people have approved, and whether that still holds.
func (r statusReport) approvals(run metadata.Run) {
	t := text.Table{}
	for _, a := range run.Approvals {
		t.Add(text.Flat(a.Phase), text.Join(" ", text.Clock(a.At)+" UTC", r.about("person", "who", text.Flat(a.By))), text.If(!phases.Stands(run, a), r.Shown("void")))
	}
	if len(t.Rows) > 0 {
		r.Heading(r.Shown("approved"))
		r.Table(&t, "  ")
	}
}

// opened prints what a person is asked about at protected paths.
func (r statusReport) opened(plan *pipelines.Pipeline, run metadata.Run) {
	all := view.Opened(plan, run)
	if len(all) == 0 {
		return
	}
	r.Heading(r.Shown("opened"))
	for _, o := range all {
		for line := range strings.Lines(o.Diff) { // its spaces say something, in YAML for one
			r.Line("  %s", strings.ReplaceAll(text.Visible(strings.TrimSuffix(line, "\n")), "##[", "## ["))
		}
	}
}

// tasks prints the parts of the work that phases have found.
func (r statusReport) tasks(run metadata.Run) {
	t := text.Table{}
	for _, x := range run.Tasks {
		t.Add(text.Flat(x.ID), text.Flat(x.Title), r.about("needs", "tasks", r.list(text.FlatAll(x.Needs)...)), r.about("found by", "phase", text.Flat(x.Phase)))
	}
	if len(t.Rows) > 0 {
		r.Heading(r.Shown("tasks"))
		r.joined(&t, "  ")
	}
}

// children prints the issues that phases have asked for, and what becomes of
// those that were not opened.
func (r statusReport) children(plan *pipelines.Pipeline, run metadata.Run) {
	if len(run.Children) == 0 {
		return
	}
	r.Heading(r.Shown("issues"))
	left := 0
	for _, x := range run.Children {
		number := "-"
		if x.Opened() {
			number = fmt.Sprint(x.Number)
		}
		r.Line("  %s", text.Join(" ", number, text.Join(", ", text.Flat(x.Title), r.about("asked for by", "phase", text.Flat(x.Phase)), text.Flat(x.URL))))
		if x.Opened() {
			continue
		}
		left++
		if x.Body != "" {
			r.Text(x.Body, "      ")
		}
	}
	if left == 0 {
		return
	}
	r.Line("")
	if run.IssueURL == "" {
		r.Line("  %s", r.Shown("issues by hand"))
		return
	}
	r.Line("  %s", r.Shown("issues left", "n", len(phases.ToOpen(plan, run)), "most", phases.MostChildren))
}
