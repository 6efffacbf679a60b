package main

import (
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// maxSummary is the most that the summary of a step may have, in UTF-16 units.
// GitHub takes 1 MiB, and no unit becomes more than three bytes.
const maxSummary = 1 << 20 / 3

// runSummary gives the summary of a job that worked on a run as Markdown, in
// the language of the run: how it ended and what to do, every phase with its
// time and cost, pictures of both, and what the job refused, took out of the
// issue and ran with. Text from outside is neutral in it. It has at most 1 MiB.
func runSummary(plan *pipelines.Pipeline, run metadata.Run, f summaryFacts) string {
	c := newCommenter(plan, run, f.told)
	return c.summed([]string{
		joined("\n\n", "## "+c.headline(), c.linked(), joined(" · ", c.facts(), c.reason())),
		c.advice(), c.lastWords(), c.warnings(), c.phaseTable(), c.denials(f.Denials), c.findings(),
		titled(c.Tell.Flow, c.picture()), titled(c.Tell.Timeline, c.timeline()),
		c.rollbacks(), c.asked(), c.removals(f.Removed), c.surroundings(c.sandbox(f.Sandbox, f.Box), f.Versions),
	})
}

// eventSummary gives the summary of a job whose event led to no run, as
// Markdown in a language: why not, and how to change that.
func eventSummary(language string, f eventFacts) string {
	c := newCommenter(nil, metadata.Run{Language: prompts.Words(language).Language}, told{Warnings: f.Warnings})
	event := named(c.Tell.Trigger, code(brief(f.Event, 100)))
	about := ""
	if f.Issue != "" {
		about = named("issue", code(brief(f.Issue, 100)))
	}
	return c.summed([]string{
		"## 💤 " + c.Tell.NotStarted, joined(" · ", event, about), c.denied(f.denial), c.warnings(), c.surroundings("", f.Versions),
	})
}

// summed joins the parts of a summary that fit.
func (c commenter) summed(blocks []string) string {
	text, whole := fitting(blocks, maxSummary-units(c.Tell.SummaryCut)-4)
	if !whole {
		text = joined("\n\n", text, c.Tell.SummaryCut)
	}
	return text + "\n"
}

// titled is a part with a heading; nothing without a body.
func titled(title, body string) string {
	if body == "" {
		return ""
	}
	return "### " + title + "\n\n" + body
}

// reason is the code of why the run does not go on.
func (c commenter) reason() string {
	reason := ""
	switch {
	case c.run.Stop != nil:
		reason = string(c.run.Stop.Code)
	case c.run.Status == metadata.Completed:
		reason = string(metadata.Done)
	}
	return named(c.Tell.Decision, code(brief(reason, 60)))
}

// denials are what was refused, each with how to change that.
func (c commenter) denials(all []denial) string {
	var items []string
	for _, d := range all {
		items = append(items, "- "+indented(c.denied(d), "  ")[2:])
	}
	return titled(c.Tell.Refused, c.within(60_000, items))
}

// denied says what was refused, why, and how to change that.
func (c commenter) denied(d denial) string {
	a := c.adviceOn(d.Code)
	do := a.Do
	if d.Known && d.Code == metadata.NotACommand {
		do = c.Tell.RefusedDo
	}
	return joined("\n\n",
		joined(" · ", "**"+code(brief(string(d.Code), 60))+"**", code(brief(d.By, 60)), code(brief(firstLine(d.What), 200))),
		c.because(a.Meaning, d.Why), named(c.WhatNow, do))
}

// because adds the words of a program to what a code means: several lines, such
// as all mistakes of a file, are a list.
func (c commenter) because(meaning string, reason metadata.Reason) string {
	why := strings.TrimSpace(reason.In(c.Catalogue))
	lines := strings.Split(why, "\n")
	if len(lines) == 1 {
		if why = inline(why, 600); why == "" {
			return meaning
		}
		return strings.TrimRight(meaning, ".。") + c.Tell.Colon + why
	}
	var items []string
	for _, l := range lines {
		if l = inline(l, 600); l != "" {
			items = append(items, "- "+l)
		}
	}
	return joined("\n\n", meaning, c.within(10_000, items))
}

// adviceOn explains a reason code, also one that is not known.
func (c commenter) adviceOn(reason metadata.Code) prompts.Advice {
	if a, ok := c.Codes[string(reason)]; ok {
		return a
	}
	return c.Explain(inline(string(reason), 60))
}

// removals say what was taken out of the issue.
func (c commenter) removals(removed []prompts.Removal) string {
	var items []string
	for _, line := range c.RemovedFrom(removed) {
		items = append(items, "- "+inline(line, 300))
	}
	if len(items) == 0 {
		return ""
	}
	return titled(c.Removed, c.RemovedNote+"\n\n"+strings.Join(items, "\n"))
}

// surroundings are what the job ran with, of which sandbox is written already.
func (c commenter) surroundings(sandbox string, versions []versioned) string {
	var programs []string
	for _, v := range versions {
		programs = append(programs, code(joined(" ", brief(v.Name, 60), brief(v.Version, 100))))
	}
	var lines []string
	for _, l := range []string{sandbox, named(c.Tell.Versions, joined(" · ", programs...))} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n\n")
}

// firstLine gives the first line of a text that has something on it.
func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
