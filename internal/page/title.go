package page

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// maxTitle is the most that GitHub takes for the title of an issue or a pull
// request, in UTF-16 units.
const maxTitle = 256

// PullTitle gives the title of a run's pull request: that of the issue,
// without what GitHub would act on.
func PullTitle(run metadata.Run) string {
	if title := plainTitle(run.IssueTitle); title != "" {
		return title
	}
	return "issue " + text.Flat(run.IssueNumber)
}

// plainTitle makes text from outside fit for a title, which is no Markdown but
// shows inline code, and may become the subject of a commit: what would turn
// into a mention, a reference or a link is code, and no workflow is skipped.
func plainTitle(text string) string {
	text, _ = clean.Quoted(text)
	parts := strings.Fields(strings.ReplaceAll(text, "`", "'"))
	for i, p := range parts {
		if clean.Mentions(p) {
			parts[i] = "`" + p + "`"
		}
	}
	return ShortTitle(strings.TrimLeft(phases.NoSkips(strings.Join(parts, " ")), "/ "))
}

// ShortTitle cuts a title to what GitHub takes.
func ShortTitle(title string) string {
	if clean.Units(title) <= maxTitle {
		return title
	}
	room := maxTitle - len("...")
	for i, r := range title {
		if room -= clean.Units(string(r)); room < 0 {
			return title[:i] + "..."
		}
	}
	return title // unreachable: it has more units than there is room for
}
