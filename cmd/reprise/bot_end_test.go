//go:build slow || e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/workflow"
)

// A job that was killed is told of by another one of the same run of the workflow, which
// has no checkout, and commits nothing; one that ended in good order is not.
func TestJobThatIsGone(t *testing.T) {
	h := newStage(t, strings.Replace(twoSteps, `{name: "plan", goal: "Plan.", review: false}`, `{name: "plan", goal: "Plan.", access: "tree", review: false}`, 1))
	h.write("home/plan-execute", changesCode)
	h.inputs["notify"] = "commander"
	j, _ := h.working()
	j.kill(true)
	before, tip := h.ours("progress"), h.tip()
	h.inputs["command"], h.inputs["issue"] = workflow.EndOnly, fmt.Sprint(hubIssue)
	end := func(run string) *hubJob {
		return h.start("issue_comment", "ada", []byte("{}"), "GITHUB_RUN_ID="+run, "GITHUB_WORKSPACE="+h.path("nowhere")).end(exit.Done)
	}
	end("4711").wants("decision", "ignored", "reason-code", "no_trigger") // another one may be at work
	if now := h.ours("progress"); len(now) != 1 || now[0].Body != before[0].Body {
		t.Errorf("the live comment is %+v", now)
	}
	end("9001").wants("decision", "replied", "reason-code", "cancelled")
	now := h.ours("progress")
	if len(now) != 1 || now[0].ID != before[0].ID || h.tip() != tip {
		t.Fatalf("the live comments are %+v, the branch is at %s", now, h.tip())
	}
	has(t, "the live comment", now[0].Body, "Interrupted", "The run was interrupted before it was done", "`/resume`", "actions/runs/9001")
	pulls := h.forge.Pulls(hubRepo)
	if len(pulls) != 1 || strings.Contains(pulls[0].Body, "is at work on this") {
		t.Errorf("the draft is %+v", pulls)
	}
	end("9001").wants("decision", "replied", "reason-code", "cancelled") // as a job that is started again
	stops := h.ours("stop")
	if len(stops) != 1 {
		t.Fatalf("people are told so: %+v", stops)
	}
	has(t, "the word of it", stops[0].Body, "@ada", "Interrupted", "`/resume`")
	delete(h.inputs, "command")
	delete(h.inputs, "issue")
	h.write("home/go-on", "")
	h.comment("ada", "/resume", "GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2").end(exit.Done).wants("status", "completed")
	if stops = h.ours("stop"); len(stops) != 2 || stops[0].Minimized != "OUTDATED" || stops[1].Minimized != "" || h.record().GitHubIntegration.NoticeCommentID != stops[1].ID {
		t.Errorf("people are told at the end: %+v", stops)
	}
	h.inputs["command"], h.inputs["issue"] = workflow.EndOnly, fmt.Sprint(hubIssue)
	end("9001").wants("decision", "ignored", "reason-code", "no_trigger")
	if len(h.ours("stop")) != 2 {
		t.Error("a job that ended in good order is told of")
	}
}
