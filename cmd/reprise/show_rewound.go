package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// showRewound prints what a rollback changes: the phases before and after,
// what the next agent is told, the entry of the history, and every file.
func showRewound(w io.Writer, plan *pipelines.Pipeline, back phases.Rewound) {
	r, plan := newReport(w, viewOptions{}), whole(plan)
	e := back.Entry
	r.line("%s", r.bold(joined(" ", "Rollback", rollbackLine(e))))
	r.line("")
	r.beforeAndAfter(rowsOf(plan, back.Before), rowsOf(plan, back.Run))
	r.context(back.Run.Phase(e.ToPhase))
	r.entry(e, len(back.Before.RollbackHistory))
	r.moves(back.Moves)
	r.restored(back.Paths)
	for _, name := range slices.Sorted(maps.Keys(back.Files)) {
		r.heading("Writes " + flat(name))
		r.text(string(back.Files[name]), "  ")
	}
}

// beforeAndAfter prints the phases; the ones that change are marked.
func (r report) beforeAndAfter(before, after []row) {
	t := table{}
	t.add("", "phase", "before", "after")
	changed := []bool{true}
	for _, b := range before {
		a := rowOf(after, b.Rec.Name)
		was, is := whereText(b.Rec), whereText(a.Rec)
		sign := " "
		if was != is {
			sign = "*"
		}
		t.add(sign, flat(b.Rec.Name), was, is)
		changed = append(changed, was != is)
	}
	for i, l := range t.lines() {
		if l = cut(l, r.width); !changed[i] {
			l = r.faint(l)
		}
		r.line("%s", l)
	}
}

// whereText says where a phase stands.
func whereText(p metadata.Phase) string {
	return joined(", ", words(p.Status), flat(string(p.CurrentStep)),
		when(p.RetryCount > 0, plural(p.RetryCount, "revise")), prefixed("review: ", words(p.ReviewResult)))
}

// context prints what the phase keeps for the next agent.
func (r report) context(p *metadata.Phase) {
	if p == nil || p.RollbackContext == nil {
		return
	}
	c := p.RollbackContext
	r.heading("What the next agent is told first")
	r.text(c.Reason, "  ")
	t := table{}
	if d := c.Details; d != nil && d.BlockerCount+d.SuggestionCount > 0 {
		t.add("open then", joined(", ", plural(d.BlockerCount, "blocker"), plural(d.SuggestionCount, "suggestion")))
	}
	if d := c.Details; d != nil {
		t.add("tests", joined(", ", flatAll(d.AffectedTests)...))
	}
	t.add("review", flat(c.ReviewResult))
	r.facts(&t, "  ")
}

// entry prints the line that the history gains.
func (r report) entry(e metadata.Rollback, n int) {
	r.heading("Entry of the history, number " + fmt.Sprint(n+1))
	t := table{}
	t.add("time", clock(e.Timestamp))
	t.add("from", joined(" ", flat(e.FromPhase), flat(string(e.FromStep))))
	t.add("to", joined(" ", flat(e.ToPhase), flat(string(e.ToStep))))
	t.add("triggered", joined(" ", flat(string(e.TriggeredBy)), prefixed("by ", e.By)))
	t.add("comment", flat(e.CommentURL))
	r.facts(&t, "  ")
}

func (r report) moves(moves map[string]string) {
	if len(moves) == 0 {
		return
	}
	r.heading("Files set aside")
	t := table{}
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		t.add(flat(from), "-> "+flat(moves[from]))
	}
	r.table(&t, "  ")
}

func (r report) restored(paths []string) {
	if len(paths) == 0 {
		return
	}
	r.heading("Taken back to what they were when the phase ended")
	for _, p := range paths {
		r.line("  %s", flat(p))
	}
}
