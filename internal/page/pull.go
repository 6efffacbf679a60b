package page

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// PullFacts are what a pull request tells besides the run's record.
type PullFacts struct {
	Notices
	Issue    int      // the number that the pull request closes; 0 for none, as for an issue of another repository
	Progress string   // address of the live comment
	Images   []string // addresses that images in the report may begin with, such as "https://github.com/octo/hello/"
}

// pull is the pull request of a run.
type pull struct{ writer }

// DraftBody gives the body of a pull request while the run is under way, as
// Markdown in the language of the run: which issue it closes, the phases, what
// was used, and what passing reviews suggest. It has at most markdown.MaxComment characters.
func DraftBody(plan *pipelines.Pipeline, run metadata.Run, f PullFacts) string {
	p := pull{newWriter(plan, run, f.Notices)}
	draft := p.Say("tell.draft")
	if run.Status != metadata.Running && run.Status != metadata.Completed {
		draft = p.Say("tell.halted")
	}
	return asMessage(p.body([]string{
		p.closes(f.Issue), alert(alertNote, draft), p.warnings(), p.doubts(), p.oddChecks(), text.Join(" · ", p.used(), p.links(f)), checklist(p).lines(), findings(p).suggestions(),
	}))
}

// asMessage makes a body fit for what many repositories make of it once the pull request is
// merged: the message of a commit, which must not keep workflows from starting.
func asMessage(body string) string { return phases.NoSkips(body) }

// IsDraftBody reports whether a body reads as DraftBody gives it, in the language of the
// run: it has not been handed over.
func IsDraftBody(run metadata.Run, body string) bool {
	w := newWriter(nil, run, Notices{})
	return strings.Contains(body, text.FirstLine(w.Say("tell.draft"))) || strings.Contains(body, text.FirstLine(w.Say("tell.halted")))
}

// DoneBody gives the body of a pull request at the end of a run: the report,
// which is Markdown from an agent and made harmless here, and below it which
// issue it closes, what was used, the phases, and what passing reviews suggest.
// It has at most markdown.MaxComment characters; what has no room at the end of the report is left out.
func DoneBody(plan *pipelines.Pipeline, run metadata.Run, report []byte, f PullFacts) string {
	p := pull{newWriter(plan, run, f.Notices)}
	below := p.body([]string{
		"---", p.closes(f.Issue), p.warnings(), p.doubts(), p.oddChecks(), text.Join(" · ", p.used(), p.links(f)), clean.Details(p.Say("progress"), checklist(p).lines(), false), findings(p).suggestions(),
	})
	text := clean.Sanitize(string(report), f.Images, clean.MaxComment-clean.Units(below)-4, p.Say("tell.bodyCut"))
	if text == "" {
		text = "> " + p.Say("tell.noReport")
	}
	return asMessage(text + "\n\n" + below)
}

// closes names the issue. GitHub closes it with the pull request only if it
// is one of the same repository.
func (w pull) closes(issue int) string {
	if issue > 0 {
		return fmt.Sprintf("Closes #%d", issue)
	}
	return clean.Named("issue", clean.Link(clean.Inline(w.Run.IssueNumber, 60), w.Run.IssueURL))
}

func (w pull) links(f PullFacts) string {
	return text.Join(" · ", clean.Link(w.Say("progress"), f.Progress), clean.Link(w.Say("job"), f.Job))
}
