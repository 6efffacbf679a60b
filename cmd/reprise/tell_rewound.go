package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// rewoundReply shows what a rollback would change, without changing it: the
// phases before and after, what the next agent is told, the entry of the
// history, the files that move, and the text of each that is written.
func rewoundReply(marker string, plan *pipelines.Pipeline, back phases.Rewound) string {
	c := newCommenter(plan, back.Run, told{})
	e := back.Entry
	blocks := []string{
		"**" + c.Tell.Preview + "**", c.back(e), joined(" ", c.Tell.Unchanged, c.Tell.CarryOut),
		c.changes(rowsOf(c.plan, back.Before), c.rows), c.nextAgent(back.Run.Phase(e.ToPhase)),
		c.entry(e, len(back.Before.RollbackHistory)+1), c.moved(back.Moves), c.restored(back.Paths),
	}
	for _, name := range slices.Sorted(maps.Keys(back.Files)) {
		blocks = append(blocks, details(c.Tell.Writes(cut(labelled(lastOf(name)), 100)), code(brief(name, 300))+"\n\n"+fenced(brief(string(back.Files[name]), 20_000)), false))
	}
	return c.reply(marker, blocks)
}

// changes has a row for each phase, with a mark where it changes.
func (c commenter) changes(before, after []row) string {
	var rows [][]string
	for _, b := range before {
		was, is := c.where(b.Rec), c.where(rowOf(after, b.Rec.Name).Rec)
		mark := ""
		if was != is {
			mark = "●"
		}
		rows = append(rows, []string{mark, cell(b.Rec.Name, 60), was, is})
	}
	return c.within(15_000, grid("", []string{"", c.Phase, c.Tell.Before, c.Tell.After}, rows))
}

// where says where a phase stands.
func (c commenter) where(p metadata.Phase) string {
	revises := ""
	if p.RetryCount > 0 {
		revises = fmt.Sprintf("%s %d", c.Tell.Revises, p.RetryCount)
	}
	verdict := ""
	if p.ReviewResult != "" {
		verdict = c.Tell.Review + ": " + c.word(c.Verdicts, p.ReviewResult)
	}
	return cell(joined(" · ", c.word(c.Statuses, string(p.Status)), c.word(c.Steps, string(p.CurrentStep)), revises, verdict), 200)
}

// nextAgent is what the phase keeps for the agent that goes on with it.
func (c commenter) nextAgent(p *metadata.Phase) string {
	if p == nil || p.RollbackContext == nil {
		return ""
	}
	told := p.RollbackContext
	lines := []string{quoted("**"+c.Tell.NextAgent+"**", brief(told.Reason, 4_000))}
	if d := told.Details; d != nil {
		if d.BlockerCount+d.SuggestionCount > 0 {
			lines = append(lines, "- "+c.OpenFindings(d.BlockerCount, d.SuggestionCount))
		}
		if tests := codes(d.AffectedTests); len(tests) > 0 {
			lines = append(lines, "- "+named(c.Tell.Tests, c.within(3_000, tests)))
		}
	}
	if told.ReviewResult != "" {
		lines = append(lines, "- "+named(c.Tell.Review, code(brief(told.ReviewResult, 300))))
	}
	return strings.Join(lines, "\n\n")
}

// entry is what the history gains, as entry n.
func (c commenter) entry(e metadata.Rollback, n int) string {
	place := func(phase string, step metadata.Step) string {
		return joined(" · ", inline(phase, 60), c.word(c.Steps, string(step)))
	}
	facts := []string{
		named(c.Tell.Time, code(clock(e.Timestamp))),
		named(c.Tell.From, place(e.FromPhase, e.FromStep)),
		named(c.Tell.To, place(e.ToPhase, e.ToStep)),
		named(c.Tell.Triggered, joined(" · ", c.word(c.Tell.Triggers, string(e.TriggeredBy)), code(brief(e.By, 60)))),
		link(c.Tell.Comment, e.CommentURL),
	}
	lines := []string{"**" + c.Tell.Entry(n) + "**", ""}
	for _, f := range facts {
		if f != "" {
			lines = append(lines, "- "+f)
		}
	}
	return strings.Join(lines, "\n")
}

func (c commenter) moved(moves map[string]string) string {
	var items []string
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		items = append(items, "- "+code(brief(from, 300))+" → "+code(brief(moves[from], 300)))
	}
	if len(items) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.Tell.SetAside, len(items)), c.within(8_000, items), false)
}

func (c commenter) restored(paths []string) string {
	var items []string
	for _, p := range codes(paths) {
		items = append(items, "- "+p)
	}
	if len(items) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.Tell.Restored, len(items)), c.within(8_000, items), false)
}
