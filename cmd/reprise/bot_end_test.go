//go:build slow || e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Of a job that failed before reprise was started in it, the same job tells people, once for
// each command, and only where no job has taken that. One that was dropped is not told of.
func TestJobThatNeverBegan(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["notify"] = "commander"
	first := h.say("ada", "/run\n\nplease")
	end := func(id int64, ended, run string) *hubJob {
		h.inputs["command"], h.inputs["issue"] = setup.EndOnly+" "+ended, fmt.Sprint(hubIssue)
		return h.heard(id, "ada", "GITHUB_RUN_ID="+run, "GITHUB_WORKSPACE="+h.path("nowhere")).end(exit.Done)
	}
	for _, ended := range []string{"", "cancelled", "skipped", "denied", "run"} {
		end(first, ended, "9001").wants("decision", "ignored", "reason-code", "nothing_done")
	}
	if told := h.ours("unstarted"); len(told) != 0 {
		t.Fatalf("people are told %+v", told)
	}
	for range 2 { // also as a job that is started again
		end(first, "failure", "9001").wants("decision", "replied")
	}
	told := h.ours("unstarted")
	if len(told) != 1 {
		t.Fatalf("people are told %+v", told)
	}
	testenv.Has(t, "that word", told[0].Body, "@ada **The job ended before reprise could begin", "`/run`", "actions/runs/9001")
	second := h.say("ada", "/run")
	end(second, "failure", "9002").wants("decision", "replied")
	if told = h.ours("unstarted"); len(told) != 2 {
		t.Errorf("of the second command people are told %+v", told)
	}
	for _, name := range []string{"command", "issue"} {
		delete(h.inputs, name)
	}
	h.heard(second, "ada").end(exit.Done).wants("status", "completed")
	end(second, "failure", "9003").wants("decision", "ignored", "reason-code", "nothing_done")
	if told = h.ours("unstarted"); len(told) != 2 {
		t.Errorf("of a command that was taken people are told %+v", told)
	}
}

// A job that was killed is told of by another one of the same run of the workflow, which
// has no checkout, and commits nothing; one that ended in good order is not.
func TestJobThatIsGone(t *testing.T) {
	h := newStage(t, strings.Replace(twoSteps, `{name: "plan", goal: "Plan.", review: false}`, `{name: "plan", goal: "Plan.", access: "tree", review: false}`, 1))
	h.write("home/plan-execute", changesCode)
	h.inputs["notify"] = "commander"
	j, _ := h.working()
	j.kill(true)
	before, tip := h.ours("progress"), h.tip()
	h.inputs["command"], h.inputs["issue"] = setup.EndOnly, fmt.Sprint(hubIssue)
	end := func(run string) *hubJob {
		return h.start("issue_comment", "ada", []byte("{}"), "GITHUB_RUN_ID="+run, "GITHUB_WORKSPACE="+h.path("nowhere")).end(exit.Done)
	}
	end("4711").wants("decision", "ignored", "reason-code", "nothing_done") // another one may be at work
	if now := h.ours("progress"); len(now) != 1 || now[0].Body != before[0].Body {
		t.Errorf("the live comment is %+v", now)
	}
	end("9001").wants("decision", "replied", "reason-code", "cancelled")
	now := h.ours("progress")
	if len(now) != 1 || now[0].ID != before[0].ID || h.tip() != tip {
		t.Fatalf("the live comments are %+v, the branch is at %s", now, h.tip())
	}
	testenv.Has(t, "the live comment", now[0].Body, "Interrupted", "The run was interrupted before it was done", "`/run`", "actions/runs/9001")
	pulls := h.forge.Pulls(hubRepo)
	if len(pulls) != 1 || strings.Contains(pulls[0].Body, "is at work on this") {
		t.Errorf("the draft is %+v", pulls)
	}
	end("9001").wants("decision", "replied", "reason-code", "cancelled") // as a job that is started again
	stops := h.ours("stop")
	if len(stops) != 1 {
		t.Fatalf("people are told so: %+v", stops)
	}
	testenv.Has(t, "the word of it", stops[0].Body, "@ada", "Interrupted", "`/run`")
	delete(h.inputs, "command")
	delete(h.inputs, "issue")
	h.write("home/go-on", "")
	h.comment("ada", "/run", "GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2").end(exit.Done).wants("status", "completed")
	if stops = h.ours("stop"); len(stops) != 2 || stops[0].Minimized != "OUTDATED" || stops[1].Minimized != "" || h.record().GitHubIntegration.NoticeCommentID != stops[1].ID {
		t.Errorf("people are told at the end: %+v", stops)
	}
	h.inputs["command"], h.inputs["issue"] = setup.EndOnly, fmt.Sprint(hubIssue)
	end("9001").wants("decision", "ignored", "reason-code", "nothing_done")
	if len(h.ours("stop")) != 2 {
		t.Error("a job that ended in good order is told of")
	}
}
