package main

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// asksPeople gives the commands that tell a run what it waits to be told.
func asksPeople(plan *pipelines.Pipeline, run metadata.Run) []string {
	id := flat(run.IssueNumber)
	var lines []string
	for _, q := range phases.Questions(run) {
		lines = append(lines, fmt.Sprintf("reprise answer --issue %s --question %s --text TEXT", id, flat(q.ID)))
	}
	if phase, _, _, ok := phases.Approval(plan, run); ok {
		lines = append(lines, "reprise approve --issue "+id)
		if back, ok := phases.Proposed(plan, run); ok {
			lines = append(lines, fmt.Sprintf("reprise rollback --issue %s --to-phase %s --to-step %s --reason=%s", id, flat(back.To), back.Step, quoteShell(flat(back.Reason))))
		}
		lines = append(lines, fmt.Sprintf("reprise reject --issue %s --phase %s --reason TEXT", id, flat(phase)))
	}
	return lines
}

// questions prints what a run waits for an answer to.
func (r report) questions(run metadata.Run) {
	open := phases.Questions(run)
	if len(open) == 0 {
		return
	}
	r.heading("Questions")
	for _, q := range open {
		r.text(joined(" ", flat(q.ID), flat(q.Phase)+":", q.Text), "  ")
		for _, o := range q.Options {
			r.text("- "+o, "    ")
		}
	}
}

// approvals prints what people have approved, and whether that still holds.
func (r report) approvals(run metadata.Run) {
	t := table{}
	for _, a := range run.Approvals {
		t.add(flat(a.Phase), joined(" ", clock(a.At), prefixed("by ", a.By)), when(!phases.Stands(run, a), "void: the phase has changed since"))
	}
	if len(t.rows) > 0 {
		r.heading("Approved")
		r.table(&t, "  ")
	}
}

// tasks prints the parts of the work that phases have found.
func (r report) tasks(run metadata.Run) {
	t := table{}
	for _, x := range run.Tasks {
		t.add(flat(x.ID), flat(x.Title), prefixed("needs ", strings.Join(x.Needs, ", ")), prefixed("found by ", x.Phase))
	}
	if len(t.rows) > 0 {
		r.heading("Tasks")
		r.table(&t, "  ")
	}
}

// children prints the issues that phases have asked for, and what becomes of
// those that were not opened.
func (r report) children(plan *pipelines.Pipeline, run metadata.Run) {
	if len(run.Children) == 0 {
		return
	}
	r.heading("Issues asked for")
	left := 0
	for _, x := range run.Children {
		number := "-"
		if x.Opened() {
			number = fmt.Sprint(x.Number)
		}
		r.line("  %s", joined(" ", number, joined(", ", flat(x.Title), prefixed("asked for by ", x.Phase), flat(x.URL))))
		if x.Opened() {
			continue
		}
		left++
		if x.Body != "" {
			r.text(x.Body, "      ")
		}
	}
	if left == 0 {
		return
	}
	r.line("")
	if run.IssueURL == "" {
		r.line("  Not opened, as the issue is not on GitHub: open those that you want by hand.")
		return
	}
	r.line("  Without a number: not opened. /run on the issue opens %d of them now; a run opens", len(phases.ToOpen(plan, run)))
	r.line("  %d at most, each once its phase is completed and approved. Open others by hand.", phases.MostChildren)
}

// peopleCells are the lines of the history that are not calls: what rules did,
// what people were asked and said, and what they asked for.
func peopleCells(run metadata.Run) []happening {
	var all []happening
	add := func(h happening, sign, phase, what, text string) {
		h.cells = []string{sign, flat(phase), what, "", "", "", "", "", cut(reasons(text), 300)}
		all = append(all, h)
	}
	for _, q := range run.Questions {
		add(happening{at: q.AskedAt}, "?", q.Phase, "question", joined(": ", q.ID, q.Text))
		if q.AnsweredAt != nil {
			add(happening{at: *q.AnsweredAt}, "!", q.Phase, "answer", joined(": ", joined(" ", q.ID, prefixed("by ", q.By)), q.Answer))
		}
	}
	for _, d := range run.Decisions {
		switch d.Step {
		case "rule":
			add(happening{at: d.At}, "=", d.Phase, d.Step, phases.Say(run.Language, d.Why))
		case "changed":
			add(happening{at: d.At}, "~", d.Phase, d.Step, phases.Say(run.Language, d.Why))
		case "approve", "skip", "pause", "cancel", "retry", "refresh", phases.IssueTaken:
			why := phases.Say(run.Language, d.Why)
			if !strings.Contains(why, d.By) {
				why = joined(": ", prefixed("by ", d.By), why)
			}
			add(happening{at: d.At}, "!", d.Phase, d.Step, why)
		}
	}
	return all
}
