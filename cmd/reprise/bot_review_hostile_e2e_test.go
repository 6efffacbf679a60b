//go:build e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A review with three hundred comments on lines is taken as far as that goes, and its author
// is told what was not; of a comment on several lines the agent learns which.
func TestReviewOfHundredsOfComments(t *testing.T) {
	h, reviews := newReviewed(t, strings.Replace(judged, `gates: ["It is built"]`, "review: false", 1))
	h.write("home/build-revise", `cp "$REPRISE_TASK_FILE" "$HOME/task"; echo better >"$REPRISE_DIR/code.txt"`+"\n")
	v := githubtest.Review{Author: "ada", State: "CHANGES_REQUESTED", Body: "Not like this.\x1b[2J\u202e" + strings.Repeat("long ", 20_000)}
	for n := range 300 {
		v.Comments = append(v.Comments, githubtest.LineComment{Path: "code.txt", Line: n + 10, Start: n + 7, Side: "RIGHT", Hunk: "@@ -0,0 +1 @@\n+whole", Body: fmt.Sprintf("Comment %d.\n```suggestion\nbetter\n```", n+1)})
	}
	v = reviews.Submit(8, v)
	h.reviewed(reviews, v).end(exit.Done).wants("status", "completed")
	var task struct{ Prompt string }
	jsonOf(t, h.read("home/task"), &task)
	testenv.Has(t, "the task", task.Prompt, "[R1] code.txt:7-10\nComment 1.\n```suggestion", "[R50] code.txt:56-59")
	if strings.Contains(task.Prompt, "Comment 51.") || strings.ContainsAny(task.Prompt, "\x1b\u202e") {
		t.Errorf("the task has %.3000s", task.Prompt)
	}
	told := func() (out string) {
		for _, c := range h.forge.Comments(hubRepo, 8) {
			out += c.Body + "\n"
		}
		return out
	}
	// A job that waits a hundredth of the time only comes to some of the answers.
	for try := 2; !strings.Contains(told(), "250 more") && try < 8; try++ {
		h.reviewed(reviews, v, fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", try)).end(exit.Done)
	}
	for n, want := range map[int]int{0: 1, 49: 1, 50: 0, 299: 0} {
		if got := reviews.Replies(8, v.Comments[n].ID); len(got) != want {
			t.Errorf("comment %d has the answers %q", n+1, got)
		}
	}
	testenv.Has(t, "the answer", told(), "50 of this review's comments on lines were taken, and 250 were not")
	h.reviewed(reviews, v, "GITHUB_RUN_ATTEMPT=9").end(exit.Done)
	if n := strings.Count(told(), "250 more"); n != 1 {
		t.Errorf("that is told %d times", n)
	}
}
