package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/testenv"
)

// By a comment a maintainer has the branch of the pull request made one commit. All that
// was there is kept, and a rollback goes on from it.
func TestSquashByComment(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	git := func(args ...string) string {
		t.Helper()
		out, err := testenv.Git(h.path("origin.git"), args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	before := h.tip()
	h.forge.Permit(hubRepo, "bob", "write")
	no := h.say("bob", "/finish --squash")
	h.heard(no, "bob").end(exit.Done)
	if h.tip() != before {
		t.Error("somebody with the right write has had it done")
	}
	h.forge.Permit(hubRepo, "mia", "maintain")
	squash := h.sayOn(8, "mia", "/finish --squash")
	h.heard(squash, "mia").end(exit.Done).wants("decision", "run", "status", "completed")
	h.signs(squash, "eyes rocket")
	if got, want := git("log", "--format=%s", "main..reprise/issue-7"), h.forge.Pulls(hubRepo)[0].Title; got != want {
		t.Errorf("the branch has %q, want one commit %q", got, want)
	}
	if got := git("ls-tree", "-r", "--name-only", "reprise/issue-7"); strings.Contains(got, ".reprise/") || !strings.Contains(got, "code.txt") {
		t.Errorf("it has:\n%s", got)
	}
	git("merge-base", "--is-ancestor", before, "refs/reprise/records/issue-7")

	squashed := h.tip()
	again := h.say("mia", "/finish --squash")
	h.heard(again, "mia").end(exit.Done)
	if h.tip() != squashed {
		t.Error("done again, it is another commit")
	}
	back := h.say("ada", "/rollback build because it is not polite")
	h.heard(back, "ada").end(exit.Done).wants("status", "completed")
	if run := h.record(); len(run.RollbackHistory) != 1 {
		t.Errorf("the record has the rollbacks %+v", run.RollbackHistory)
	}
	git("merge-base", "--is-ancestor", squashed, "reprise/issue-7")
}
