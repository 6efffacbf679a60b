//go:build slow || e2e

package main

import (
	"fmt"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A base that gets another name while a run is at work stays its base.
func TestBaseIsRenamed(t *testing.T) {
	h := newStage(t, twoSteps)
	j, _ := h.working()
	origin := h.path("origin.git")
	h.git("--git-dir", origin, "branch", "--move", "main", "trunk")
	h.git("--git-dir", origin, "symbolic-ref", "HEAD", "refs/heads/trunk")
	h.forge.Configure(hubRepo, githubtest.Settings{DefaultBranch: "trunk"})
	h.write("home/go-on", "")
	j.end(exit.Done).wants("status", "completed", "pr-number", "8")
	testenv.Is(t, "the pull request goes to", h.forge.Pulls(hubRepo)[0].Base, "trunk")
	testenv.Lacks(t, "the live comment", h.ours("progress")[0].Body, "is not known")
}

// What the base has got while a run was at work is merged before its pull request is
// ready, and later by a comment. Where the two conflict, people are told.
func TestBaseMoves(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["notify"] = "commander"
	h.write("home/build-execute", changesCode+fmt.Sprintf(`
git clone --quiet --branch=main "file://%s" "$HOME/moving"
cd "$HOME/moving" && echo theirs >theirs.txt && git add --all
git -c user.name=P -c user.email=p@example.com commit --quiet --message='the base moves' && git push --quiet || exit 9
`, h.path("origin.git")))
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	origin := h.path("origin.git")
	has := func(when, file string) {
		t.Helper()
		if _, err := testenv.Git(origin, "merge-base", "--is-ancestor", "main", "reprise/issue-7"); err != nil {
			t.Errorf("%s: the branch lacks some of main: %v", when, err)
		}
		if _, err := testenv.Git(origin, "cat-file", "-e", "reprise/issue-7:"+file); err != nil {
			t.Errorf("%s: the branch lacks %s: %v", when, file, err)
		}
	}
	has("before it was ready", "theirs.txt")
	if h.forge.Pulls(hubRepo)[0].Draft {
		t.Error("the pull request is a draft")
	}

	h.git("-C", h.path("project"), "pull", "--quiet", "--rebase", "origin", "main")
	h.publish(map[string]string{"later.txt": "later\n"})
	asked := h.say("ada", "/update")
	h.heard(asked, "ada").end(exit.Done).wants("decision", "run", "status", "completed")
	h.signs(asked, "eyes rocket")
	has("after /update", "later.txt")
	if h.forge.Pulls(hubRepo)[0].Draft || len(h.ours("stop")) != 2 {
		t.Errorf("after /update the pull request is a draft, or people were not told: %+v", h.ours("stop"))
	}
	if _, err := testenv.Git(origin, "cat-file", "-e", "reprise/issue-7:code.txt"); err != nil {
		t.Errorf("the work is lost: %v", err)
	}

	h.publish(map[string]string{"code.txt": "theirs\n"})
	h.comment("ada", "/update").end(exit.Failed).wants("status", "failed", "reason-code", "conflict")
	if got := h.forge.Pulls(hubRepo)[0]; !got.Draft {
		t.Error("the pull request is ready in spite of a conflict")
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "code.txt")
}
