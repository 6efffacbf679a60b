package command

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Denial is something that was refused.
type Denial struct {
	Code  metadata.Code
	By    string          // login; empty if unknown
	What  string          // what was asked for, such as the command; may be empty
	Why   metadata.Reason // where it says more than the code; may be none
	Known bool            // it is a command, which the run as it stands does not allow
	Kept  bool            // not for the issue: the record of the run has it, or whoever asked does not have the right
}

// Words are the reason and then its code, for a line.
func (d Denial) Words(language string) string {
	return text.Join(" ", d.Why.In(prompts.Words(language)), fmt.Sprintf("(%s)", d.Code))
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
