//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// An issue that no rule decides about is judged once, before the run begins. The live
// comment says which pipeline that led to, why, and how to take another one.
func TestJudgedIssue(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["pipeline"] = "auto"
	h.publish(map[string]string{
		".github/reprise/config.cue":        `agents: {writer: {use: "command", command: ["worker"]}, reviewer: {use: "command", command: ["worker"]}}`,
		".github/reprise/pipelines/fix.cue": strings.Replace(twoSteps, `name: "own"`, `name: "fix"`, 1),
	})
	h.write("home/auto-choose", `cp "$REPRISE_TASK_FILE" "$HOME/task"
echo planted >"$REPRISE_DIR/planted.txt"
echo '{"structured": {"kind": "fix", "size": "small", "risk": "low"}, "usage": {"input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cost_usd": 0.25}}'
exit 0
`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.called("auto choose, plan execute, build execute")
	testenv.Has(t, "what it was asked", h.read("home/task"), `"access": "none"`, "Judge the issue below")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "Pipeline fix: writer has judged the issue: kind fix, size small, risk low; so cheaper models write, and a phase is revised 2 times at most; judging it has cost", "0.2500", "/run --refresh --pipeline NAME")
	if run := h.record(); run.Pipeline.Name != "fix" || run.Cost.USD != 0.25 || run.Decisions[0].Step != "choose" {
		t.Errorf("pipeline %s, %v, %+v", run.Pipeline.Name, run.Cost, run.Decisions[0])
	}
	for _, p := range h.record().Phases {
		if p.Diff != nil && p.Diff.Files > 0 && p.Name != "build" {
			t.Errorf("%s has changed %d files", p.Name, p.Diff.Files)
		}
	}
}

// With the day's money spent no agent is asked to judge an issue, and one that is asked has what is left of it.
func TestJudgingIsPaidByTheDay(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["pipeline"] = "auto"
	h.forge.AddIssue(hubRepo, githubtest.Issue{Number: 3, Title: "Say goodbye", Author: "bob"})
	h.publish(map[string]string{
		".github/reprise/config.cue":        `agents: writer: {use: "command", command: ["worker"]}, budget: repo_day_usd: 0.2`,
		".github/reprise/pipelines/fix.cue": strings.Replace(twoSteps, `name: "own"`, `name: "fix"`, 1),
	})
	h.write("home/auto-choose", `cp "$REPRISE_TASK_FILE" "$HOME/task"
echo '{"structured": {"kind": "fix", "size": "small", "risk": "low"}, "usage": {"cost_usd": 0.25}}'
exit 0
`)
	h.comment("ada", "/run").end(anyCode).wants("reason-code", "budget_exceeded")
	testenv.Has(t, "what it was asked", h.read("home/task"), `"budget_usd": 0.2`)
	job := h.start("issue_comment", "ada", h.forge.CommentPayload(hubRepo, h.sayOn(3, "ada", "/run"), "created", "")).end(anyCode)
	job.wants("issue", "3", "status", "waiting", "reason-code", "budget_exceeded")
	live := ""
	for _, c := range h.forge.Comments(hubRepo, 3) {
		live += c.Body
	}
	testenv.Has(t, "the comments", live, "writer could not judge the issue", "issue 7: $0.25")
	h.called("auto choose")
}
