package source

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/pipelines"
)

// resolve evaluates a pipeline that has no mistakes.
func resolve(t *testing.T, text string) *pipelines.Pipeline {
	t.Helper()
	p, err := evaluate(request{Files: []file{{Name: "mine.cue", Text: text}}})
	if err != nil {
		t.Fatalf("%s:\n%v", text, err)
	}
	return p
}

// TestDefaults has everything that is left out of the smallest pipeline.
func TestDefaults(t *testing.T) {
	minutes := func(n int) pipelines.Duration { return pipelines.Duration(time.Duration(n) * time.Minute) }
	write := pipelines.Step{Agent: "writer", Tier: "medium", Model: "sonnet", Timeout: minutes(20), Idle: minutes(5), Network: pipelines.Network{Closed: true}}
	want := &pipelines.Pipeline{
		Name:     "mine",
		Language: "en",
		Agents: map[string]pipelines.Agent{
			"writer": {
				Use: "claude", Fallback: "second",
				Models: map[string]string{"heavy": "opus", "medium": "sonnet", "light": "haiku"},
			},
			"second":   {Use: "codex"},
			"reviewer": {Use: "codex", Access: pipelines.AccessRun, Fallback: "writer"},
		},
		Budget: pipelines.Budget{USD: 10, Time: minutes(120), Attempts: 60},
		Limits: pipelines.Limits{Files: 100, Bytes: 4_000_000},
		Phases: []pipelines.Phase{{
			Name: "do_it", Goal: "Do it.", Folder: "00_do_it", Writes: "do-it.md", Access: pipelines.AccessArtifacts, Revisions: 3,
			Retry:   pipelines.Retry{Max: 3, Initial: pipelines.Duration(time.Second), Factor: 2, Cap: minutes(1)},
			Execute: write,
			Review:  pipelines.Step{Agent: "reviewer", Tier: "medium", Timeout: minutes(20), Idle: minutes(5), Network: pipelines.Network{Closed: true}, Access: pipelines.AccessRead},
			Revise:  write,
		}},
		Source: "mine.cue",
	}
	got := resolve(t, "phases: [{name: \"do_it\", goal: \"\"\"\n\tDo it.\n\n\t\"\"\"}]")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSteps(t *testing.T) {
	type steps struct{ Execute, Review, Revise string }
	const agents = `agents: {writer: {use: "claude", models: {heavy: "opus", medium: "sonnet"}}, other: {use: "claude"}, third: {use: "codex"}}, `
	for name, test := range map[string]struct {
		top, phase string
		want       steps
	}{
		"another vendor reviews": {agents, "", steps{"writer medium sonnet", "third medium ", "writer medium sonnet"}},
		"the only agent reviews itself": {
			`agents: {one: {use: "claude"}}, `, "",
			steps{"one medium ", "one medium ", "one medium "},
		},
		"two of one vendor": {
			`agents: {writer: {use: "claude"}, b: {use: "claude"}}, `, "",
			steps{"writer medium ", "b medium ", "writer medium "},
		},
		"an agent of the phase": {
			agents, `agent: "third", tier: "heavy"`,
			steps{"third heavy ", "other heavy ", "third heavy "},
		},
		"revise follows execute": {
			agents, `steps: execute: {agent: "other", model: "m"}`,
			steps{"other medium m", "third medium ", "other medium "},
		},
		"a model for those who write": {
			agents, `model: "m"`,
			steps{"writer medium m", "third medium ", "writer medium m"},
		},
		"each step by itself": {
			agents, `tier: "heavy", steps: {review: {agent: "writer", tier: "medium"}, revise: tier: "light"}`,
			steps{"writer heavy opus", "writer medium sonnet", "writer light "},
		},
		"defaults": {
			agents + `defaults: {agent: "other", reviewer: "writer", tier: "heavy"}, `, "",
			steps{"other heavy ", "writer heavy opus", "other heavy "},
		},
		"the agent called reviewer writes": {
			"", `agent: "reviewer"`,
			steps{"reviewer medium ", "writer medium sonnet", "reviewer medium "},
		},
	} {
		p := resolve(t, test.top+`phases: [{name: "a", goal: "x", `+test.phase+`}]`)
		show := func(s pipelines.Step) string { return s.Agent + " " + s.Tier + " " + s.Model }
		ph := p.Phases[0]
		got := steps{show(ph.Execute), show(ph.Review), show(ph.Revise)}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSettings has one of everything, to see that each lands where it belongs.
func TestSettings(t *testing.T) {
	p := resolve(t, `
description: "d", select: {labels: ["l"], title: "t", type: "y"}, language: "ja"
agents: {a: {use: "command", command: ["x", "-y"], env: ["KEY"], access: "read"}}
defaults: {timeout: "1h", idle: "90s", revisions: 0, retry: {max: 0, cap: "5m"}}
budget: {usd: 0, tokens: 5_000_000, time: "0s", attempts: 7, issue_usd: 2.5}
limits: {files: 12, bytes: "500kB", binary: ["*.pdf"]}
prices: {m: {input: 1, output: 2}, n: {input: 1, cached: 0, output: 2}}
phases: [{
	name: "a", goal: "x", writes: "x.txt", must_change: true, approve: "maintain", revise: "always", review: false
	checks: [{name: "c", run: "make", timeout: "1m"}]
	retry: {initial: "2s", factor: 1.5}
	timeout: "30m", turns: 9, prompt: "own.md", steps: {revise: {timeout: "10m", turns: 4, prompt: "again.md", idle: "1m"}}
}, {name: "b", goal: "y", needs: ["a"], report: {n: int}}]
spare: [{name: "s", goal: "z"}]
rules: [{after: "b", when: {report: n: >5}, then: rollback: {to: "a", reason: "too many"}}]
presets: one: ["a"]
protect: ["LICENSE", "deploy/**"]
secrets: allow: ["testdata/**"]
transcripts: keep: "30d"
sandbox: {sockets: true, file: "2GB", disk: "500MB"}
`)
	minutes := func(n int) pipelines.Duration { return pipelines.Duration(time.Duration(n) * time.Minute) }
	second := pipelines.Duration(time.Second)
	a := pipelines.Step{Agent: "a", Tier: "medium", Timeout: minutes(30), Idle: 90 * second, Turns: 9, Network: pipelines.Network{Closed: true}}
	execute, revise := a, pipelines.Step{Agent: "a", Tier: "medium", Timeout: minutes(10), Idle: minutes(1), Turns: 4, Prompt: "again.md", Network: pipelines.Network{Closed: true}}
	execute.Prompt = "own.md"
	plain := pipelines.Step{Agent: "a", Tier: "medium", Timeout: minutes(60), Idle: 90 * second, Network: pipelines.Network{Closed: true}}
	review, plainReview := a, plain
	review.Access, plainReview.Access = pipelines.AccessRun, pipelines.AccessRead
	retry := pipelines.Retry{Max: 0, Initial: second, Factor: 2, Cap: minutes(5)}
	want := &pipelines.Pipeline{
		Name: "mine", Description: "d", Language: "ja",
		Select: pipelines.Select{Labels: []string{"l"}, Title: "t", Type: "y"},
		Agents: map[string]pipelines.Agent{"a": {Use: "command", Command: []string{"x", "-y"}, Env: []string{"KEY"}, Access: pipelines.AccessRead}},
		Budget: pipelines.Budget{Tokens: 5_000_000, Attempts: 7, IssueUSD: 2.5},
		Limits: pipelines.Limits{Files: 12, Bytes: 500_000, Binary: []string{"*.pdf"}},
		Prices: map[string]pipelines.Price{"m": {Input: 1, Cached: 1, Output: 2}, "n": {Input: 1, Output: 2}},
		Phases: []pipelines.Phase{
			{
				Name: "a", Goal: "x", Folder: "00_a", Writes: "x.txt", Access: pipelines.AccessTree, MustChange: true,
				Checks: []pipelines.Check{{Name: "c", Run: "make", Timeout: minutes(1)}}, Approve: "maintain",
				NoReview: true, ReviseAlways: true,
				Retry:   pipelines.Retry{Max: 0, Initial: 2 * second, Factor: 1.5, Cap: minutes(5)},
				Execute: execute, Review: review, Revise: revise,
			},
			{
				Name: "b", Goal: "y", Needs: []string{"a"}, Folder: "01_b", Writes: "b.md", Access: pipelines.AccessArtifacts,
				Report: "{\n\tn: int\n}", ReportSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`),
				Retry: retry, Execute: plain, Review: plainReview, Revise: plain,
			},
		},
		Spare: []pipelines.Phase{{
			Name: "s", Goal: "z", Folder: "02_s", Writes: "s.md", Access: pipelines.AccessArtifacts,
			Retry: retry, Execute: plain, Review: plainReview, Revise: plain,
		}},
		Rules: []pipelines.Rule{{
			After: "b", When: "{\n\treport: {\n\t\tn: >5\n\t}\n}",
			Then: pipelines.Then{Rollback: &pipelines.RuleRollback{To: "a", Step: "revise", Reason: "too many"}},
		}},
		Presets:         map[string][]string{"one": {"a"}},
		Protect:         []string{"LICENSE", "deploy/**"},
		Baseline:        true,
		KeepTranscripts: 30,
		Secrets:         pipelines.Secrets{Allow: []string{"testdata/**"}},
		Sandbox:         pipelines.Sandbox{Sockets: true, File: 2_000_000_000, Disk: 500_000_000},
		Source:          "mine.cue",
		Origins: map[string]string{
			"agents.a": "mine.cue", "language": "mine.cue",
			"budget.usd": "mine.cue", "budget.tokens": "mine.cue", "budget.time": "mine.cue", "budget.attempts": "mine.cue", "budget.issue_usd": "mine.cue",
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a phase says of effort holds for all steps, and what it says of tools for the steps of
// the agent that writes, where the step says nothing itself.
func TestStepsChooseToolsAndEffort(t *testing.T) {
	p := resolve(t, `
agents: {writer: {use: "claude", effort: "low"}, reviewer: {use: "codex"}}
phases: [{name: "a", goal: "x", effort: "max", tools: deny: ["Bash"], steps: {revise: {effort: "high", tools: allow: ["Read", "Edit"]}}}]
`)
	type given struct {
		Effort string
		Tools  pipelines.ToolChoice
	}
	var got []given
	for _, s := range []pipelines.Step{p.Phases[0].Execute, p.Phases[0].Review, p.Phases[0].Revise} {
		got = append(got, given{s.Effort, s.Tools})
	}
	want := []given{{"max", pipelines.ToolChoice{Deny: []string{"Bash"}}}, {"max", pipelines.ToolChoice{}}, {"high", pipelines.ToolChoice{Allow: []string{"Read", "Edit"}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
