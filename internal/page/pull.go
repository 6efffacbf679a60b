package page

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// PullFacts are what a pull request tells besides the run's record.
type PullFacts struct {
	Notices
	Issue    int      // the number that the pull request closes; 0 for none, as for an issue of another repository
	Progress string   // address of the live comment
	Images   []string // addresses that images in the report may begin with, such as "https://github.com/octo/hello/"
}

// DraftBody gives the body of a pull request while the run is under way, as Markdown of at most clean.MaxComment
// characters. Many repositories make the message of a commit of it, which must not keep workflows from starting.
func DraftBody(c phases.Course, f PullFacts) string {
	w := newWriter(c, f.Notices)
	draft := w.Say("tell.draft")
	if c.Run.Status != metadata.Running && c.Run.Status != metadata.Completed {
		draft = w.Say("tell.halted")
	}
	return phases.NoSkips(w.body(w.closes(f.Issue), w.proven(), alert(alertNote, draft), w.warnings(), w.doubts(), w.aboutRun(f), w.phases(), w.suggestions()))
}

// What lies between these two marks in the body of a pull request is ours.
const (
	ownBegins = "<!-- reprise:pull:v1 -->"
	ownEnds   = "<!-- reprise:pull:end -->"
	mostOwn   = clean.MaxComment - len(ownBegins) - len(ownEnds) - 2 // units of UTF-16
)

// Described gives the body of a pull request with our text in the place of the one that it has, or else below what others
// have written, which stays as it is.
func Described(body, own string) string {
	before, rest, begins := strings.Cut(body, ownBegins)
	_, after, ends := strings.Cut(rest, ownEnds)
	if !begins || !ends {
		before, after = strings.TrimSpace(strings.NewReplacer(ownBegins, "", ownEnds, "").Replace(body)), ""
		before += text.If(before != "", "\n\n")
	}
	room := clean.MaxComment - clean.Units(before+ownBegins+ownEnds+after) - 2
	if room < 2 {
		return body // theirs fills it
	}
	if over := clean.Units(own) - room; over > 0 {
		own = clean.Truncate(own, max(utf8.RuneCountInString(own)-over-1, 0))
	}
	return before + ownBegins + "\n" + own + "\n" + ownEnds + after
}

// IsDraftBody reports whether a body reads as DraftBody gives it, in the language of the
// run: it has not been handed over.
func IsDraftBody(run metadata.Run, body string) bool {
	w := speaker(run.Language)
	return strings.Contains(body, text.FirstLine(w.Say("tell.draft"))) || strings.Contains(body, text.FirstLine(w.Say("tell.halted")))
}

// DoneBody gives the body of a pull request at the end of a run. The report, which is Markdown from an agent, is made
// harmless here; its end is left out where there are more than clean.MaxComment characters.
func DoneBody(c phases.Course, report []byte, f PullFacts) string {
	w := newWriter(c, f.Notices)
	below := w.body("---", w.closes(f.Issue), w.Say("comment.squash"), w.warnings(), w.doubts(), w.aboutRun(f), clean.Details(w.Say("progress"), w.phases(), false), w.suggestions())
	above := w.proven()
	said := clean.Sanitize(string(report), f.Images, mostOwn-clean.Units(above)-clean.Units(below)-6, w.Say("tell.bodyCut"))
	return phases.NoSkips(text.Join("\n\n", above, cmp.Or(said, "> "+w.Say("tell.noReport")), below))
}

// closes names the issue. GitHub closes it with the pull request only if it
// is one of the same repository.
func (w *writer) closes(issue int) string {
	if issue > 0 {
		return fmt.Sprintf("Closes #%d", issue)
	}
	return clean.Named("issue", clean.Link(clean.Inline(w.Run.IssueNumber, 60), w.Run.IssueURL))
}

// aboutRun is what the run has used, and where it is followed.
func (w *writer) aboutRun(f PullFacts) string {
	return text.Join(" · ", w.used(), clean.Link(w.Say("progress"), f.Progress), clean.Link(w.Say("job"), f.Job))
}

// body joins the parts of a body that fit.
func (w *writer) body(blocks ...string) string {
	return fit(mostOwn, w.Say("tell.bodyCut"), blocks)
}
