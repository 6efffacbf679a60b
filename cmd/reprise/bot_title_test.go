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
)

// A pull request is called as the repository calls its commits, has the labels of the
// issue and a status at each commit, and keeps the title that people give it: so does
// the one commit that the branch becomes.
func TestPullIsCalledAsTheRepositoryDoes(t *testing.T) {
	h := newStage(t, twoSteps+"labels: \"copy\"\nstatuses: true\n")
	for i := range 9 {
		h.git("-C", h.path("project"), "commit", "--quiet", "--allow-empty", fmt.Sprintf("--message=fix(api): number %d\n\nWith a body.", i))
	}
	h.publish(map[string]string{"more.txt": "more\n"})
	made := githubtest.NewChecks(h.forge, hubRepo, t.Cleanup)
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = []string{"Bug", "help wanted", "reprise", "Reprise:full"} })
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	pull := h.forge.Pulls(hubRepo)[0]
	if pull.Title != "fix: Say hello" || !slices.Equal(h.forge.Labels(hubRepo, 8), []string{"Bug", "help wanted"}) {
		t.Errorf("the pull request is %q, with the labels %q", pull.Title, h.forge.Labels(hubRepo, 8))
	}
	states := map[string]bool{}
	for _, p := range made.Posted {
		if states[p.State] = true; p.Context != "reprise" || p.Link == "" || p.Says == "" {
			t.Errorf("a status is %+v", p)
		}
	}
	if last := made.Posted[len(made.Posted)-1]; last.Commit != h.tip() || last.State != "success" || !states["pending"] || len(states) != 2 {
		t.Errorf("the branch is at %s, and the statuses are %+v", h.tip(), made.Posted)
	}

	h.forge.ChangeIssue(hubRepo, pull.Number, func(is *githubtest.Issue) {
		is.Title, is.Body = "fix: greet `everybody`", "I have tried it.\n\n"+is.Body+"\nMine."
	})
	h.write("home/build-revise", changesCode)
	h.comment("ada", "/rollback build because it is not polite").end(exit.Done).wants("status", "completed")
	if got := h.forge.Pulls(hubRepo)[0].Title; got != "fix: greet `everybody`" {
		t.Errorf("the pull request is called %q again", got)
	}
	if body := h.forge.Pulls(hubRepo)[0].Body; !strings.HasPrefix(body, "I have tried it.\n\n<!--") || !strings.HasSuffix(body, "\nMine.") || strings.Count(body, "Closes #7") != 1 {
		t.Errorf("its text is\n%s", body)
	}
	h.forge.Permit(hubRepo, "mia", "maintain")
	h.comment("mia", "/finish --squash").end(exit.Done).wants("status", "completed")
	if got, err := testenv.Git(h.path("origin.git"), "log", "-1", "--format=%s", "reprise/issue-7"); err != nil || got != "fix: greet `everybody`\n" {
		t.Errorf("the one commit is %q (%v)", got, err)
	}
}

// What the job that completed a run could not do is done by the next one, whatever that was started for, and once: a gate
// that only answers has it begin.
func TestErrandsAreDoneLater(t *testing.T) {
	h := newFaulty(t)
	broken := githubtest.Status(502, "down")
	h.forge.FaultWhen(func(r githubtest.Request) *githubtest.Fault {
		if r.Method != "POST" || !strings.HasSuffix(r.Path, "/labels") && !strings.HasSuffix(r.Path, "/pulls") {
			return nil
		}
		return &broken
	})
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.forge.FaultWhen(func(r githubtest.Request) *githubtest.Fault {
		if r.Method != "POST" || !strings.HasSuffix(r.Path, "/labels") {
			return nil
		}
		return &broken
	})
	h.comment("max", "/status").end(exit.Done)
	if all := h.forge.Pulls(hubRepo); len(all) != 1 || all[0].Draft {
		t.Fatalf("the pull requests are %+v", all)
	}
	pull := h.forge.Pulls(hubRepo)[0].Number
	h.forge.FaultWhen(func(githubtest.Request) *githubtest.Fault { return nil })
	for _, gate := range []string{"run", "replied"} {
		asked := h.say("max", "/status")
		h.inputs["command"] = "gate"
		h.heard(asked, "max").end(exit.Done).wants("decision", gate)
		delete(h.inputs, "command")
		h.heard(asked, "max").end(exit.Done).wants("decision", "replied")
		testenv.Has(t, "the answer", h.replyTo(asked), "Completed") // there is one
		if got := h.forge.Labels(hubRepo, pull); slices.Contains(got, "bug") != (gate == "run") {
			t.Errorf("where the gate says %s the pull request has the labels %q", gate, got)
		}
		h.forge.ChangeIssue(hubRepo, pull, func(is *githubtest.Issue) { is.Labels = nil })
	}
}

// A token that may give no status is told of once, and the run goes on.
func TestStatusIsNotAllowed(t *testing.T) {
	h := newStage(t, twoSteps+"statuses: true\n")
	h.forge.Allow(hubToken, hubRepo, map[string]string{"issues": "write", "contents": "write", "pull_requests": "write", "actions": "read", "checks": "read", "statuses": "read"})
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	asked := slices.DeleteFunc(h.forge.Requests(), func(r githubtest.Request) bool { return r.Method != "POST" || !strings.Contains(r.Path, "/statuses/") })
	if len(asked) != 1 {
		t.Errorf("it was tried %d times", len(asked))
	}
	live := h.ours("progress")[0].Body
	if testenv.Has(t, "the live comment", live, "statuses: write"); strings.Count(live, "statuses: write") != 1 {
		t.Errorf("it is told more than once:\n%s", live)
	}
}
