//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// opens is a stage whose pipeline opens a file of .github that is there.
func opens(t *testing.T) (h *hub, file func() string) {
	t.Helper()
	h = newStage(t, twoSteps+`protect: open: [".github/dependabot.yml"]`+"\n")
	h.publish(map[string]string{".github/dependabot.yml": "on: push\njobs: {}\n"})
	h.inputs["notify"] = "commander"
	h.forge.Permit(hubRepo, "mia", "maintain")
	h.write("home/build-execute", `printf 'on: [push, pull_request]\njobs: {}\n' >"$REPRISE_DIR/.github/dependabot.yml"`+"\n")
	return h, func() string {
		t.Helper()
		return testenv.MustGit(t, h.path("origin.git"), "show", environ.BranchPrefix+"7:.github/dependabot.yml")
	}
}

// A change at a protected path that the pipeline opens is on no branch until somebody with
// the right maintain has approved it, who sees it whole, and then it is exactly that.
func TestOpenedPathIsApproved(t *testing.T) {
	h, file := opens(t)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "reason-code", "waiting", "phase", "build")
	before := file()
	if before != "on: push\njobs: {}\n" {
		t.Errorf("the file is changed already:\n%s", before)
	}
	for _, kind := range []string{"progress", "stop"} {
		testenv.Has(t, "the comment "+kind, h.ours(kind)[0].Body, ".github/dependabot.yml", "-on: push\n+on: [push, pull_request]\n jobs: {}", "/approve", "reviews of the pull request are not obeyed any more")
	}
	no := h.say("ada", "/approve")
	h.heard(no, "ada").end(exit.Done)
	if testenv.Has(t, "the answer", h.replyTo(no), "maintain"); file() != before {
		t.Error("somebody without the right has changed it")
	}
	h.comment("mia", "/approve").end(exit.Done).wants("status", "completed", "pr-number", "8")
	testenv.Is(t, "the file is", file(), "on: [push, pull_request]\njobs: {}\n")
	// As was said, a review is answered, and a comment is obeyed.
	reviews := githubtest.NewReviews(h.forge, hubRepo)
	h.reviewed(reviews, reviews.Submit(8, githubtest.Review{Author: "mia", State: "CHANGES_REQUESTED", Body: "Not so."})).end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	h.comment("mia", "/rollback build not so").end(exit.Done).wants("decision", "run")
}

// What is asked for can be revised, and an approval is for what was seen: another text, or
// another state of the file, asks again.
func TestOpenedPathIsRevised(t *testing.T) {
	h, file := opens(t)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	h.write("home/build-revise", `cat "$REPRISE_DIR/.github/dependabot.yml" >"$HOME/seen"
printf 'on: workflow_dispatch\njobs: {}\n' >"$REPRISE_DIR/.github/dependabot.yml"`+"\n")
	h.comment("mia", "/rollback build it must not run by itself").end(exit.Done).wants("status", "waiting")
	testenv.Is(t, "the agent that revises sees", h.read("home/seen"), "on: [push, pull_request]\njobs: {}\n")
	stops := h.ours("stop")
	testenv.Has(t, "the newest comment", stops[len(stops)-1].Body, "+on: workflow_dispatch")
	// Somebody pushes another one meanwhile.
	h.git("clone", "--quiet", "--branch=reprise/issue-7", h.path("origin.git"), h.path("other"))
	h.write("other/.github/dependabot.yml", "on: schedule\n")
	h.git("-C", h.path("other"), "commit", "--quiet", "--all", "--message=mine")
	h.git("-C", h.path("other"), "push", "--quiet")
	moved := h.say("mia", "/approve")
	h.heard(moved, "mia").end(exit.Done)
	if testenv.Has(t, "the answer", h.replyTo(moved), "is no longer what it was when the change was proposed"); file() != "on: schedule\n" {
		t.Errorf("the file is\n%s", file())
	}
}

