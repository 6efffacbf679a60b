//go:build e2e

package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// watched is a pipeline whose work has to please CI before it is ready.
const watched = `name: "own"
ci: {wait: "1ms", required: ["test"]}
phases: [
	{name: "design", goal: "Design it.", gates: ["It is designed"]},
	{name: "build", goal: "Build it.", needs: ["design"], access: "tree", gates: ["It is built"]},
]
`

// answersFixed has a model answer what people have said about lines as fixed, where a review
// asks for that.
func answersFixed(script model.Script) model.Script {
	return func(r model.Request) model.Reply {
		if !isReview(r) || len(r.Results()) == 0 {
			return script(r)
		}
		said := judgement(r, gatesOf(r), true)
		for _, id := range []string{"R1", "R2"} {
			if regexp.MustCompile(`\b` + id + `\b`).MatchString(r.Prompt()) {
				said["findings"] = append(said["findings"].([]any), map[string]any{
					"id": id, "severity": "blocker", "title": "Said of a line", "problem": "It was said.", "impact": "People mind.", "solution": "It was done.", "status": "fixed",
				})
			}
		}
		return model.Answer(said)
	}
}

// TestShortStory has the workflow that people copy take an issue through all that happens
// until a maintainer has only to decide: the run, CI that is red and then good, a review
// with comments on lines, the answers to them, and a rollback after the end.
func TestShortStory(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) { shortStory(t, agent) })
	}
}

func shortStory(t *testing.T, agent string) {
	h := newActions(t, agent)
	h.says(answersFixed((&worker{change: "date +%N >>greeting.txt"}).script()))
	h.write("repo/.github/workflows/ci.yml", "name: CI\non: pull_request\njobs: {test: {runs-on: ubuntu-24.04, steps: [{run: 'true'}]}}\n")
	h.write("repo/.github/reprise/pipelines/own.cue", watched)
	h.shorten(agent)
	h.workflow("agent: "+agent+"\n", "agent: "+agent+"\n      pipeline: own\n")
	made, reviews := githubtest.NewChecks(h.github, repository, t.Cleanup), githubtest.NewReviews(h.github, repository)
	tip := func() string {
		return strings.TrimSpace(h.git(h.root, "--git-dir", "origin.git", "rev-parse", "reprise/issue-7"))
	}
	draft := func() bool {
		t.Helper()
		pulls := h.github.Pulls(repository)
		if len(pulls) != 1 {
			t.Fatalf("there are %d pull requests", len(pulls))
		}
		return pulls[0].Draft
	}
	// first is what the model is told first of all that some event leads to.
	first := func(happens func() delivery, pairs ...string) string {
		t.Helper()
		before := len(h.model.Requests())
		happens().want(t, bothJobs, "run/run", pairs...)
		if len(h.model.Requests()) == before {
			return ""
		}
		return h.model.Requests()[before].Prompt()
	}
	ended := func(c githubtest.Check) func() delivery {
		return func() delivery {
			c.Name, c.Workflow, c.Title = "test", "ci.yml", "CI"
			made.Set(tip(), c)
			return h.deliver("workflow_run", made.RunPayload("reprise/issue-7", tip(), "ci.yml", "ann"))
		}
	}
	good := ended(githubtest.Check{Conclusion: "success"})
	waits := []string{"status", "waiting", "reason-code", "awaiting_ci"}

	_, d := h.comment("ann", "/run")
	d.want(t, bothJobs, "run/run", append(waits, "pr-number", "8")...)
	if !draft() {
		t.Error("it is ready before CI has said anything")
	}
	told := first(ended(githubtest.Check{
		Conclusion: "failure", Log: "sum.go: 2 and 2 is 5\n##[error]Process completed with exit code 1.\n",
		Notes: []githubtest.Note{{Path: "greeting.txt", Line: 1, Level: "failure", Message: "no such greeting"}},
	}), waits...)
	testenv.Has(t, "the prompt after CI was red", told, "2 and 2 is 5", "no such greeting")
	if !draft() {
		t.Error("it is ready while CI is red")
	}
	first(good, "status", "completed", "reason-code", "completed")
	folder := h.git(h.root, "--git-dir", "origin.git", "ls-tree", "--name-only", "reprise/issue-7")
	if draft() || strings.Contains(folder, ".reprise") || !strings.Contains(folder, "greeting.txt") {
		t.Errorf("a draft: %v, the branch has\n%s", draft(), folder)
	}

	v := reviews.Submit(8, githubtest.Review{Author: "max", State: "CHANGES_REQUESTED", Body: "Not like this.", Comments: []githubtest.LineComment{
		{Path: "greeting.txt", Line: 1, Side: "RIGHT", Hunk: "@@ -0,0 +1 @@\n+1", Body: "Call it salute."},
		{Path: "greeting.txt", Line: 2, Side: "RIGHT", Hunk: "@@ -0,0 +1,2 @@\n+1\n+2", Body: "Why twice?"},
	}})
	told = first(func() delivery { return h.deliver("pull_request_review", reviews.Payload(8, v)) }, waits...)
	testenv.Has(t, "the prompt after the review", told, "Not like this.", "Call it salute.", "Why twice?")
	if !draft() {
		t.Error("it is ready while what a review asks for is done")
	}
	first(good, "status", "completed")
	for _, c := range v.Comments {
		if got := reviews.Replies(8, c.ID); len(got) != 1 || !strings.Contains(got[0], "ixed in") {
			t.Errorf("the answers to %q are %+v", c.Body, got)
		}
	}
	if got := reviews.Asked(8); draft() || !slices.Contains(got, "max") {
		t.Errorf("a draft: %v, asked for another review are %q", draft(), got)
	}

	before := h.record()
	told = first(func() delivery { _, d := h.comment("max", "/rollback design because the API must stay REST"); return d }, waits...)
	testenv.Has(t, "the prompt after the rollback", told, "the API must stay REST")
	run := h.record()
	if len(run.RollbackHistory) != len(before.RollbackHistory)+1 || len(run.Attempts) <= len(before.Attempts) || run.Phase("design").Status != metadata.PhaseCompleted {
		t.Errorf("the record after the rollback: %d rollbacks, %d attempts, %d before", len(run.RollbackHistory), len(run.Attempts), len(before.Attempts))
	}
	first(good, "status", "completed")
	if draft() {
		t.Error("it is a draft at the end")
	}
}
