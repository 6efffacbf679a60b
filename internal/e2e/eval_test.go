//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// evaluated is what an evaluation says of a suite, as --json has it.
type evaluated struct {
	Variants []struct {
		Name   string `json:"variant"`
		Runs   int
		Solved int
		USD    float64 `json:"cost_usd"`
	}
	Unanswered []string
	Results    []struct {
		Case, Variant string
		Solved        bool
		Stale         []string
	}
}

// evaluate evaluates the suite of this place.
func (p *place) evaluate(code int, more ...string) (e evaluated) {
	p.t.Helper()
	out := p.reprise(append([]string{"eval", "../suite", "--json"}, more...)...)
	p.want(code, out)
	if err := json.Unmarshal([]byte(out.stdout), &e); err != nil {
		p.t.Fatalf("%v\n%s", err, out.stdout)
	}
	return e
}

// solved gives, by variant, how many runs were solved.
func (e evaluated) solved() map[string]int {
	all := map[string]int{}
	for _, v := range e.Variants {
		all[v.Name] = v.Solved
	}
	return all
}

// Claude Code solves the case, and Codex claims to: a check that neither of them sees tells
// them apart.
func TestEvaluatesPrograms(t *testing.T) {
	p := newPlace(t)
	works, lies := (&worker{change: changes}).script(), (&worker{change: "printf '\\n// hullo\\n' >>main.go"}).script()
	p.says(func(r m.Request) m.Reply {
		if r.API == m.Messages {
			return works(r)
		}
		return lies(r)
	})
	p.write("suite/suite.cue", `variants: {claude: {pipeline: "fix", agent: "claude"}, codex: {pipeline: "fix", agent: "codex"}}`)
	p.write("suite/greeting/issue.md", issueText)
	p.write("suite/greeting/case.cue", `checks: [{name: "greets", run: "grep -q \"$(cat want)\" main.go"}]`)
	p.write("suite/greeting/repo/main.go", "package main\n\nfunc main() {}\n")
	p.write("suite/greeting/hidden/want", "hello")
	both := p.script
	p.says(func(m.Request) m.Reply { return m.Fail(401) })
	if none := p.evaluate(1); len(none.Results) != 0 || len(none.Unanswered) != 2 {
		t.Errorf("with a key that nobody knows: %+v", none)
	}
	p.says(both)
	live := p.evaluate(1, "--jobs", "2")
	if got := live.solved(); got["claude"] != 1 || got["codex"] != 0 || len(live.Results) != 2 || live.Variants[0].USD <= 0 {
		t.Fatalf("%+v", live)
	}
	for _, r := range p.model.Requests() {
		testenv.Lacks(t, "a request", string(r.Body), "cat want", canary)
	}
}

// A mistake is planted into accepted work of a real run. The review of a program that reads
// the code finds it; that of one which believes what it is told does not.
func TestReviewsOfPrograms(t *testing.T) {
	p := newPlace(t)
	writer := (&worker{change: changes}).script()
	p.says(func(r m.Request) m.Reply {
		planted := strings.Contains(string(r.Body), `hullo`)
		if !isReview(r) || !planted || r.API != m.Messages {
			return writer(r)
		}
		if mayRun(r) && len(r.Results()) == 0 {
			return m.Run("git log --oneline -1")
		}
		v := judgement(r, gatesOf(r), false)
		v["findings"].([]any)[0].(map[string]any)["file"] = "main.go"
		return m.Answer(v)
	})
	p.want(0, p.start("--agent", "claude"))
	p.write("suite/suite.cue", `variants: {claude: {agent: "claude"}, codex: {agent: "codex"}}`)
	commit := strings.TrimSpace(p.git(p.repo, "log", "-1", "--format=%H", "--grep=implement: execute", "reprise/issue-7"))
	p.write("suite/review/case.cue", fmt.Sprintf("repo: %q\ncommit: %q\nstep: {phase: \"implement\", step: \"review\"}\nmutation: [{file: \"main.go\", find: \"hello\", replace: \"hullo\"}]\nexpect: verdicts: implement: \"fail\"\n", p.repo, commit))
	out := p.reprise("eval", "../suite", "--review")
	p.want(0, out)
	for _, want := range []string{`(?m)^claude +1 of 1 `, `(?m)^codex +0 of 1 `, `(?m)^missed: codex, `} {
		if !regexp.MustCompile(want).MatchString(out.stdout) {
			t.Errorf("no %s in\n%s", want, out.stdout)
		}
	}
}
