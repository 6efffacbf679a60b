//go:build slow || e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/setup"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// refusesWhole is a hook of the server that does not take the work of changesCode, as GitHub does not take secrets.
const refusesWhole = `#!/bin/sh
while read old new ref; do
	if git show $new:code.txt 2>/dev/null | grep -q whole; then
		echo 'error: GH013: Push cannot contain secrets: code.txt:1' >&2
		exit 1
	fi
done
exit 0
`

// What a server refuses of the work is a stop in the record: with the server's words, which the next prompt has as well,
// and with the money, until that is used up.
func TestServerRefusesTheWork(t *testing.T) {
	h := newStage(t, strings.Replace(twoSteps, `name: "own"`, "name: \"own\"\nbudget: usd: 2", 1))
	h.write("origin.git/hooks/pre-receive", refusesWhole)
	h.mayRun("origin.git/hooks/pre-receive")
	h.write("home/build-execute", `cat "$REPRISE_TASK_FILE" >>"$HOME/prompts"`+changesCode+`echo done >>"$REPRISE_ARTIFACT"
echo '{"usage": {"input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cost_usd": 0.6}}'
exit 0
`)
	const said = "GH013: Push cannot contain secrets: code.txt:1"
	h.comment("ada", "/run").end(anyCode).wants("reason-code", "push_failed", "cost-usd", "1.2000")
	h.called("plan execute, build execute, build execute")
	run := h.record()
	if run.Status != metadata.Waiting || run.Execution.Lease != nil || strings.Count(h.read("home/prompts"), said) == 0 {
		t.Errorf("the run is %s, with the lease %v; the prompts say\n%s", run.Status, run.Execution.Lease, h.read("home/prompts"))
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, said)
	h.remove("home/prompts")
	h.comment("ada", "/run").end(exit.Waiting).wants("reason-code", "push_failed", "cost-usd", "2.4000")
	testenv.Has(t, "the prompt of the next job", h.read("home/prompts"), said)
	h.comment("ada", "/run").end(exit.Budget).wants("reason-code", "budget_exceeded", "cost-usd", "2.4000")
	h.called("plan execute, build execute, build execute, build execute, build execute")
}

// What keeps a paid step from a branch altogether is told by the job itself, with the cost, and not called an
// interruption by the job that ends it. The next one counts the money.
func TestBranchTakesNothingAfterThePaidCall(t *testing.T) {
	const paid = `echo done >>"$REPRISE_ARTIFACT"
echo '{"usage": {"input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cost_usd": 0.6}}'
exit 0
`
	for name, tt := range map[string]struct{ during, said, code string }{
		"locked": {`printf '#!/bin/sh\necho "GH006: the branch is locked" >&2\nexit 1\n' >"$HOME/../origin.git/hooks/pre-receive"
chmod 755 "$HOME/../origin.git/hooks/pre-receive"
`, "GH006: the branch is locked", "push_failed"},
		"rewritten": {`cd "$HOME/../origin.git"
GIT_AUTHOR_NAME=eve GIT_AUTHOR_EMAIL=e@x GIT_COMMITTER_NAME=eve GIT_COMMITTER_EMAIL=e@x git update-ref refs/heads/reprise/issue-7 \
	$(git commit-tree -p main -m rewritten reprise/issue-7^{tree})
cd "$REPRISE_DIR"
`, "its history was rewritten there", "ref_changed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newStage(t, strings.Replace(twoSteps, `name: "own"`, "name: \"own\"\nbudget: usd: 2", 1))
			h.inputs["notify"] = "commander"
			h.write("home/build-execute", tt.during+paid)
			id := h.say("ada", "/run")
			j := h.heard(id, "ada", "GITHUB_RUN_ID=9001").end(exit.Failed).wants("reason-code", tt.code)
			h.signs(id, "eyes -1")
			testenv.Has(t, "the log", j.said.String(), tt.said)
			for range 2 {
				live := h.ours("progress")[0].Body
				testenv.Has(t, "the live comment", live, tt.said, "$0.60")
				testenv.Lacks(t, "the live comment", live, "Interrupted")
				h.inputs["command"], h.inputs["issue"] = setup.EndOnly, fmt.Sprint(hubIssue)
				h.start("issue_comment", "ada", []byte("{}"), "GITHUB_RUN_ID=9001", "GITHUB_WORKSPACE="+h.path("nowhere")).end(exit.Done).wants("decision", "ignored")
			}
			stops := h.ours("stop")
			if len(stops) != 1 {
				t.Fatalf("people are told %+v", stops)
			}
			testenv.Has(t, "the word of it", stops[0].Body, "@ada", tt.said)
			delete(h.inputs, "command")
			delete(h.inputs, "issue")
			if name == "locked" {
				h.remove("origin.git/hooks/pre-receive")
			}
			h.write("home/build-execute", paid)
			h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Status: "completed"})
			h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "cost-usd", "1.2000")
		})
	}
}

