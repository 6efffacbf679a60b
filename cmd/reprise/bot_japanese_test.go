//go:build slow || e2e

package main

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// inJapanese is a pipeline whose run meets all that stops one.
const inJapanese = `
name: "own"
baseline: false
language: "ja"
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "plan", goal: "計画する。", review: false, approve: "maintain", report: {questions?: [...string]}},
	{name: "build", goal: "作る。", gates: ["動く"], needs: ["plan"], access: "tree", revisions: 1, checks: [{name: "unit", run: "test -e ok.txt"}]},
	{name: "tell", goal: "伝える。", review: false, report: {again: bool}},
	{name: "more", goal: "補う。", review: false},
]
rules: [{after: "tell", when: {report: again: true}, then: rollback: {to: "build", step: "revise", reason: "説明と合わない"}}]
`

// A whole life in Japanese: nothing that reprise says in it is in English.
func TestALifeInJapanese(t *testing.T) {
	h := newCrew(t, inJapanese)
	h.write("home/plan-execute", asksOnce(`"RESTですか"`))
	h.write("home/build-execute", changesCode)
	h.write("home/build-revise", "echo whole >\"$REPRISE_DIR/ok.txt\"\n")
	verdict := func(word, status string) {
		h.write("home/build-review", `echo '{"structured": {"verdict": "`+word+`", "gates": [{"gate": "動く", "pass": true, "why": "見た"}], "findings": [
			{"id": "F1", "severity": "blocker", "title": "遅い", "problem": "遅い", "impact": "待つ", "solution": "速くする", "status": "`+status+`"}]}}'
exit 0
`)
	}
	verdict("fail", "new")
	told := func(again string) {
		h.write("home/tell-execute", "echo 済み >>\"$REPRISE_ARTIFACT\"\necho '{\"structured\": {\"again\": "+again+"}, \"usage\": {\"input_tokens\": 1, \"output_tokens\": 1, \"cached_tokens\": 0, \"cost_usd\": 20}}'\nexit 0\n")
	}
	told("true")
	var jobs []*hubJob
	give := func(by, command string) *hubJob {
		t.Helper()
		j := h.comment(by, command).end(anyCode)
		jobs = append(jobs, j)
		for _, c := range h.forge.Comments(hubRepo, hubIssue) {
			if found := testenv.English(c.Body); c.Author == "github-actions[bot]" && found != "" {
				t.Errorf("after %s a comment says %q:\n%s", command, found, c.Body)
			}
		}
		if found := testenv.English(j.summary); found != "" {
			t.Errorf("after %s the summary says %q:\n%s", command, found, j.summary)
		}
		return j
	}
	stopped := func(code metadata.Code) {
		t.Helper()
		if run := h.record(); run.Stop == nil || run.Stop.Code != code {
			t.Fatalf("the run is %s (%+v), want it to stop with %s", run.Status, run.Stop, code)
		}
	}
	give("ada", "/config")
	give("ada", "/run")
	stopped(metadata.AwaitingPerson)
	give("ada", "/approve")
	give("ada", "/answer はい、RESTです。")
	stopped(metadata.AwaitingPerson)
	give("ada", "/rollback nowhere 理由")
	give("ada", "/rollback plan 小さくする")
	stopped(metadata.AwaitingPerson)
	give("max", "/approve")
	stopped(metadata.ReviewFailed)
	give("ada", "/status")
	give("ada", "/config")
	give("ada", "/help")
	verdict("pass", "fixed")
	give("ada", "/retry")
	stopped(metadata.BudgetExceeded)
	told("false")
	give("ada", "/run --more usd=100")
	if run := h.record(); run.Status != metadata.Completed && run.Stop.Code == metadata.BudgetExceeded {
		give("max", "/skip more 要らない")
	}
	if run := h.record(); run.Status != metadata.Completed || len(run.RollbackHistory) < 2 {
		t.Errorf("the run is %s (%+v) and went back %d times", run.Status, run.Stop, len(run.RollbackHistory))
	}
	for _, p := range h.forge.Pulls(hubRepo) {
		if found := testenv.English(p.Title + "\n" + p.Body); found != "" {
			t.Errorf("the pull request says %q:\n%s", found, p.Body)
		}
	}
	for _, name := range h.files() {
		if !strings.HasPrefix(name, ".reprise/") || path.Ext(name) != ".md" || path.Base(name) == "issue.md" {
			continue
		}
		text := testenv.MustGit(t, h.path("origin.git"), "show", world.RecordAt(h.path("origin.git"), environ.BranchPrefix+"7")+":"+name)
		if found := testenv.English(text); found != "" {
			t.Errorf("%s says %q:\n%s", name, found, text)
		}
	}
	head := regexp.MustCompile(`^\d\d:\d\d:\d\d  (\d/4  \w+ +\w+ +(own)?)?`) // names stand in columns
	for _, j := range jobs {
		for line := range strings.Lines(j.said.String()) {
			if found := testenv.English(head.ReplaceAllString(line, "")); head.MatchString(line) && found != "" {
				t.Errorf("the log says %q: %s", found, line)
			}
		}
	}
}

// What git, GitHub or the token keep a Japanese run from is told in Japanese:
// in English is only what they have said themselves, in quotes.
func TestTroubleInJapanese(t *testing.T) {
	h := newCrew(t, inJapanese)
	h.inputs["language"] = "ja" // which a job also speaks where there is no run yet
	h.write("home/plan-execute", "echo 計画 >>\"$REPRISE_ARTIFACT\"\n")
	give := func(command string, want ...string) {
		t.Helper()
		j := h.comment("ada", command).end(anyCode)
		told := []string{j.summary}
		for _, c := range h.forge.Comments(hubRepo, hubIssue) {
			if c.Author == "github-actions[bot]" {
				told = append(told, c.Body)
			}
		}
		for _, text := range told {
			if found := testenv.English(testenv.QuotedWords.ReplaceAllString(text, "、")); found != "" {
				t.Errorf("after %s somebody is told %q:\n%s", command, found, text)
			}
		}
		for _, w := range want {
			testenv.Has(t, "what is told", strings.Join(told, "\n"), w)
		}
	}
	hook := h.path("origin.git/hooks/pre-receive")
	h.write("origin.git/hooks/pre-receive", "#!/bin/sh\necho GH006 this branch is protected >&2\nexit 1\n")
	testenv.Must(t, os.Chmod(hook, 0o755))
	give("/run", "にプッシュできませんでした", "GH006 this branch is protected")
	testenv.Must(t, os.Remove(hook))
	h.forge.Fault("GET /repos/acme/widget/contents/.github/reprise/pipelines", githubtest.Status(403, "Resource not accessible by integration"))
	h.forge.Fault("POST /repos/acme/widget/issues/7/comments", githubtest.Status(403, "Resource not accessible by integration"))
	give("/config")
	h.forge.Fault("POST /repos/acme/widget/pulls", githubtest.Status(403, "Resource not accessible by integration"))
	give("/run", "ワークフローの `permissions:` で与えてください", "が許可しませんでした", "トークンに権限「")
	give("/run")
	give("/pause 昼休み")
	give("/cancel 不要")
	testenv.Is(t, "the run is", h.record().Status, metadata.Cancelled)
}
