//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// When a run is completed, its folder leaves the branch of the pull request. What
// people ask for on the issue and on the pull request is answered from the record
// that is kept, and a rollback puts the folder back until the end.
func TestFolderLeavesThePull(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	files := func(ref string) string {
		t.Helper()
		return testenv.MustGit(t, h.path("origin.git"), "ls-tree", "-r", "--name-only", ref)
	}
	gone := func(after string) {
		t.Helper()
		if got := files("reprise/issue-7"); strings.Contains(got, ".reprise/") {
			t.Errorf("after %s the branch has:\n%s", after, got)
		}
		has(t, "the record that is kept", files("refs/reprise/records/issue-7"), ".reprise/issue-7/metadata.json")
		if pull := h.forge.Pulls(hubRepo)[0]; pull.Draft {
			t.Errorf("after %s the pull request is a draft", after)
		}
	}
	gone("the run")

	asked := h.sayOn(8, "ada", "/status")
	h.heard(asked, "ada").end(exit.Done).wants("decision", "replied", "issue", "7")
	if on := h.answersOn(8); len(on) != 1 || !strings.Contains(on[0], "Completed") {
		t.Errorf("on the pull request stands %q", on)
	}
	gone("a question")

	back := h.sayOn(8, "ada", "/rollback plan because the API must stay")
	h.heard(back, "ada").end(exit.Done).wants("decision", "run", "issue", "7", "status", "completed")
	h.signs(back, "eyes rocket")
	gone("a rollback")
	text, err := testenv.Git(h.path("origin.git"), "show", "refs/reprise/records/issue-7:.reprise/issue-7/metadata.json")
	if err != nil || !strings.Contains(text, "the API must stay") {
		t.Errorf("the record that is kept: %v\n%s", err, text)
	}
}

// A maintainer has the branch of a completed run made one commit, once; others have not.
func TestSquashByComment(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	before := h.tip()
	log := func() string {
		t.Helper()
		out := testenv.MustGit(t, h.path("origin.git"), "log", "--format=%s", "main..reprise/issue-7")
		return strings.TrimSpace(out)
	}
	h.comment("ada", "/finish --squash").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	if h.tip() != before {
		t.Error("somebody who may only write has rewritten the branch")
	}
	h.comment("max", "/finish --squash").end(exit.Done).wants("status", "completed")
	squashed := h.tip()
	if got := log(); strings.Contains(got, "\n") || got == "" {
		t.Errorf("the branch has %q", got)
	}
	if _, err := testenv.Git(h.path("origin.git"), "merge-base", "--is-ancestor", before, "refs/reprise/records/issue-7"); err != nil {
		t.Errorf("what was there is lost: %v", err)
	}
	h.comment("max", "/finish").end(exit.Done).wants("status", "completed")
	if h.tip() != squashed {
		t.Errorf("the branch went on to %s", log())
	}
	run := h.record()
	if n := len(run.Decisions); run.Decisions[n-2].Step != "finish" || run.Decisions[n-2].By != "max" || run.Execution.Lease != nil {
		t.Errorf("the record says %+v", run.Decisions[n-2:])
	}
}
