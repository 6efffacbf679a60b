package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Replies are Markdown for a comment of at most maxComment characters. Each
// begins with the marker line that the caller finds it by. Text from outside
// is neutral in them.

// statusReply says in short where a run is, with a link to the live comment,
// which says the rest.
func statusReply(marker string, plan *pipelines.Pipeline, run metadata.Run, t told, progress string) string {
	c := newCommenter(plan, run, t)
	done := fmt.Sprintf("%d / %d", completed(c.rows), len(c.rows))
	return c.reply(marker, []string{
		"**" + c.headline() + "**", joined(" · ", named(c.Progress, done), c.facts()), c.warnings(), c.advice(),
		joined(" · ", link(c.Progress, progress), c.linked()),
	})
}

// refusalReply says why commands are not carried out, and how to change that.
// The same that was given several times is told once.
func refusalReply(marker, language string, all ...denial) string {
	c := speaker(language)
	var blocks []string
	for _, d := range all {
		if block := c.denied(d); !slices.Contains(blocks, block) {
			blocks = append(blocks, block)
		}
	}
	return c.reply(marker, blocks)
}

// configReply says what a run of the issue would go by.
func configReply(marker, language string, plan *pipelines.Pipeline, f configFacts) string {
	c := speaker(language)
	plan = whole(plan)
	facts := []string{
		named(c.Pipeline, joined(" · ", code(brief(plan.Name, 60)), inline(plan.Description, 300))),
		named(c.Tell.Chosen, inline(f.Why, 300)),
		named(c.Tell.ReadFrom, joined(" · ", code(brief(plan.Source, 200)), code(brief(f.From, 200)))),
		named(c.Tell.Budget, c.budget(plan.Budget)),
		named(c.Tell.Words, code(brief(plan.Language, 20))),
		named(c.Tell.Sandbox, inline(f.Sandbox, 200)),
		named(c.Tell.Version, code(brief(f.Version, 100))),
		named(c.Tell.Protected, strings.Join(codes(slices.Concat(plan.Protect, f.Protects)), " ")),
		named(c.Tell.Bots, joined(" ", codes(f.Bots)...)),
	}
	var list []string
	for _, f := range facts {
		if f != "" {
			list = append(list, "- "+f)
		}
	}
	return c.reply(marker, []string{"**" + c.Tell.Settings + "**", c.within(20_000, list), c.crew(plan), c.rights(f.Rights)})
}

// budget says what a run may spend.
func (c commenter) budget(b pipelines.Budget) string {
	var parts []string
	if b.USD > 0 {
		parts = append(parts, usd(b.USD))
	}
	if b.Time > 0 {
		parts = append(parts, c.Duration(time.Duration(b.Time)))
	}
	if b.Attempts > 0 {
		parts = append(parts, c.Tell.AttemptLimit(b.Attempts))
	}
	if b.Tokens > 0 {
		parts = append(parts, c.Tell.TokenLimit(tokenCount(b.Tokens)))
	}
	if len(parts) == 0 {
		return c.Tell.Unlimited
	}
	return strings.Join(parts, " · ")
}

// crew says who does what in each phase.
func (c commenter) crew(plan *pipelines.Pipeline) string {
	var rows [][]string
	for _, p := range plan.Phases {
		review := c.whoDoes(plan, p.Review)
		if p.NoReview {
			review = c.Tell.Nobody
		}
		rows = append(rows, []string{cell(p.Name, 60), c.whoDoes(plan, p.Execute), review, c.whoDoes(plan, p.Revise)})
	}
	if len(rows) == 0 {
		return ""
	}
	head := []string{c.Phase, c.Steps["execute"], c.Steps["review"], c.Steps["revise"]}
	return c.within(15_000, grid("", head, rows))
}

// whoDoes is the agent of a step, the program it uses, and the model.
func (c commenter) whoDoes(plan *pipelines.Pipeline, s pipelines.Step) string {
	use := ""
	if a, known := plan.Agents[s.Agent]; known && a.Use != s.Agent {
		use = "(" + cell(a.Use, 60) + ")"
	}
	return joined(" · ", joined(" ", cell(s.Agent, 60), use), cell(s.Model, 60))
}

// rights say which role each command needs.
func (c commenter) rights(all []right) string {
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{code(cellCode(r.Command)), cell(r.Role, 60)})
	}
	if len(rows) == 0 {
		return ""
	}
	return c.within(10_000, grid("", []string{c.Tell.Command, c.Tell.Role}, rows))
}

// cellCode makes text fit for inline code in a cell, where a bar would end it.
func cellCode(text string) string { return strings.ReplaceAll(brief(text, 200), "|", "/") }

// speaker says things that are about no run.
func speaker(language string) commenter {
	return newCommenter(nil, metadata.Run{Language: prompts.Words(language).Language}, told{})
}

// reply joins the parts of a reply that fit, behind its marker.
func (c commenter) reply(marker string, blocks []string) string {
	text, whole := fitting(blocks, maxComment-units(marker)-units(c.Tell.ReplyCut)-10)
	if !whole {
		text = joined("\n\n", text, c.Tell.ReplyCut)
	}
	return marker + "\n" + text + "\n"
}
