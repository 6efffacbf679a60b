package page

import (
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// ReviewCutReply tells, below the pull request, that only some of what a review says about
// lines was taken, and what to do with the rest.
func ReviewCutReply(marker, language string, taken, left int) string {
	w := speaker(language)
	return w.reply(marker, []string{w.Say("tell.reviewCut", "taken", taken, "left", left)})
}

// mostWhy is how much of a reason stands in an answer to a comment on a line.
const mostWhy = 2_000

// ThreadReply answers, in the conversation of a line of the pull request, what a
// review has said there: in which commit it is done, or why it is not.
func ThreadReply(language, commit string, comments []metadata.ReviewComment) string {
	w := speaker(language)
	var lines []string
	for _, c := range comments {
		switch c.Finding.Status {
		case metadata.Fixed:
			lines = append(lines, w.Say("tell.fixedIn", "commit", commit))
		case metadata.StillOpen:
			lines = append(lines, w.Say("tell.notChanged", "why", clean.Sanitize(c.Finding.Solution, nil, mostWhy, w.Say("tell.replyCut"))))
		default:
			lines = append(lines, w.Say("tell.revisedIn", "commit", commit))
		}
	}
	return text.Join("\n\n", lines...)
}