// What an agent cost that was asked where to go back to counts, also if the branch took no push after it.
func TestMoneyOfAnOpinionThatCannotBePushed(t *testing.T) {
	h := newStage(t, strings.Replace(twoSteps, `name: "own"`, "name: \"own\"\nbudget: usd: 0.4", 1))
	h.done("en")
	h.looked(back("high"))
	h.write("home/build-diagnose", `printf '#!/bin/sh\nexit 1\n' >"$HOME/../origin.git/hooks/pre-receive"
chmod 755 "$HOME/../origin.git/hooks/pre-receive"
`+h.read("home/build-diagnose"))
	for _, code := range []string{"push_failed", "push_failed", "completed"} { // the third is refused
		h.comment("ada", "/rollback --auto the list ends").end(anyCode).wants("reason-code", code)
		h.write("origin.git/hooks/pre-receive", "#!/bin/sh\n")
		h.forge.AddRun(hubRepo, githubtest.Run{ID: int64(9000 + h.jobs), Status: "completed"})
	}
	h.called("plan execute, build execute, build diagnose, build diagnose")
	testenv.Is(t, "the run has cost", metadata.Rounded(h.record().Cost.USD), 0.5)
}

// A rollback that the branch does not take is answered with what to do, and nothing is lost by giving it again.
func TestRollbackOfALockedBranch(t *testing.T) {
	h := newStage(t, twoSteps)
	h.comment("ada", "/run").end(exit.Done)
	h.write("origin.git/hooks/pre-receive", "#!/bin/sh\necho 'GH006: the branch is in the merge queue' >&2\nexit 1\n")
	h.mayRun("origin.git/hooks/pre-receive")
	id := h.say("ada", "/rollback build because of X")
	h.heard(id, "ada").end(exit.Failed).wants("reason-code", "push_failed")
	answer := h.replyTo(id)
	testenv.Has(t, "the answer", answer, "GH006: the branch is in the merge queue", "give it again once the branch takes pushes")
	testenv.Lacks(t, "the answer", answer, "/resume")
	h.remove("origin.git/hooks/pre-receive")
	h.comment("ada", "/rollback build because of X").end(exit.Done).wants("status", "completed")
	if run := h.record(); len(run.RollbackHistory) != 1 {
		t.Errorf("the rollback is nowhere: %+v", run.Decisions)
	}
}

// A base that the server does not let us merge stays unmerged: people are told the words of the server and what to do. The
// run goes on once a person has updated the branch, and nothing is paid again.
func TestServerRefusesTheBase(t *testing.T) {
	const said = "refusing to allow a GitHub App to create or update workflow .github/workflows/ci.yml without workflows permission"
	h := newStage(t, twoSteps)
	h.write("origin.git/hooks/update", `#!/bin/sh
[ "$1" != refs/heads/reprise/issue-7 ] || git cat-file -e "$2:.github/workflows/late.yml" 2>/dev/null || ! git cat-file -e "$3:.github/workflows/late.yml" 2>/dev/null || [ -e "$(dirname "$0")/by-hand" ] ||
	{ echo "`+said+`" >&2; exit 1; }
`)
	h.mayRun("origin.git/hooks/update")
	h.write("home/build-execute", changesCode+fmt.Sprintf(`
git clone --quiet --branch=main "file://%s" "$HOME/moving"
cd "$HOME/moving" && mkdir -p .github/workflows && echo 'on: push' >.github/workflows/late.yml && git add --all
git -c user.name=P -c user.email=p@example.com commit --quiet --message='the base gets a workflow' && git push --quiet || exit 9
`, h.path("origin.git")))
	h.comment("ada", "/run").end(exit.Failed).wants("status", "failed", "reason-code", "conflict")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, said, "a person with the right has to update the branch with main")
	if run := h.record(); run.Stop == nil || run.Execution.Lease != nil {
		t.Errorf("the record is %s, %+v, with the lease %+v", run.Status, run.Stop, run.Execution.Lease)
	}
	h.comment("ada", "/run").end(exit.Failed).wants("reason-code", "conflict")

	h.write("origin.git/hooks/by-hand", "")
	clone := h.path("theirs")
	h.git("clone", "--quiet", "--branch=reprise/issue-7", "file://"+h.path("origin.git"), clone)
	h.git("-C", clone, "merge", "--quiet", "--no-edit", "origin/main")
	h.git("-C", clone, "push", "--quiet")
	h.remove("origin.git/hooks/by-hand")
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.called("plan execute, build execute")
	if h.forge.Pulls(hubRepo)[0].Draft {
		t.Error("the pull request is a draft")
	}
}
