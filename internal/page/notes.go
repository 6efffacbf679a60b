package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// NotesPull is the title and the body of the pull request in which people decide about a
// change of the notes on the repository.
func NotesPull(run metadata.Run, c metadata.NotesChange) (title, body string) {
	w := newWriter(nil, run, Notices{})
	return w.Tell.NotesTitle(run.IssueNumber), w.body([]string{
		MarkerOf("notes", run.IssueNumber) + "\n" + w.Tell.NotesBody(clean.Inline(c.Phase, 60), w.parent(), clean.Code(pipelines.NotesFile)),
		clean.Sanitize(c.Why, nil, 4_000, w.Tell.BodyCut),
	})
}

// notesChange is what the run wants to have changed in the notes on the repository, line
// by line, and the pull request for it.
func (w comment) notesChange() string {
	c := phases.Noted(w.plan, w.run)
	if c == nil {
		return ""
	}
	title := w.Tell.NotesChange
	if c.Number != 0 {
		title += ": " + cmp.Or(clean.Link(fmt.Sprint(c.Number), c.URL), fmt.Sprint(c.Number))
	}
	var items []string
	for _, line := range c.Remove {
		items = append(items, "- − "+clean.Inline(line, 300))
	}
	for line := range strings.Lines(c.Add) {
		if line = strings.TrimSpace(line); line != "" {
			items = append(items, "- + "+clean.Inline(line, 300))
		}
	}
	return w.folded(title, 4_000, items)
}
