//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

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