// What is not opened stays closed: other paths, other spellings, links, programs.
func TestOpenedPathAlone(t *testing.T) {
	h, file := opens(t)
	h.write("home/build-execute", `cd "$REPRISE_DIR"
echo x >.github/other.yml
rm .github/dependabot.yml
ln -s ../code.txt .github/dependabot.yml
echo "on: push" >code.txt
`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	testenv.Is(t, "the file is", file(), "on: push\njobs: {}\n")
	testenv.Lacks(t, "the branch", strings.Join(h.files(), " "), "other.yml")
}

// A repository in the place of an opened file is refused as what it is, also if the agent has
// told git to keep it as a link to a commit. Nobody is asked about it, and nothing of it is pushed.
func TestOpenedPathIsNoRepository(t *testing.T) {
	const empty = `cd "$REPRISE_DIR"
rm .github/dependabot.yml
git -c init.defaultBranch=main init --quiet .github/dependabot.yml
echo smuggled >.github/dependabot.yml/inside.txt
`
	const own = empty + `git -C .github/dependabot.yml add inside.txt
git -C .github/dependabot.yml -c user.name=own -c user.email=own@example.com commit --quiet --message=smuggled
git -C .github/dependabot.yml rev-parse HEAD >"$HOME/smuggled"
`
	const linked = own + `git update-index --add --cacheinfo "160000,$(cat "$HOME/smuggled"),.github/dependabot.yml"
git ls-files --stage .github >"$HOME/linked"
`
	for name, script := range map[string]string{"no commit": empty, "a commit": own, "a link": linked} {
		t.Run(name, func(t *testing.T) {
			h, file := opens(t)
			h.write("home/build-execute", script)
			h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
			run := h.record()
			broken := run.Phase("build").Violations
			if len(broken) != 1 || broken[0].Path != ".github/dependabot.yml" || broken[0].Rule != metadata.Because("nested_repository") {
				t.Errorf("refused is %+v", broken)
			}
			testenv.Is(t, "the file is", file(), "on: push\njobs: {}\n")
			pushed, err := testenv.Git(h.path("origin.git"), "rev-list", "--all", "--objects")
			if err != nil || strings.Contains(pushed, "inside.txt") {
				t.Errorf("pushed is (%v)\n%s", err, pushed)
			}
			if script == empty {
				return
			}
			commit := strings.TrimSpace(h.read("home/smuggled"))
			if _, err := testenv.Git(h.path("origin.git"), "cat-file", "-e", commit); err == nil {
				t.Errorf("%s was pushed", commit)
			}
			if script == linked {
				testenv.Has(t, "the index of the agent", h.read("home/linked"), "160000 "+commit)
			}
		})
	}
}

// A workflow is pushed only with a right that the token of a job cannot have: that is said
// before an agent is called where the issue names the file, and else before it is approved.
func TestOpenedWorkflowTakesARight(t *testing.T) {
	h := newStage(t, twoSteps+`protect: open: [".github/workflows/*.yml"]`+"\n")
	h.publish(map[string]string{".github/workflows/ci.yml": "on: push\n"})
	h.write("home/build-execute", `echo "on: pull_request" >"$REPRISE_DIR/.github/workflows/ci.yml"`+"\n")
	h.forge.Permit(hubRepo, "mia", "maintain")
	body := h.forge.Issues(hubRepo)[0].Body
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Body = "Update ci.yml, please." })
	early := h.say("ada", "/run")
	h.heard(early, "ada").end(anyCode).wants("reason-code", "credentials_missing")
	if testenv.Has(t, "the answer", h.replyTo(early), ".github/workflows/ci.yml", "the permission workflows"); h.calls() != "" {
		t.Errorf("the agents were called: %s", h.calls())
	}
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Body = body })
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	late := h.say("mia", "/approve")
	h.heard(late, "mia").end(exit.Done).wants("status", "waiting")
	testenv.Has(t, "the answer", h.replyTo(late), ".github/workflows/ci.yml", "the permission workflows")
}

// That an issue names what no agent may change is said before one is called, in the words of
// the run, with the way to open it.
func TestIssueNamesWhatIsProtected(t *testing.T) {
	h := newStage(t, twoSteps+"language: \"ja\"\n")
	h.publish(map[string]string{".github/workflows/ci.yml": "on: push\n"})
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Body = "Update ci.yml and `.github/CODEOWNERS`." })
	h.write("home/plan-execute", hangs)
	j := h.comment("ada", "/run")
	h.await(j.life, "home/working")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "Issue に", ".github/workflows/ci.yml", "CODEOWNERS", `open: \[".github/workflows/ci.yml"\]`)
	h.write("home/go-on", "")
	j.end(exit.Done)
}
