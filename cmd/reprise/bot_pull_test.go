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
	"github.com/reprise-ci/reprise/metadata"
)

// Commands on the pull request of a run are about its issue, and are answered where they were given, from the record that
// is kept: the folder of a completed run leaves the branch, and a rollback puts it back until the end.
func TestCommandsOnThePull(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	gone := func(after string) {
		t.Helper()
		if got := testenv.MustGit(t, h.path("origin.git"), "ls-tree", "-r", "--name-only", "reprise/issue-7"); strings.Contains(got, ".reprise/") || h.forge.Pulls(hubRepo)[0].Draft {
			t.Errorf("after %s the pull request is %+v, and the branch has:\n%s", after, h.forge.Pulls(hubRepo)[0], got)
		}
	}
	gone("the run")
	id := h.sayOn(8, "ada", "/status")
	h.heard(id, "ada").end(exit.Done).wants("decision", "replied", "issue", "7")
	h.signs(id, "eyes rocket")
	gone("a question")
	back := h.sayOn(8, "ada", "/rollback plan because the API must stay")
	h.heard(back, "ada").end(exit.Done).wants("decision", "run", "issue", "7", "status", "completed")
	h.signs(back, "eyes rocket")
	gone("a rollback")
	testenv.Has(t, "the record that is kept", testenv.MustGit(t, h.path("origin.git"), "show", "refs/reprise/records/issue-7:.reprise/issue-7/metadata.json"), "the API must stay")
	run := h.record()
	if n := len(run.RollbackHistory); n != 1 || run.RollbackHistory[0].By != "ada" || !strings.HasSuffix(run.RollbackHistory[0].CommentURL, "/pull/8#issuecomment-"+fmt.Sprint(back)) {
		t.Fatalf("the history of rollbacks is %+v", run.RollbackHistory)
	}
	refused := h.sayOn(8, "ada", "/run")
	h.heard(refused, "ada").end(exit.Done)
	h.signs(refused, "eyes confused")
	if on := h.answersOn(8); len(on) != 2 || !strings.Contains(on[0], "Completed") || len(h.ours("reply")) != 0 {
		t.Errorf("on the pull request stands %q, on the issue %+v", on, h.ours("reply"))
	}
	// The same event again, and a command on the issue, take nothing twice.
	h.heard(back, "ada").end(exit.Done).wants("reason-code", "stale_event")
	stays := h.say("ada", "/rollback build because of the tests")
	h.heard(stays, "ada").end(exit.Done).wants("status", "completed")
	if run := h.record(); len(run.RollbackHistory) != 2 || len(h.answersOn(8)) != 2 {
		t.Errorf("after that the history is %+v, and on the pull request stands %q", run.RollbackHistory, h.answersOn(8))
	}
	// What the issue says is taken from an event of the issue only.
	fresh := h.sayOn(8, "ada", "/run --refresh=issue")
	h.heard(fresh, "ada").end(exit.Done)
	h.signs(fresh, "eyes confused")
	stranger := h.sayOn(8, "eve", "/cancel")
	h.heard(stranger, "eve").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	h.signs(stranger, "")
}

// A command on the pull request reaches the run while an agent works, in the
// order of all others, and with none of them lost.
func TestCommandOnThePullWhileAnAgentWorks(t *testing.T) {
	h := newStage(t, strings.Replace(twoSteps, "false}]", `false}, {name: "tell", goal: "Tell.", review: false}]`, 1))
	h.write("home/build-execute", changesCode)
	h.write("home/tell-execute", hangs)
	j := h.comment("ada", "/run")
	h.await(j.life, "home/working")
	on, off := h.say("max", "/skip plan it is done"), h.sayOn(8, "ada", "/cancel enough")
	j.end(exit.Cancelled).wants("status", "cancelled")
	h.signs(on, "eyes confused")
	h.signs(off, "eyes rocket")
	run := h.record()
	var taken []string
	for _, d := range run.Decisions {
		if d.Comment > 0 {
			taken = append(taken, d.Step)
		}
	}
	if !slices.Equal(taken, []string{"run", "skip", "cancel"}) || run.Status != metadata.Cancelled {
		t.Errorf("taken were %q, the run is %s", taken, run.Status)
	}
	h.gone()
}

// On pull requests of others there is silence, and one answer for people with
// the right: nothing that stands in one makes it that of a run.
func TestCommandsOnOtherPulls(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run --phases ..plan").end(exit.Done)
	h.git("-C", h.path("project"), "push", "--quiet", "origin", "HEAD:topic", "HEAD:reprise/issue-9")
	for _, tt := range []struct {
		name    string
		pull    githubtest.Pull
		by      string
		body    string
		code    string
		signs   string
		answers int
	}{
		{"of somebody", githubtest.Pull{Head: "topic", Body: "<!-- reprise:pull issue=7 -->\nCloses #7"}, "ada", "/run", "nothing_done", "confused", 1},
		{"of somebody, a name that others share", githubtest.Pull{Head: "topic"}, "ada", "/approve", "nothing_done", "", 0},
		{"of somebody, a mistake", githubtest.Pull{Head: "topic"}, "ada", "/rolback x", "nothing_done", "", 0},
		{"of somebody, by a stranger", githubtest.Pull{Head: "topic"}, "eve", "/run", "permission_denied", "", 0},
		{"a branch with such a name, and no record", githubtest.Pull{Head: "reprise/issue-9"}, "ada", "/status", "nothing_done", "confused", 1},
		{"a branch of that name in a fork", githubtest.Pull{Head: "reprise/issue-7", HeadRepository: "eve/widget"}, "ada", "/run", "nothing_done", "confused", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.forge.AddRepository("eve/widget", false)
			tt.pull.Title = "Something else"
			n := h.forge.AddPull(hubRepo, tt.pull)
			before := h.record().Revision
			id := h.sayOn(n, tt.by, tt.body)
			h.heard(id, tt.by).end(exit.Done).wants("reason-code", tt.code)
			h.signs(id, tt.signs)
			if got := h.answersOn(n); len(got) != tt.answers {
				t.Errorf("the answers are %q", got)
			}
			testenv.Is(t, "the revision of the record is", h.record().Revision, before)
		})
	}
	n := h.forge.AddPull(hubRepo, githubtest.Pull{Head: "reprise/issue-7", Title: "Ours"})
	for _, ref := range []string{"refs/heads/reprise/issue-7", "refs/reprise/records/issue-7"} {
		testenv.MustGit(t, h.path("origin.git"), "update-ref", "-d", ref)
	}
	h.heard(h.sayOn(n, "ada", "/approve"), "ada").end(exit.Done).wants("reason-code", "no_run")
	testenv.Has(t, "the answer", strings.Join(h.answersOn(n), ""), "reprise/issue-7 of the run was deleted: restore it")
}
