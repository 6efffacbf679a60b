package page

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// MarkerOf is the line by which reprise finds again what it wrote about an
// issue: a comment that people do not see.
func MarkerOf(kind, issue string) string {
	id := strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>", r) || r <= ' ' {
			return -1
		}
		return r
	}, clean.Truncate(issue, 100))
	for strings.Contains(id, "--") {
		id = strings.ReplaceAll(id, "--", "-")
	}
	return fmt.Sprintf("<!-- reprise:%s:v1 issue=%s -->", kind, id)
}

// ReplyMarker is the first line of the answer to some comments. There is at
// most one comment with it.
func ReplyMarker(comments ...int64) string {
	ids := make([]string, len(comments))
	for i, id := range comments {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return fmt.Sprintf("<!-- reprise:reply:v1 comment=%s -->", strings.Join(ids, ","))
}

var replyForm = regexp.MustCompile(`^<!-- reprise:reply:v1 comment=([0-9,]+) -->`)

// AnswersTo are the comments that a comment which begins so is the answer to.
func AnswersTo(body string) (comments []int64) {
	m := replyForm.FindStringSubmatch(body)
	if m == nil {
		return nil
	}
	for id := range strings.SplitSeq(m[1], ",") {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			comments = append(comments, n)
		}
	}
	return comments
}

// ReviewMarker is the first line of the answer to a review, or to what it says
// about a line.
func ReviewMarker(id int64) string { return fmt.Sprintf("<!-- reprise:review:v1 review=%d -->", id) }

// OpinionMarker is the first line of what is told about a run that nobody has
// asked about in a comment.
func OpinionMarker(about metadata.Decision) string {
	return fmt.Sprintf("<!-- reprise:opinion:v1 at=%d -->", about.At.Unix())
}

// ClockSkew is how far the clock of a forge may be behind ours.
const ClockSkew = 10 * time.Minute

// OpinionSince is the time before which no comment is that opinion: some minutes
// earlier, because two clocks may differ.
func OpinionSince(about metadata.Decision) time.Time { return about.At.Add(-ClockSkew) }
