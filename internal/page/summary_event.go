package page

import (
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// EventFacts describe an event that led to no run.
type EventFacts struct {
	Event string // such as "issue_comment created"
	Issue string // its number; may be empty
	Denial
	Warnings []string
	Versions []Versioned
}

// EventSummary gives the summary of a job whose event led to no run, as
// Markdown in a language: why not, and how to change that.
func EventSummary(language string, f EventFacts) string {
	s := eventSummary(language, f.Warnings)
	return s.fit([]string{
		"## 💤 " + s.Say("tell.notStarted"), text.Join(" · ", clean.Named(s.Say("tell.trigger"), clean.Code(clean.Truncate(f.Event, 100))), f.about()), refusal(s).text(f.Denial), s.warnings(), s.surroundings("", f.Versions),
	})
}

// HandledSummary gives the summary of a job that did all it had to: it
// answered, or found that the job that follows goes on with the work. It says
// who asked for what, as Markdown in a language.
func HandledSummary(language string, goesOn bool, f EventFacts) string {
	s := eventSummary(language, f.Warnings)
	heading, next := "💬 "+s.Say("tell.answered"), ""
	if goesOn {
		heading, next = "▶️ "+s.Say("tell.handedOn"), s.Say("tell.handedTo")
	}
	return s.fit([]string{
		"## " + heading,
		text.Join(" · ", clean.Code(clean.Truncate(text.FirstLine(f.What), 200)), clean.Code(clean.Truncate(f.By, 60)), f.about(), clean.Named(s.Say("tell.trigger"), clean.Code(clean.Truncate(f.Event, 100)))),
		next, s.warnings(), s.surroundings("", f.Versions),
	})
}

func eventSummary(language string, warnings []string) summary {
	w := speaker(language)
	w.notices.Warnings = warnings
	return summary{w}
}

// about names the issue of the event, where there is one.
func (f EventFacts) about() string {
	return clean.Named("issue", clean.Code(clean.Truncate(f.Issue, 100)))
}
