package main

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// handledSummary gives the summary of a job that did all it had to: it
// answered, or found that there is work for the job that follows. It says who
// asked for what, as Markdown in a language.
func handledSummary(language string, d decision, f eventFacts) string {
	c := newCommenter(nil, metadata.Run{Language: prompts.Words(language).Language}, told{Warnings: f.Warnings})
	heading, next := "💬 "+c.Tell.Answered, ""
	if d == toRun {
		heading, next = "▶️ "+c.Tell.HandedOn, c.Tell.HandedTo
	}
	about := ""
	if f.Issue != "" {
		about = named("issue", code(brief(f.Issue, 100)))
	}
	return c.summed([]string{
		"## " + heading,
		joined(" · ", code(brief(firstLine(f.What), 200)), code(brief(f.By, 60)), about, named(c.Tell.Trigger, code(brief(f.Event, 100)))),
		next, c.warnings(), c.surroundings("", f.Versions),
	})
}
