package terminal

import (
	"io"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// ShowRollback prints what a rollback changes: the phases before and after,
// what the next agent is told, the entry of the history, and every file.
func ShowRollback(w io.Writer, plan *pipelines.Pipeline, back phases.RollbackPlan, o Options) {
	r, plan := rollbackReport{NewReport(w, o).In(back.Run.Language)}, view.Whole(plan)
	e := back.Entry
	r.prose(r.Bold(r.Shown("rollback", "way", r.withAsker(r.wayBack(e), e))))
	r.Line("")
	r.beforeAndAfter(view.RowsOf(plan, back.Before), view.RowsOf(plan, back.Run))
	r.context(back.Run.Phase(e.ToPhase))
	r.entry(e, len(back.Before.RollbackHistory))
	r.moves(back.Moves)
	r.restored(back.Paths)
	r.Heading(r.Shown("writes", "file", text.Flat(back.ReasonFile)))
	r.Text(string(phases.WrittenReason(back)), "  ")
	r.Line("") // what comes then is no part of the reason
}

// rollbackReport shows what a rollback changes.
type rollbackReport struct{ Report }

// beforeAndAfter prints the phases; the ones that change are marked.
func (r rollbackReport) beforeAndAfter(before, after []view.Row) {
	t := text.Table{}
	t.Add("   "+r.Shown("phase column"), r.Shown("before"), r.Shown("after"))
	for _, b := range before {
		was, is := r.where(b.Rec), r.where(view.RowOf(after, b.Rec.Name).Rec)
		sign := map[bool]string{true: "   ", false: "*  "}[was == is]
		t.Add(sign+text.Flat(b.Rec.Name), was, text.If(was != is, "-> "+is))
	}
	r.joined(&t, "")
}

// where says where a phase stands.
func (r rollbackReport) where(p metadata.Phase) string {
	return r.list(r.status(string(p.Status)), r.step(p.CurrentStep),
		text.If(p.RetryCount > 0, r.Shown("revises", "n", p.RetryCount)), r.about("verdict", "verdict", r.verdict(p.ReviewResult)))
}

// context prints what the phase keeps for the next agent.
func (r rollbackReport) context(p *metadata.Phase) {
	if p == nil || p.RollbackContext == nil {
		return
	}
	c := p.RollbackContext
	r.Heading(r.Shown("told first"))
	r.Text(c.Reason, "  ")
	t := text.Table{}
	if d := c.Details; d != nil && d.BlockerCount+d.SuggestionCount > 0 {
		t.Add(r.Shown("open then"), r.list(r.Shown("blockers", "n", d.BlockerCount), r.Shown("suggestions", "n", d.SuggestionCount)))
	}
	if d := c.Details; d != nil {
		t.Add(r.Shown("tests"), r.list(text.FlatAll(d.AffectedTests)...))
	}
	t.Add(r.Shown("review"), text.Flat(c.ReviewResult))
	r.facts(&t, "  ")
}

// entry prints the line that the history gains.
func (r rollbackReport) entry(e metadata.Rollback, n int) {
	r.Heading(r.Shown("entry", "n", n+1))
	t := text.Table{}
	t.Add(r.Shown("clock column"), text.Clock(e.Timestamp))
	t.Add(r.Shown("from row"), r.at(e.FromPhase, e.FromStep))
	t.Add(r.Shown("to row"), r.at(e.ToPhase, e.ToStep))
	t.Add(r.Shown("triggered"), text.Join(" ", WordFor(r.C, "tell.triggers", string(e.TriggeredBy)), text.If(e.By != "", "("+text.Flat(e.By)+")")))
	t.Add(r.Shown("comment"), text.Flat(e.CommentURL))
	r.facts(&t, "  ")
}

func (r rollbackReport) moves(moves map[string]string) {
	if len(moves) == 0 {
		return
	}
	r.Heading(r.Shown("set aside"))
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		r.Hung("  ", text.Flat(from)+" -> "+text.Flat(moves[from]))
	}
}

func (r rollbackReport) restored(paths []string) {
	if len(paths) == 0 {
		return
	}
	r.Heading(r.Shown("restored"))
	for _, p := range paths {
		r.Line("  %s", text.Flat(p))
	}
}
