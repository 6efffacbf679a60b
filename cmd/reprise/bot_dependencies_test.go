//go:build slow || e2e

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

const dependsOn = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
phases: [
	{name: "plan", goal: "Plan.", review: false, report: depends_on?: [...int]},
	{name: "build", goal: "Build.", review: false},
]
`

// A run that needs other issues first waits with their names, and goes on once they are
// closed.
func TestDependencies(t *testing.T) {
	h := newStage(t, dependsOn)
	for n, title := range map[int]string{3: "Parse it", 4: "Read it", 5: "Print it"} {
		h.forge.AddIssue(hubRepo, githubtest.Issue{Number: n, Title: title, Author: "bob"})
	}
	closing := func(n int, actor string) *hubJob {
		h.forge.ChangeIssue(hubRepo, n, func(is *githubtest.Issue) { is.State = "closed" })
		return h.start("issues", actor, h.forge.IssuePayload(hubRepo, n, "closed", actor))
	}
	before := h.forge.Counts().Calls
	closing(4, "eve").end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
	if n := h.forge.Counts().Calls - before; n > 1 {
		t.Errorf("where no run waits, an issue that is closed costs %d calls", n)
	}
	h.write("home/plan-execute", `echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {"depends_on": [3, 4]}}'
exit 0
`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	waits := func(why string) {
		t.Helper()
		if run := h.record(); run.Status != metadata.Waiting || run.Stop.Code != metadata.AwaitingPerson || !strings.Contains(run.Phase("plan").Ask.In(prompts.Words("en")), why) {
			t.Errorf("the run is %s: %+v", run.Status, run.Stop)
		}
		testenv.Has(t, "the live comment", strings.ReplaceAll(h.ours("progress")[0].Body, "`", ""), why)
	}
	waits("it needs these issues to be done first: #3 (Parse it)")
	closing(5, "eve").end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")

	gate := h.inputs["command"]
	h.inputs["command"] = "gate"
	closing(3, "eve").end(exit.Done).wants("decision", "run", "issue", "7")
	h.inputs["command"] = gate
	closing(3, "eve").end(exit.Done).wants("status", "completed", "issue", "7")
	h.called("plan execute, build execute")
}

// Every run that waits for an issue goes on when that is closed: the first one in the job
// of that event, each other one in a job that is begun for it. Where a record cannot be
// read, the job says so, and nothing is forgotten.
func TestSeveralRunsWaitForOneIssue(t *testing.T) {
	h := newStage(t, dependsOn)
	for n, title := range map[int]string{3: "Parse it", 5: "Print it"} {
		h.forge.AddIssue(hubRepo, githubtest.Issue{Number: n, Title: title, Author: "bob"})
	}
	h.write("home/plan-execute", `echo planned >>"$REPRISE_ARTIFACT"; echo '{"structured": {"depends_on": [3]}}'; exit 0`+"\n")
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	h.start("issue_comment", "ada", h.forge.CommentPayload(hubRepo, h.sayOn(5, "ada", "/run"), "created", "")).end(exit.Done).wants("status", "waiting")
	h.forge.ChangeIssue(hubRepo, 3, func(is *githubtest.Issue) { is.State = "closed" })
	closed := func() *hubJob {
		return h.start("issues", "bob", h.forge.IssuePayload(hubRepo, 3, "closed", "bob"))
	}
	h.inputs["command"] = "gate"
	closed().end(exit.Done).wants("decision", "run", "issue", "5")
	h.inputs["command"] = ""
	h.forge.Fault("GET /repos/acme/widget/contents/.reprise/issue-7/metadata.json", githubtest.Status(http.StatusForbidden, "Resource not accessible by integration"))
	closed().end(exit.Failed).wants("decision", "denied")
	closed().end(exit.Done).wants("issue", "5", "status", "completed")
	all := h.forge.Dispatches(hubRepo)
	if len(all) != 1 || all[0].Type != "reprise" {
		t.Fatalf("begun were %+v", all)
	}
	woken := func(who string) *hubJob {
		return h.start("repository_dispatch", who, h.forge.DispatchPayload(hubRepo, all[0].Type, who, all[0].Inputs))
	}
	h.inputs["command"] = "gate"
	woken("github-actions[bot]").end(exit.Done).wants("decision", "run", "issue", "7")
	h.inputs["command"] = ""
	woken("github-actions[bot]").end(exit.Done).wants("issue", "7", "status", "completed")
	// Sending the same event again changes nothing.
	before := h.record().Revision
	woken("eve").end(exit.Done)
	if h.record().Revision != before {
		t.Error("somebody without the right has changed the record")
	}
}
