//go:build slow || e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// judged changes the code in a phase that is reviewed.
const judged = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "plan", goal: "Plan.", review: false},
	{name: "build", goal: "Build.", access: "tree", gates: ["It is built"]},
	{name: "tell", goal: "Tell.", review: false},
]
`

// verdictOf is what a reviewer answers that passes the work, with findings.
func verdictOf(findings string) string {
	return `echo '{"structured": {"verdict": "pass", "gates": [{"gate": "It is built", "pass": true, "why": "it is"}], "findings": [` + findings + `]}}'` + "\nexit 0\n"
}

// finding is one that a person began.
func finding(id, severity, status, problem string) string {
	return fmt.Sprintf(`{"id": %q, "severity": %q, "status": %q, "title": "t", "problem": %q, "impact": "", "solution": ""}`, id, severity, status, problem)
}

// newReviewed is a stage whose run is completed, with the pull request 8.
func newReviewed(t *testing.T, pipeline string) (*hub, *githubtest.Reviews) {
	t.Helper()
	h := newStage(t, pipeline)
	reviews := githubtest.NewReviews(h.forge, hubRepo)
	h.write("home/build-execute", changesCode)
	h.write("home/build-review", verdictOf(""))
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	return h, reviews
}

// reviewed runs the job for a review.
func (h *hub) reviewed(reviews *githubtest.Reviews, v githubtest.Review, more ...string) *hubJob {
	h.t.Helper()
	return h.start("pull_request_review", v.Author, reviews.Payload(8, v), append([]string{"GITHUB_REF=refs/pull/8/merge"}, more...)...)
}

// twoComments is a review by somebody that requests changes, with a comment on a
// line that is there and on one that was deleted.
func twoComments(by string) githubtest.Review {
	return githubtest.Review{
		Author: by, State: "CHANGES_REQUESTED", Body: "Not like this.\n\nIt breaks *callers*.", Comments: []githubtest.LineComment{
			{Path: "code.txt", Line: 1, Side: "RIGHT", Hunk: "@@ -0,0 +1 @@\n+whole", Body: "Call it `all`, see @eve."},
			{Path: "old.txt", Line: 3, Side: "LEFT", Hunk: "@@ -3 +2,0 @@\n-gone", Body: "Why is it gone?"},
		},
	}
}

// A review that requests changes takes the run back to the phase that changed the
// code. What it says about lines is what the next agent reads first, the reviewer
// answers each, and so does reprise, where it was said.
func TestReviewTakesTheRunBack(t *testing.T) {
	h, reviews := newReviewed(t, judged)
	h.write("home/build-revise", `cp "$REPRISE_TASK_FILE" "$HOME/task"; echo better >"$REPRISE_DIR/code.txt"`+"\n")
	h.write("home/build-review", `cp "$REPRISE_TASK_FILE" "$HOME/judged"`+"\n"+verdictOf(finding("R1", "blocker", "fixed", "it was")+","+finding("R2", "suggestion", "still_open", "Nobody uses it, @eve says")))
	v := reviews.Submit(8, twoComments("ada"))
	h.inputs["command"] = "gate"
	h.reviewed(reviews, v).end(exit.Done).wants("decision", "run", "issue", "7")
	h.inputs["command"] = ""
	h.reviewed(reviews, v).end(exit.Done).wants("decision", "run", "issue", "7", "status", "completed")

	var task struct{ Prompt string }
	jsonOf(t, h.read("home/task"), &task)
	first, _, _ := strings.Cut(task.Prompt, "# Task")
	testenv.Has(t, "the beginning of the task", first, "Not like this.\n\nIt breaks *callers*.", "[R1] code.txt:1\nCall it `all`, see @eve.", "+whole", "[R2] old.txt:3 (a line that was deleted)\nWhy is it gone?", "-gone")
	jsonOf(t, h.read("home/judged"), &task)
	testenv.Has(t, "the task of the reviewer", task.Prompt, "[R1] code.txt:1", "[R2] old.txt:3")
	if got := h.calls(); !strings.HasSuffix(got, "tell execute, build revise, build review, tell execute") {
		t.Errorf("the agent was called for %s", got)
	}

	run := h.record()
	if n := len(run.RollbackHistory); n != 1 || run.RollbackHistory[0].ToPhase != "build" || run.RollbackHistory[0].By != "ada" || !strings.Contains(run.RollbackHistory[0].CommentURL, "#pullrequestreview-") {
		t.Errorf("the history of rollbacks is %+v", run.RollbackHistory)
	}
	if r := run.Reviews; len(r) != 1 || r[0].ID != v.ID || r[0].Phase != "build" || !r[0].Answered || r[0].Comments[0].Finding.Status != metadata.Fixed {
		t.Errorf("the reviews are %+v", r)
	}
	fixed, left := reviews.Replies(8, v.Comments[0].ID), reviews.Replies(8, v.Comments[1].ID)
	if len(fixed) != 1 || len(left) != 1 {
		t.Fatalf("the answers are %q and %q", fixed, left)
	}
	written := testenv.MustGit(t, h.path("origin.git"), "log", "-1", "--format=%H", "--grep=^reprise: build: revise", "reprise/issue-7")
	testenv.Has(t, "the first answer", fixed[0], "Fixed in "+written[:7])
	testenv.Has(t, "the second answer", left[0], "Not changed: Nobody uses it")
	testenv.Lacks(t, "the answer", left[0], " @eve")
	testenv.Same(t, "for another review were asked", []string{"ada"}, reviews.Asked(8))
	// The same event again, and a command, do nothing of it twice.
	h.reviewed(reviews, v, "GITHUB_RUN_ATTEMPT=2").end(exit.Done)
	h.comment("ada", "/rollback tell once more").end(exit.Done).wants("status", "completed")
	if again := h.record(); len(again.RollbackHistory) != 2 || len(reviews.Replies(8, v.Comments[0].ID)) != 1 {
		t.Errorf("the history is %+v, the answers are %q", again.RollbackHistory, reviews.Replies(8, v.Comments[0].ID))
	}
}

// A reviewer that says nothing of a comment is asked again.
func TestEveryCommentIsAnswered(t *testing.T) {
	h, reviews := newReviewed(t, strings.Replace(judged, "max: 1", "max: 2", 1))
	h.write("home/build-revise", "echo better >\"$REPRISE_DIR/code.txt\"\n")
	h.write("home/build-review", `
