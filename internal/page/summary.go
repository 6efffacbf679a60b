package page

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
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
	Denials  []Denial            // while the job ran
	Sandbox  string              // the one that was asked for
	Box      sandbox.Confinement // the one there was
	Held     []Versioned         // programs, and the logins that they hold themselves
	Versions []Versioned         // of reprise and the agents' programs
}

// summary is that of a job.
type summary struct{ writer }

// RunSummary gives the summary of a job that worked on a run as Markdown, in
// the language of the run: how it ended and what to do, every phase with its
// time and cost, pictures of both, and what the job refused, took out of the
// issue and ran with. Text from outside is escaped in it. It has at most 1 MiB.
func RunSummary(plan *pipelines.Pipeline, run metadata.Run, f SummaryFacts) string {
	s := summary{newWriter(plan, run, f.Notices)}
	return s.fit([]string{
		text.Join("\n\n", "## "+s.headline(), s.bar(), s.linked(), text.Join(" · ", s.facts(), s.reason())),
		advice(s).text(), advice(s).lastWords(), s.warnings(), checklist(s).lines(), titled(s.Say("tell.timeline"), chart(s).timeline()),
		s.denials(f.Denials), s.refusedHosts(), findings(s).open(), history(s).rollbacks(), history(s).merges(), history(s).commands(), chart(s).folded(), s.removals(f.Removed), s.surroundings(text.Join("\n\n", sandboxText(s.Catalogue, f.Sandbox, f.Box), s.held(f.Held)), f.Versions),
	})
}

// fit joins the parts of a summary that fit.
func (w summary) fit(blocks []string) string {
	return fit(maxSummary, w.Say("tell.summaryCut"), blocks)
}

// reason is the code of why the run does not go on.
func (w summary) reason() string {
	reason := ""
	switch {
	case w.Run.Stop != nil:
		reason = string(w.Run.Stop.Code)
	case w.Run.Status == metadata.Completed:
		reason = string(metadata.Done)
	}
	return clean.Named(w.Say("tell.decision"), clean.Code(clean.Truncate(reason, 60)))
}

// denials are what was refused, each with how to change that.
func (w summary) denials(all []Denial) string {
	var items []string
	for _, d := range all {
		items = append(items, "- "+clean.Indent(refusal(w).text(d), "  ")[2:])
	}
	return titled(w.Say("tell.refused"), w.within(60_000, items))
}

// refusedHosts are what the network of a step does not have, with what would open
// it in the pipeline.
func (w summary) refusedHosts() string {
	var items []string
	for _, a := range w.Run.Attempts {
		if a.Refused == "" {
			continue
		}
		items = append(items, "- "+text.Join(" · ", cell(a.Phase, 60), w.word("steps", string(a.Step)), clean.Code(clean.Truncate(a.Refused, 1000)))+
			"\n  "+clean.Code(view.Allowing(a)))
	}
	return titled(w.Say("tell.refusedHosts"), w.within(20_000, items))
}

// removals say what was taken out of the issue.
func (w summary) removals(removed []clean.Removal) string {
	var items []string
	for _, line := range w.RemovedFrom(removed) {
		items = append(items, "- "+clean.Inline(line, 300))
	}
	if len(items) == 0 {
		return ""
	}
	return titled(w.Say("removed"), w.Say("removedNote")+"\n\n"+strings.Join(items, "\n"))
}

// surroundings are what the job ran with, of which the sandbox and logins are written already.
func (w summary) surroundings(written string, versions []Versioned) string {
	var programs []string
	for _, v := range versions {
		programs = append(programs, clean.Code(text.Join(" ", clean.Truncate(v.Name, 60), clean.Truncate(v.Version, 100))))
	}
	var lines []string
	for _, l := range []string{written, clean.Named(w.Say("tell.versions"), text.Join(" · ", programs...))} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n\n")
}

// held says which programs hold their login themselves.
func (w summary) held(all []Versioned) string {
	var programs []string
	for _, h := range all {
		programs = append(programs, clean.Code(h.Name)+" ("+clean.Code(h.Version)+")")
	}
	return clean.Named(w.Say("tell.held"), text.Join(" · ", programs...))
}

// titled is a part with a heading; nothing without a body.
func titled(title, body string) string {
	if body == "" {
		return ""
	}
	return "### " + title + "\n\n" + body
}
