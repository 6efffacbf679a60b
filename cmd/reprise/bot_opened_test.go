package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/testenv"
)

// opens is a stage whose pipeline opens a workflow that is there.
func opens(t *testing.T) (h *hub, workflow func() string) {
	t.Helper()
	h = newStage(t, twoSteps+`protect: open: [".github/workflows/ci.yml"]`+"\n")
	h.publish(map[string]string{".github/workflows/ci.yml": "on: push\njobs: {}\n"})
	h.inputs["notify"] = "commander"
	h.forge.Permit(hubRepo, "mia", "maintain")
	h.write("home/build-execute", `printf 'on: [push, pull_request]\njobs: {}\n' >"$REPRISE_DIR/.github/workflows/ci.yml"`+"\n")
	return h, func() string {
		t.Helper()
		out, err := testenv.Git(h.path("origin.git"), "show", environ.BranchPrefix+"7:.github/workflows/ci.yml")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// A change at a protected path that the pipeline opens is on no branch until somebody with
// the right maintain has approved it, who sees it whole, and then it is exactly that.
func TestOpenedPathIsApproved(t *testing.T) {
	h, workflow := opens(t)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "reason-code", "waiting", "phase", "build")
	before := workflow()
	if before != "on: push\njobs: {}\n" {
		t.Errorf("the workflow is changed already:\n%s", before)
	}
	for _, kind := range []string{"progress", "stop"} {
		has(t, "the comment "+kind, h.ours(kind)[0].Body, ".github/workflows/ci.yml", "-on: push\n+on: [push, pull_request]\n jobs: {}", "/approve")
	}
	no := h.say("ada", "/approve")
	h.heard(no, "ada").end(exit.Done)
	if has(t, "the answer", h.replyTo(no), "maintain"); workflow() != before {
		t.Error("somebody without the right has changed it")
	}
	h.comment("mia", "/approve").end(exit.Done).wants("status", "completed")
	if got := workflow(); got != "on: [push, pull_request]\njobs: {}\n" {
		t.Errorf("the workflow is\n%s", got)
	}
}

// What is asked for can be revised, and an approval is for what was seen: another text, or
// another state of the file, asks again.
func TestOpenedPathIsRevised(t *testing.T) {
	h, workflow := opens(t)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	h.write("home/build-revise", `cat "$REPRISE_DIR/.github/workflows/ci.yml" >"$HOME/seen"
printf 'on: workflow_dispatch\njobs: {}\n' >"$REPRISE_DIR/.github/workflows/ci.yml"`+"\n")
	h.comment("mia", "/reject build it must not run by itself").end(exit.Done).wants("status", "waiting")
	if got := h.read("home/seen"); got != "on: [push, pull_request]\njobs: {}\n" {
		t.Errorf("the agent that revises sees\n%s", got)
	}
	stops := h.ours("stop")
	has(t, "the newest comment", stops[len(stops)-1].Body, "+on: workflow_dispatch")
	// Somebody pushes another one meanwhile.
	h.git("clone", "--quiet", "--branch=reprise/issue-7", h.path("origin.git"), h.path("other"))
	h.write("other/.github/workflows/ci.yml", "on: schedule\n")
	h.git("-C", h.path("other"), "commit", "--quiet", "--all", "--message=mine")
	h.git("-C", h.path("other"), "push", "--quiet")
	moved := h.say("mia", "/approve")
	h.heard(moved, "mia").end(exit.Done)
	if has(t, "the answer", h.replyTo(moved), "is not what the change was made for any more"); workflow() != "on: schedule\n" {
		t.Errorf("the workflow is\n%s", workflow())
	}
}

// What is not opened stays closed: other paths, other spellings, links, programs.
func TestOpenedPathAlone(t *testing.T) {
	h, workflow := opens(t)
	h.write("home/build-execute", `cd "$REPRISE_DIR"
echo x >.github/workflows/other.yml
rm .github/workflows/ci.yml
ln -s ../../code.txt .github/workflows/ci.yml
echo "on: push" >code.txt
`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	if got := workflow(); got != "on: push\njobs: {}\n" {
		t.Errorf("the workflow is\n%s", got)
	}
	if files := strings.Join(h.files(), " "); strings.Contains(files, "other.yml") {
		t.Errorf("on the branch are %s", files)
	}
}
