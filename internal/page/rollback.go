package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// RollbackReply shows what a rollback would change, without changing it: the
// phases before and after, what the next agent is told, the entry of the
// history, the files that move, and the text of each that is written.
func RollbackReply(marker string, plan *pipelines.Pipeline, back phases.RollbackPlan) string {
	r := rollback{newWriter(plan, back.Run, Notices{})}
	blocks := []string{"**" + r.Say("tell.preview") + "**", r.back(back.Entry), text.Join(" ", r.Say("tell.unchanged"), r.Say("tell.carryOut"))}
	return r.reply(marker, append(blocks, r.details(back)...))
}

// rollback shows what a rollback changes.
type rollback struct{ writer }

// details shows in detail what a rollback changes.
func (w rollback) details(back phases.RollbackPlan) []string {
	e := back.Entry
	blocks := []string{
		w.changes(view.RowsOf(w.Plan, back.Before), w.Rows), w.nextAgent(back.Run.Phase(e.ToPhase)),
		w.entry(e, len(back.Before.RollbackHistory)+1), w.moved(back.Moves), w.restored(back.Paths),
	}
	return append(blocks, clean.Details(w.Say("tell.writes", "file", text.Cut(view.Label(text.Last(back.ReasonFile)), 100)), clean.Code(clean.Truncate(back.ReasonFile, 300))+"\n\n"+clean.Fenced(clean.Truncate(string(phases.WrittenReason(back)), 20_000)), false))
}

// changes has a row for each phase, with a mark where it changes.
func (w rollback) changes(before, after []view.Row) string {
	var rows [][]string
	for _, b := range before {
		was, is := w.where(b.Rec), w.where(view.RowOf(after, b.Rec.Name).Rec)
		mark := ""
		if was != is {
			mark = "●"
		}
		rows = append(rows, []string{mark, cell(b.Rec.Name, 60), was, is})
	}
	return w.within(15_000, grid("", []string{"", w.Say("phase"), w.Say("tell.before"), w.Say("tell.after")}, rows))
}

// where says where a phase stands.
func (w rollback) where(p metadata.Phase) string {
	revises := ""
	if p.RetryCount > 0 {
		revises = fmt.Sprintf("%s %d", w.Say("tell.revises"), p.RetryCount)
	}
	verdict := ""
	if p.ReviewResult != "" {
		verdict = w.Say("tell.review") + ": " + w.word("verdicts", p.ReviewResult)
	}
	return cell(text.Join(" · ", w.word("statuses", string(p.Status)), w.word("steps", string(p.CurrentStep)), revises, verdict), 200)
}

// nextAgent is what the phase keeps for the agent that goes on with it.
func (w rollback) nextAgent(p *metadata.Phase) string {
	if p == nil || p.RollbackContext == nil {
		return ""
	}
	told := p.RollbackContext
	lines := []string{clean.Quote("**"+w.Say("tell.nextAgent")+"**", clean.Truncate(told.Reason, 4_000))}
	if d := told.Details; d != nil {
		if d.BlockerCount+d.SuggestionCount > 0 {
			lines = append(lines, "- "+w.Say("open", "blockers", d.BlockerCount, "suggestions", d.SuggestionCount))
		}
		if tests := codes(d.AffectedTests); len(tests) > 0 {
			lines = append(lines, "- "+clean.Named(w.Say("tell.tests"), w.within(3_000, tests)))
		}
	}
	if told.ReviewResult != "" {
		lines = append(lines, "- "+clean.Named(w.Say("tell.review"), clean.Code(clean.Truncate(told.ReviewResult, 300))))
	}
	return strings.Join(lines, "\n\n")
}

// entry is what the history gains, as entry n.
func (w rollback) entry(e metadata.Rollback, n int) string {
	place := func(phase string, step metadata.Step) string {
		return text.Join(" · ", clean.Inline(phase, 60), w.word("steps", string(step)))
	}
	facts := []string{
		clean.Named(w.Say("tell.time"), clean.Code(text.Clock(e.Timestamp))),
		clean.Named(w.Say("tell.from"), place(e.FromPhase, e.FromStep)),
		clean.Named(w.Say("tell.to"), place(e.ToPhase, e.ToStep)),
		clean.Named(w.Say("tell.triggered"), text.Join(" · ", w.word("tell.triggers", triggerWord(e)), clean.Code(clean.Truncate(e.By, 60)))),
		clean.Link(w.Say("tell.comment"), e.CommentURL),
	}
	lines := []string{"**" + w.Say("tell.entry", "n", n) + "**", ""}
	for _, f := range facts {
		if f != "" {
			lines = append(lines, "- "+f)
		}
	}
	return strings.Join(lines, "\n")
}

func (w rollback) moved(moves map[string]string) string {
	var items []string
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		items = append(items, "- "+clean.Code(clean.Truncate(from, 300))+" → "+clean.Code(clean.Truncate(moves[from], 300)))
	}
	return w.folded(w.Say("tell.setAside"), 8_000, items)
}

func (w rollback) restored(paths []string) string {
	var items []string
	for _, p := range codes(paths) {
		items = append(items, "- "+p)
	}
	return w.folded(w.Say("tell.restored"), 8_000, items)
}

// triggerWord is the key of the words for who or what took a run back.
func triggerWord(e metadata.Rollback) string {
	if e.TriggeredBy == metadata.Automatic && e.By != "" {
		return "asked"
	}
	return string(e.TriggeredBy)
}
