//go:build slow || e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// threeSteps changes the code in its second phase, and goes on after it.
const threeSteps = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 0}
phases: [
	{name: "plan", goal: "Plan.", review: false},
	{name: "make", goal: "Build.", access: "tree", review: false},
	{name: "build", goal: "Look back.", review: false, report: remaining: [...{title: string, body: string}]},
]
`

const leaves = `
echo "# What is done

All of it, @hana. Fixes #3. $(wc -l <"$HOME/calls")" >"$REPRISE_ARTIFACT"
echo '{"structured": {"remaining": [{"title": "Translate", "body": "It only speaks English, @hana."}, {"title": "Print in colour", "body": ""}]}}'
exit 0
`

// The pull request is there as a draft once there is code, gets its last form
// at the end, and what is left to do becomes an issue, once.
func TestHandOver(t *testing.T) {
	h := newStage(t, threeSteps)
	h.write("home/make-execute", changesCode)
	j, _ := h.working()
	h.until("a draft", func() bool { return len(h.forge.Pulls(hubRepo)) == 1 })
	draft := h.forge.Pulls(hubRepo)[0]
	if !draft.Draft || draft.Head != "reprise/issue-7" || draft.Base != "main" || draft.Title != "Say hello" {
		t.Errorf("the draft is %+v", draft)
	}
	testenv.Has(t, "its body", draft.Body, "Closes #7", "Build")
	h.write("home/build-execute", leaves)
	h.comment("ada", "/rollback make once more") // its job leaves, the one at work takes it
	h.write("home/make-revise", changesCode)
	j.end(exit.Done).wants("status", "completed", "pr-number", fmt.Sprint(draft.Number))
	done := h.forge.Pulls(hubRepo)
	if len(done) != 1 || done[0].Draft || done[0].Number != draft.Number {
		t.Fatalf("the pull requests are %+v", done)
	}
	testenv.Has(t, "its body", done[0].Body, "# What is done", "Closes #7")
	testenv.Lacks(t, "its body", done[0].Body, " @hana")
	if run := h.record(); run.PRNumber != draft.Number || run.PRURL == "" {
		t.Errorf("the record knows pull request %d at %q", run.PRNumber, run.PRURL)
	}
	left := func() (out []githubtest.Issue) {
		return slices.DeleteFunc(h.forge.Issues(hubRepo), func(is githubtest.Issue) bool { return is.Pull || is.Number == hubIssue })
	}
	if all := left(); len(all) != 1 || slices.Contains(all[0].Labels, "reprise") || !slices.Contains(h.forge.SubIssues(hubRepo, hubIssue), all[0].Number) {
		t.Fatalf("what is left is %+v", all)
	}
	testenv.Has(t, "the issue for what is left", left()[0].Body, "Translate", "Print in colour")
	// Once more changes nothing about that.
	h.write("home/build-revise", leaves)
	h.comment("ada", "/rollback build look again").end(exit.Done).wants("status", "completed")
	if len(left()) != 1 || len(h.forge.Pulls(hubRepo)) != 1 {
		t.Errorf("what is left is %+v; %d pull requests", left(), len(h.forge.Pulls(hubRepo)))
	}
}

// A run whose last phase decides that the work does not pass is not handed over:
// a person has to decide first.
func TestNoHandOverWithoutAPass(t *testing.T) {
	h := newStage(t, strings.Replace(threeSteps, "report: remaining: [...{title: string, body: string}]", `report: {decision: "pass" | "fail", reason: string}`, 1))
	h.write("home/make-execute", changesCode)
	h.write("home/build-execute", `
