package page

import (
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// maxSummary is the most that the summary of a step may have, in UTF-16 units.
// GitHub takes 1 MiB, and no unit becomes more than three bytes.
const maxSummary = 1 << 20 / 3

// Versioned is a program with its version.
type Versioned struct{ Name, Version string }

// SummaryFacts are what the summary of a job tells besides the run's record.
type SummaryFacts struct {
	Notices
	Removed  []clean.Removal     // from the issue
	Denials  []command.Denial    // while the job ran
	Sandbox  string              // the one that was asked for
	Box      sandbox.Confinement // the one there was
	Held     []Versioned         // programs, and the logins that they hold themselves
	Versions []Versioned         // of reprise and the agents' programs
}

// RunSummary gives the summary of a job that worked on a run as Markdown of at most 1 MiB, in the language of the run.
func RunSummary(c phases.Course, f SummaryFacts) string {
	w := newWriter(c, f.Notices)
	return w.summary(
		w.put("summary", w), w.advice(), w.put("stderr", w), w.warnings(), w.proven(), w.phases(), titled(w.Say("tell.timeline"), w.timeline()),
		titled(w.Say("tell.refused"), w.list(60_000, "denials", f.Denials)), titled(w.Say("tell.refusedHosts"), w.list(20_000, "hosts", w)),
		w.findings(), w.rollbacks(), w.folded(text.Capitalize(w.Shown("page key base")), 6_000, "merges", w), w.history(), w.put("flow", w),
		w.put("removals", f.Removed), w.put("surroundings", f),
	)
}

// EventFacts describe an event that led to no run in this job.
type EventFacts struct {
	Event   string // such as "issue_comment created"
	Issue   string // its number; may be empty
	Handled bool   // all was done: it was answered or, if it GoesOn, the job that follows goes on with the work
	GoesOn  bool
	command.Denial
	Warnings []string
	Versions []Versioned
}

// EventSummary gives the summary of a job whose event led to no run in it, as
// Markdown in a language: why not, and how to change that, or who asked for what.
func EventSummary(language string, f EventFacts) string {
	w := speaker(language)
	w.Warnings = f.Warnings
	return w.summary(w.put("event", f), w.warnings(), w.put("surroundings", SummaryFacts{Versions: f.Versions}))
}

// summary joins the parts of a summary that fit.
func (w *writer) summary(blocks ...string) string {
	return fit(maxSummary, w.Say("tell.summaryCut"), blocks)
}

// titled is a part with a heading; nothing without a body.
func titled(title, body string) string { return clean.PrefixedText("### "+title+"\n\n", body) }