if [ -e "$HOME/asked" ]; then cp "$REPRISE_TASK_FILE" "$HOME/task"
`+verdictOf(finding("R1", "blocker", "fixed", "")+","+finding("R2", "blocker", "fixed", ""))+`
fi
touch "$HOME/asked"
`+verdictOf(finding("R1", "blocker", "fixed", "")))
	v := reviews.Submit(8, twoComments("max"))
	h.reviewed(reviews, v).end(exit.Done).wants("status", "completed")
	testenv.Has(t, "what the reviewer is asked", h.read("home/task"), "R2, the comment of a person")
}

// A review by somebody without the right is not heard, and neither is one that asks for nothing, one of
// another pull request, and one whose workflow is not ours.
func TestReviewsThatDoNothing(t *testing.T) {
	h, reviews := newReviewed(t, judged)
	before := h.record().Revision
	for _, tt := range []struct {
		name     string
		review   githubtest.Review
		decision string
		code     string
		comments int // on the pull request
	}{
		{"by a stranger", twoComments("eve"), "denied", "permission_denied", 0},
		{"by a program", twoComments("evil[bot]"), "denied", "permission_denied", 0},
		{"only a comment", githubtest.Review{Author: "ada", State: "COMMENTED", Body: "Nice."}, "ignored", "nothing_done", 0},
		{"an approval that nothing waits for", githubtest.Review{Author: "ada", State: "APPROVED"}, "ignored", "nothing_done", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := reviews.Submit(8, tt.review)
			h.reviewed(reviews, v).end(exit.Done).wants("decision", tt.decision, "reason-code", tt.code)
			testenv.Is(t, "comments on the pull request:", len(h.forge.Comments(hubRepo, 8)), tt.comments)
			testenv.Is(t, "the revision of the record is", h.record().Revision, before)
		})
	}
	t.Run("another pull request", func(t *testing.T) {
		h.git("-C", h.path("project"), "push", "--quiet", "origin", "HEAD:topic")
		n := h.forge.AddPull(hubRepo, githubtest.Pull{Head: "topic", Title: "Other"})
		v := reviews.Submit(n, twoComments("ada"))
		h.start("pull_request_review", "ada", reviews.Payload(n, v)).end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
		h.forge.AddRepository("eve/widget", false)
		n = h.forge.AddPull(hubRepo, githubtest.Pull{Head: "reprise/issue-7", HeadRepository: "eve/widget", Title: "Other"})
		v = reviews.Submit(n, twoComments("ada"))
		h.start("pull_request_review", "ada", reviews.Payload(n, v)).end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	})
	t.Run("a workflow of the branch's own", func(t *testing.T) {
		h.git("-C", h.path("project"), "fetch", "--quiet", "origin", "reprise/issue-7")
		h.git("-C", h.path("project"), "checkout", "--quiet", "--detach", "FETCH_HEAD")
		h.write("project/.github/workflows/evil.yml", "on: push\n")
		h.git("-C", h.path("project"), "add", "--all")
		h.git("-C", h.path("project"), "commit", "--quiet", "--message=evil")
		h.git("-C", h.path("project"), "push", "--quiet", "origin", "HEAD:reprise/issue-7")
		v := reviews.Submit(8, twoComments("ada"))
		h.reviewed(reviews, v).end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
		if all := h.forge.Comments(hubRepo, 8); len(all) != 1 || !strings.Contains(all[0].Body, "give the command in a comment") {
			t.Errorf("the answers are %+v", all)
		}
	})
}

// An approval of the pull request approves what the run asks for, if it is of
// the newest work.
func TestApprovalByReview(t *testing.T) {
	h := newStage(t, strings.Replace(judged, `gates: ["It is built"]`, `gates: ["It is built"], approve: "write"`, 1))
	reviews := githubtest.NewReviews(h.forge, hubRepo)
	h.write("home/build-execute", changesCode)
	h.write("home/build-review", verdictOf(""))
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	h.reviewed(reviews, reviews.Submit(8, githubtest.Review{Author: "eve", State: "APPROVED"})).end(exit.Done).wants("reason-code", "permission_denied")
	h.reviewed(reviews, reviews.Submit(8, githubtest.Review{Author: "max", State: "APPROVED", Body: "Good."})).end(exit.Done).wants("status", "completed")
	if run := h.record(); len(run.Approvals) != 1 || run.Approvals[0].By != "max" {
		t.Errorf("the approvals are %+v", run.Approvals)
	}
}

// A comment on a line that begins with a command is that command; GitHub sends it
// as a review, too, and it is taken once.
func TestCommandOnALine(t *testing.T) {
	h, reviews := newReviewed(t, twoSteps)
	v := reviews.Submit(8, githubtest.Review{Author: "ada", State: "COMMENTED", Comments: []githubtest.LineComment{
		{Path: "code.txt", Line: 1, Side: "RIGHT", Body: "/rollback plan because of this line"},
	}})
	h.start("pull_request_review_comment", "ada", reviews.CommentPayload(8, v.Comments[0]), "GITHUB_REF=refs/pull/8/merge").end(exit.Done).wants("status", "completed")
	h.reviewed(reviews, v).end(anyCode)
	if run := h.record(); len(run.RollbackHistory) != 1 || run.RollbackHistory[0].ToPhase != "plan" || run.RollbackHistory[0].Reason != "because of this line" {
		t.Errorf("the history is %+v", run.RollbackHistory)
	}
}
