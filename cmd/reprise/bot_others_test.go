//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

const spendsTogether = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
budget: repo_day_usd: 0.5
phases: [
	{name: "plan", goal: "Plan.", review: false, report: {tasks?: [...{id: string, title: string, goal: string, files?: [...string]}]}},
	{name: "build", goal: "Build.", access: "tree", review: false},
	{name: "ask", goal: "Ask.", review: false, report: questions?: [...string]},
]
`

// A job checks out the default branch alone. It knows of the runs that other jobs have
// pushed all the same: what they change, and what they have spent today.
func TestOtherRunsOfOtherJobs(t *testing.T) {
	h := newStage(t, spendsTogether)
	h.forge.AddIssue(hubRepo, githubtest.Issue{Number: 3, Title: "Say goodbye", Author: "bob"})
	h.write("home/plan-execute", `cp "$REPRISE_TASK_FILE" "$HOME/plan-task"
echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {"tasks": [{"id": "t1", "title": "Greet in Welsh", "goal": "G", "files": ["welsh.txt"]}]}, "usage": {"cost_usd": 0.3}}'
exit 0
`)
	h.write("home/build-execute", changesCode)
	h.write("home/ask-execute", `echo asked >>"$REPRISE_ARTIFACT"
echo '{"structured": {"questions": ["REST?"]}}'
exit 0
`)
	h.comment("ada", "/run").end(anyCode).wants("reason-code", "waiting")
	testenv.Lacks(t, "what the agent is told, where no other run is open,", h.read("home/plan-task"), "Open runs of this repository")
	h.publish(map[string]string{"more.txt": "main goes on, so that no job has the commit that the first run began with\n"})

	job := h.start("issue_comment", "ada", h.forge.CommentPayload(hubRepo, h.sayOn(3, "ada", "/run"), "created", "")).end(anyCode)
	job.wants("issue", "3", "status", "waiting", "reason-code", "budget_exceeded", "phase", "build")
	testenv.Has(t, "the task of the second plan", h.read("home/plan-task"), "Open runs of this repository", "7: ", "- Greet in Welsh", "files: code.txt, welsh.txt")
	testenv.Has(t, "what the job says", job.said.String(), "issue 3: $0.30, issue 7: $0.30")
	live := ""
	for _, c := range h.forge.Comments(hubRepo, 3) {
		if strings.HasPrefix(c.Body, "<!-- reprise:progress:") {
			live += c.Body
		}
	}
	testenv.Has(t, "the live comment of the second run", live, "> Issue 7 has an open run that changes the same files: welsh.txt")
	testenv.Lacks(t, "what the job says", job.said.String(), "was not fetched as a whole")
	h.called("plan execute, build execute, ask execute, plan execute")
}