echo "# What is done" >"$REPRISE_ARTIFACT"
echo '{"structured": {"decision": "fail", "reason": "The door is open."}}'
exit 0
`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "reason-code", "waiting", "phase", "build")
	if all := h.forge.Pulls(hubRepo); len(all) != 1 || !all[0].Draft {
		t.Errorf("the pull requests are %+v", all)
	}
	live := h.ours("progress")[0].Body
	testenv.Has(t, "the live comment", live, "The door is open.", "/approve")
	testenv.Lacks(t, "the live comment", live, "Review the pull request")
	h.comment("max", "/approve").end(exit.Done).wants("status", "completed")
	if all := h.forge.Pulls(hubRepo); len(all) != 1 || all[0].Draft {
		t.Errorf("the pull requests are %+v", all)
	}
}

// A pull request that somebody opened for the branch is found.
func TestPullRequestIsFound(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["create-pr"] = "false"
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "")
	if all := h.forge.Pulls(hubRepo); len(all) != 0 {
		t.Fatalf("the pull requests are %+v", all)
	}
	delete(h.inputs, "create-pr")
	n := h.forge.AddPull(hubRepo, githubtest.Pull{Title: "Mine", Author: "ada", Head: "reprise/issue-7"})
	h.write("home/build-revise", changesCode)
	h.comment("ada", "/rollback build once more").end(exit.Done).wants("pr-number", fmt.Sprint(n))
	if all := h.forge.Pulls(hubRepo); len(all) != 1 {
		t.Errorf("the pull requests are %+v", all)
	}
}

// One that somebody closed by hand stays closed, and people are told.
func TestPullRequestIsClosed(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.write("home/build-revise", changesCode)
	h.comment("ada", "/run").end(exit.Done)
	n := h.forge.Pulls(hubRepo)[0].Number
	h.forge.ChangeIssue(hubRepo, n, func(is *githubtest.Issue) { is.State = "closed" })
	h.comment("ada", "/rollback build once more").end(exit.Done).wants("status", "completed", "pr-number", fmt.Sprint(n))
	if all := h.forge.Pulls(hubRepo); len(all) != 1 || all[0].State != "closed" {
		t.Errorf("the pull requests are %+v", all)
	}
	live := h.ours("progress")[0].Body
	testenv.Has(t, "the live comment", live, "is closed")
	testenv.Lacks(t, "the live comment", live, "Squash and merge")
	h.forge.With(hubRepo, func(d *githubtest.Desk) { d.Pull(n).Merged = true })
	h.comment("ada", "/rollback build again").end(exit.Done).wants("status", "completed", "pr-number", fmt.Sprint(n))
	live = h.ours("progress")[0].Body
	testenv.Has(t, "the live comment", live, "is merged already")
	testenv.Lacks(t, "the live comment", live, "Squash and merge")
}

// GitHub starts no workflow for a push with the token of a workflow: people
// are told, and what is named is started. For a token of a person it does.
func TestChecksAreStarted(t *testing.T) {
	const ci = "on: [push]\njobs: {}\n"
	for _, tt := range []struct {
		name       string
		workflow   string
		person     bool
		dispatch   string
		notice     bool
		dispatched int
	}{
		{"the token of the workflow", ci, false, "", true, 0},
		{"and a workflow to start", ci, false, "ci.yml", true, 1},
		{"and one that is not there", ci, false, "nothing.yml", true, 0},
		{"no workflow on a push", "on: workflow_dispatch\njobs: {}\n", false, "", false, 0},
		{"no workflow on a push, but one is named", "on: workflow_dispatch\njobs: {}\n", false, "ci.yml", true, 1},
		{"the token of a person", ci, true, "ci.yml", false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newStage(t, twoSteps+`ci: {wait: "1ms"}`) // nothing speaks here, which is otherwise waited for
			h.publish(map[string]string{".github/workflows/ci.yml": tt.workflow})
			h.write("home/build-execute", changesCode)
			h.inputs["dispatch"] = tt.dispatch
			author := "github-actions[bot]"
			if tt.person {
				h.forge.AddToken(hubToken, "max")
				author = "max"
			}
			j := h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
			live := slices.DeleteFunc(h.forge.Comments(hubRepo, hubIssue), func(c githubtest.Comment) bool { return c.Author != author || !strings.Contains(c.Body, ":progress:") })
			if len(live) != 1 || strings.Contains(live[0].Body, "GITHUB_TOKEN") != tt.notice {
				t.Errorf("the live comments are %+v", live)
			}
			if got := h.forge.Dispatches(hubRepo); len(got) != tt.dispatched {
				t.Errorf("started were %+v\n%s", got, j.said.String())
			} else if len(got) > 0 && (got[0].Workflow != "ci.yml" || got[0].Ref != "reprise/issue-7") {
				t.Errorf("started was %+v", got[0])
			}
			if tt.dispatch == "nothing.yml" {
				testenv.Has(t, "the summary", j.summary, "nothing.yml")
			}
		})
	}
}

// A run that stops on its way has nothing to be checked, and its pull request does not say that it is at work.
func TestNothingToCheckYet(t *testing.T) {
	h := newStage(t, threeSteps)
	h.publish(map[string]string{".github/workflows/ci.yml": "on: push\n"})
	h.inputs["dispatch"] = "ci.yml"
	h.write("home/make-execute", changesCode)
	h.write("home/build-execute", "exit 7\n")
	h.comment("ada", "/run").end(anyCode).wants("reason-code", "agent_failed")
	if got := h.forge.Dispatches(hubRepo); len(got) != 0 {
		t.Errorf("started were %+v", got)
	}
	body := h.forge.Pulls(hubRepo)[0].Body
	testenv.Has(t, "the pull request", body, "has stopped before its end")
	testenv.Lacks(t, "the pull request", body, "is at work on this")
}
