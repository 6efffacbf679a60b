package page

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/markdown"
	"github.com/reprise-ci/reprise/internal/progress"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// mostOpened is how much of what waits for an approval is shown, in characters.
const mostOpened = 20_000

// askedAbout shows what a person is asked about at protected paths: every line of it, and what
// nobody would see in it as marks.
func askedAbout(w writer) string {
	if w.plan == nil {
		return ""
	}
	diff := ""
	for _, o := range progress.Opened(w.plan, w.run) {
		diff += o.Diff
	}
	if diff == "" {
		return ""
	}
	diff, _ = clean.Mark(diff)
	shown, rest := markdown.Truncate(diff, mostOpened), ""
	if len(shown) < len(strings.TrimSpace(diff)) {
		rest = w.Tell.OpenedCut
	}
	return text.Join("\n\n", "**"+w.Tell.Opened+"**", markdown.Fenced(shown), rest)
}
