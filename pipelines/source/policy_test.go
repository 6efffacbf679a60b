package source

import (
	"strings"
	"testing"
	"testing/fstest"
)

// policed loads a pipeline of a repository that has a policy.
func policed(t *testing.T, policy, name, pipeline, config string) error {
	t.Helper()
	files := fstest.MapFS{"policy.cue": {Data: []byte(policy)}}
	if pipeline != "" {
		files["pipelines/"+name] = &fstest.MapFile{Data: []byte(pipeline)}
	}
	if config != "" {
		files["config.yaml"] = &fstest.MapFile{Data: []byte(config)}
	}
	_, err := Load(t.Context(), Sources{Repo: files, Evaluator: repo(t, nil).Evaluator}, nameOf(name))
	return err
}

// A policy is held against the finished plan: what is wrong has the place in both, and nothing gets around it.
func TestPolicy(t *testing.T) {
	const one = `phases: [{name: "a", goal: "x"}]`
	for _, c := range []struct{ name, policy, file, pipeline, config, want string }{
		{name: "default met", policy: `budget: usd: <=10`},
		{name: "default", policy: `budget: usd: <=5`, want: `pipelines/p.cue:1:1: budget.usd: invalid value 10 (out of bound <=5), as policy.cue:1:14 demands`},
		{name: "written", policy: `budget: usd: <=10`, pipeline: `budget: usd: 50, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:14: budget.usd: invalid value 50 (out of bound <=10), as policy.cue:1:14 demands`},
		{name: "optional", policy: `budget: usd?: <=5`, want: `pipelines/p.cue:1:1: budget.usd: invalid value 10 (out of bound <=5), as policy.cue:1:15 demands`},
		{name: "policy default", policy: `budget: usd: *5 | <=5`, want: `pipelines/p.cue:1:1: budget.usd: conflicting values 5 and 10, as policy.cue:1:15 demands`},
		{name: "policy default met", policy: `budget: usd: *5 | <=5`, pipeline: `budget: usd: 3, phases: [{name: "a", goal: "x"}]`},
		{name: "disjunction of the pipeline", policy: `budget: usd: <=10`, pipeline: `budget: usd: *50 | 9, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:14: budget.usd: invalid value 50 (out of bound <=10), as policy.cue:1:14 demands`},
		{name: "guard", policy: `budget: usd: <=10`, pipeline: `budget: usd: 50
if budget.usd == 9 {language: "ja"}
phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:14: budget.usd: invalid value 50 (out of bound <=10), as policy.cue:1:14 demands`},
		{name: "hidden field", policy: `budget: usd: <=_max
_max: 10`, pipeline: `_max: 50
budget: usd: _max
phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:2:14: budget.usd: invalid value 50 (out of bound <=10), as policy.cue:1:14 demands`},
		{name: "no limit", policy: `budget: usd: <=10`, pipeline: `budget: usd: 0, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:14: budget.usd: conflicting values "unlimited" and <=10 (mismatched types string and number), as policy.cue:1:14 demands`},
		{name: "no limit of the issue", policy: `budget: issue_usd: <=20`, want: `pipelines/p.cue:1:1: budget.issue_usd: conflicting values "unlimited" and <=20 (mismatched types string and number), as policy.cue:1:20 demands`},
		{name: "time", policy: `budget: seconds: <=3600`, want: `pipelines/p.cue:1:1: budget.seconds: invalid value 7200 (out of bound <=3600), as policy.cue:1:18 demands`},
		{name: "tree needs approval", policy: `phases: [...{access: string, if access == "tree" {approve: "maintain" | "admin"}}]`, pipeline: `phases: [{name: "a", goal: "x", access: "tree"}]`, want: `pipelines/p.cue:1:10: phases[0].approve: missing, as policy.cue:1:51 demands`},
		{name: "tree has approval", policy: `phases: [...{access: string, if access == "tree" {approve: "maintain" | "admin"}}]`, pipeline: `phases: [{name: "a", goal: "x", access: "tree", approve: "maintain"}]`},
		{name: "must_change is tree", policy: `phases: [...{access: string, if access == "tree" {approve: "maintain"}}]`, pipeline: `phases: [{name: "a", goal: "x", must_change: true}]`, want: `pipelines/p.cue:1:10: phases[0].approve: missing, as policy.cue:1:51 demands`},
		{name: "extends", policy: `budget: usd: <=5`, pipeline: `extends: "fix"`, want: `pipelines/p.cue:1:1: budget.usd: invalid value 10 (out of bound <=5), as policy.cue:1:14 demands`},
		{name: "replace", policy: `phases: [...{name: string, if name == "implement" {revisions: <=2}}]`, pipeline: `extends: "fix", replace: [{name: "implement", revisions: 9}]`, want: `pipelines/p.cue:1:58: replace[0].revisions: invalid value 9 (out of bound <=2), as policy.cue:1:63 demands`},
		{name: "insert", policy: `phases: [...{review: true}]`, pipeline: `extends: "fix", insert: [{after: "implement", phase: {name: "b", goal: "x", review: false}}]`, want: `pipelines/p.cue:1:85: insert[0].phase.review: conflicting values true and false, as policy.cue:1:22 demands`},
		{name: "drop", policy: `import "list"
_ok: list.Contains([for p in phases {p.name}], "b") | error("acme: every pipeline has a phase b")
_ok: true
phases: [...]`, want: `pipelines/p.cue:1:1: acme: every pipeline has a phase b, as policy.cue:2:55 demands`},
		{name: "has the phase", policy: `import "list"
_ok: list.Contains([for p in phases {p.name}], "a") | error("acme: every pipeline has a phase a")
_ok: true
phases: [...]`},
		{name: "settings", policy: `budget: usd: <=10`, config: `budget: {usd: 30}`, want: `config.yaml:1:15: budget.usd: invalid value 30 (out of bound <=10), as policy.cue:1:14 demands`},
		{name: "reflect", policy: `phases: [...{name: !="reflect"}]`, pipeline: `extends: "fix", reflect: true`, want: `pipelines/p.cue:1:10: extends: invalid value "reflect" (out of bound !="reflect"), as policy.cue:1:20 demands (builtin:reflect:3:10: phases[0].name)`},
		{name: "yaml", policy: `budget: usd: <=10`, file: "p.yaml", pipeline: `budget: {usd: 50}
phases: [{name: a, goal: x}]
`, want: `pipelines/p.yaml:1:15: budget.usd: invalid value 50 (out of bound <=10), as policy.cue:1:14 demands`},
		{name: "toml", policy: `budget: usd: <=10`, file: "p.toml", pipeline: `[budget]
usd = 50
[[phases]]
name = "a"
goal = "x"
`, want: `pipelines/p.toml:2:7: budget.usd: invalid value 50 (out of bound <=10), as policy.cue:1:14 demands`},
		{name: "built in", policy: `budget: usd: <=5`, file: "fix.cue", want: `builtin:fix:3:1: budget.usd: invalid value 10 (out of bound <=5), as policy.cue:1:14 demands`},
		{name: "agent's access", policy: `agents: [string]: access: "read" | "run"`, pipeline: `agents: w: use: "claude", phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:12: agents.w.access: conflicting values "read" and "tree", as policy.cue:1:27 demands`},
		{name: "no command", policy: `agents: [string]: use: !="command"`, pipeline: `agents: w: {use: "command", command: ["./x"]}, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:18: agents.w.use: invalid value "command" (out of bound !="command"), as policy.cue:1:24 demands`},
		{name: "environment", policy: `agents: [string]: env: []`, pipeline: `agents: w: {use: "claude", env: ["NPM"]}, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:33: agents.w.env: incompatible list lengths (0 and 1), as policy.cue:1:24 demands`},
		{name: "servers", policy: `agents: [string]: mcp: close({})`, pipeline: `agents: w: {use: "claude", mcp: x: command: "x"}, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:36: agents.w.mcp.x: field not allowed where the policy has no ... at the end of the object, as policy.cue demands`},
		{name: "network of a review", policy: `phases: [...{steps: [string]: network: "model"}]`, pipeline: `network: "model", phases: [{name: "a", goal: "x", steps: review: network: "open"}]`, want: `pipelines/p.cue:1:75: phases[0].steps.review.network: conflicting values "model" and "open", as policy.cue:1:40 demands`},
		{name: "network met", policy: `phases: [...{steps: [string]: network: "model"}]`, pipeline: `network: "model", phases: [{name: "a", goal: "x"}]`},
		{name: "network of the setup", policy: `setup: [...{network: "model"}]`, pipeline: `setup: [{name: "s", run: "npm ci"}], phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:9: setup[0].network: conflicting values "model" and "open", as policy.cue:1:22 demands`},
		{name: "network of a check", policy: `phases: [...{checks: [...{network: "model"}]}]`, pipeline: `phases: [{name: "a", goal: "x", checks: [{name: "c", run: "true"}]}]`, want: `pipelines/p.cue:1:42: phases[0].checks[0].network: conflicting values {listen:true} and "model" (mismatched types struct and string), as policy.cue:1:36 demands`},
		{name: "hooks", policy: `hooks: [...{url: "" | =~"^https://hooks.acme.example/"}]`, pipeline: `hooks: [{on: ["fail"], url: "https://other.example/x"}], phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:29: hooks[0].url: conflicting values "" and "https://other.example/x", as policy.cue:1:18 demands`},
		{name: "opened paths", policy: `open: []`, pipeline: `protect: open: [".github/workflows/ci.yml"], phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:1: open: incompatible list lengths (0 and 1), as policy.cue demands`},
		{name: "protected paths", policy: `import "list"
protect: list.MatchN(>0, "deploy/**")`, want: `pipelines/p.cue:1:1: protect: missing, as policy.cue:2:1 demands`},
		{name: "protected paths met", policy: `import "list"
protect: list.MatchN(>0, "deploy/**")`, pipeline: `protect: ["deploy/**"], phases: [{name: "a", goal: "x"}]`},
		{name: "sockets", policy: `sandbox: sockets: false`, pipeline: `sandbox: sockets: true, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:19: sandbox.sockets: conflicting values true and false, as policy.cue:1:19 demands`},
		{name: "spare", policy: `spare: []`, pipeline: `spare: [{name: "b", goal: "x"}], rules: [{after: "a", when: {diff: lines: >5}, then: insert: "b"}], phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:8: spare: incompatible list lengths (0 and 1), as policy.cue demands`},
		{name: "rules", policy: `rules: [...{then: {drop: [], skip: ""}}]`, pipeline: `rules: [{after: "a", when: {diff: lines: >5}, then: skip: "review"}], phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:59: rules[0].then.skip: conflicting values "" and "review", as policy.cue:1:36 demands`},
		{name: "own words", policy: `statuses?: false | error("acme: no statuses")`, pipeline: `statuses: true, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:11: statuses: acme: no statuses, as policy.cue:1:20 demands`},
		{name: "the setting of all networks", policy: `network: "model"`, pipeline: `phases: [{name: "a", goal: "x", access: "tree"}]`, want: `pipelines/p.cue:1:1: network: conflicting values "open" and "model", as policy.cue:1:10 demands`},
		{name: "the setting of all networks met", policy: `network: "model"`, pipeline: `network: "model", phases: [{name: "a", goal: "x"}]`},
		{name: "tree needs some approval", policy: `phases: [...{access: string, if access == "tree" {approve: _}}]`, pipeline: `phases: [{name: "a", goal: "x", access: "tree"}]`, want: `pipelines/p.cue:1:10: phases[0].approve: missing, as policy.cue:1:51 demands`},
		{name: "tree has some approval", policy: `phases: [...{access: string, if access == "tree" {approve: _}}]`, pipeline: `phases: [{name: "a", goal: "x", access: "tree", approve: "write"}]`},
		{name: "what is usual need not be written", policy: `statuses: false
notes?: error("acme: no notes")
spare: []
rules: [...]
protect: [...string]
agents: [string]: {mcp: close({}), args: []}
phases: [...{approve?: "maintain", skip_if: null}]
sandbox: sockets: false
secrets: allow: []
update: "before-ready"
jobs: <=4
ci: {fixes: <=2, wait: "20m0s"}`},
		{name: "all of CI", policy: `ci: required: "all"`, pipeline: `ci: required: [], phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:15: ci.required: conflicting values "all" and [] (mismatched types string and list), as policy.cue:1:15 demands`},
		{name: "all of CI, met", policy: `ci: required: "all"`},
		{name: "skip_if", policy: `phases: [...{skip_if: null}]`, pipeline: `phases: [{name: "a", goal: "x", skip_if: when: cost: usd: >5}]`, want: `pipelines/p.cue:1:42: phases[0].skip_if: conflicting values {when:"{\n\tcost: {\n\t\tusd: >5\n\t}\n}"} and null (mismatched types struct and null), as policy.cue:1:23 demands`},
		{name: "100 phases", policy: `phases: [...{approve: "maintain"}]`, pipeline: `phases: [{name: "a0", goal: "x"}, {name: "a1", goal: "x"}, {name: "a2", goal: "x"}, {name: "a3", goal: "x"}, {name: "a4", goal: "x"}, {name: "a5", goal: "x"}, {name: "a6", goal: "x"}, {name: "a7", goal: "x"}, {name: "a8", goal: "x"}, {name: "a9", goal: "x"}, {name: "a10", goal: "x"}, {name: "a11", goal: "x"}, {name: "a12", goal: "x"}, {name: "a13", goal: "x"}, {name: "a14", goal: "x"}, {name: "a15", goal: "x"}, {name: "a16", goal: "x"}, {name: "a17", goal: "x"}, {name: "a18", goal: "x"}, {name: "a19", goal: "x"}, {name: "a20", goal: "x"}, {name: "a21", goal: "x"}, {name: "a22", goal: "x"}, {name: "a23", goal: "x"}, {name: "a24", goal: "x"}, {name: "a25", goal: "x"}, {name: "a26", goal: "x"}, {name: "a27", goal: "x"}, {name: "a28", goal: "x"}, {name: "a29", goal: "x"}, {name: "a30", goal: "x"}, {name: "a31", goal: "x"}, {name: "a32", goal: "x"}, {name: "a33", goal: "x"}, {name: "a34", goal: "x"}, {name: "a35", goal: "x"}, {name: "a36", goal: "x"}, {name: "a37", goal: "x"}, {name: "a38", goal: "x"}, {name: "a39", goal: "x"}, {name: "a40", goal: "x"}, {name: "a41", goal: "x"}, {name: "a42", goal: "x"}, {name: "a43", goal: "x"}, {name: "a44", goal: "x"}, {name: "a45", goal: "x"}, {name: "a46", goal: "x"}, {name: "a47", goal: "x"}, {name: "a48", goal: "x"}, {name: "a49", goal: "x"}, {name: "a50", goal: "x"}, {name: "a51", goal: "x"}, {name: "a52", goal: "x"}, {name: "a53", goal: "x"}, {name: "a54", goal: "x"}, {name: "a55", goal: "x"}, {name: "a56", goal: "x"}, {name: "a57", goal: "x"}, {name: "a58", goal: "x"}, {name: "a59", goal: "x"}, {name: "a60", goal: "x"}, {name: "a61", goal: "x"}, {name: "a62", goal: "x"}, {name: "a63", goal: "x"}, {name: "a64", goal: "x"}, {name: "a65", goal: "x"}, {name: "a66", goal: "x"}, {name: "a67", goal: "x"}, {name: "a68", goal: "x"}, {name: "a69", goal: "x"}, {name: "a70", goal: "x"}, {name: "a71", goal: "x"}, {name: "a72", goal: "x"}, {name: "a73", goal: "x"}, {name: "a74", goal: "x"}, {name: "a75", goal: "x"}, {name: "a76", goal: "x"}, {name: "a77", goal: "x"}, {name: "a78", goal: "x"}, {name: "a79", goal: "x"}, {name: "a80", goal: "x"}, {name: "a81", goal: "x"}, {name: "a82", goal: "x"}, {name: "a83", goal: "x"}, {name: "a84", goal: "x"}, {name: "a85", goal: "x"}, {name: "a86", goal: "x"}, {name: "a87", goal: "x"}, {name: "a88", goal: "x"}, {name: "a89", goal: "x"}, {name: "a90", goal: "x"}, {name: "a91", goal: "x"}, {name: "a92", goal: "x"}, {name: "a93", goal: "x"}, {name: "a94", goal: "x"}, {name: "a95", goal: "x"}, {name: "a96", goal: "x"}, {name: "a97", goal: "x"}, {name: "a98", goal: "x"}, {name: "a99", goal: "x"}]`, want: `pipelines/p.cue:1:10: phases[0].approve: missing, as policy.cue:1:14 demands; and 99 more like this`},
		{name: "misspelt", policy: `budget: usdd: <=10`, want: `policy.cue:1:9: budget.usdd: there is no such setting, did you mean "usd"?`},
		{name: "misspelt, optional", policy: `budget: usdd?: <=10`, want: `policy.cue:1:9: budget.usdd: there is no such setting, did you mean "usd"?`},
		{name: "a name with a hyphen", policy: `agents: [string]: use: "codex"`, pipeline: `agents: {"two-x": use: "claude"}, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:24: agents.two-x.use: conflicting values "codex" and "claude", as policy.cue:1:24 demands`},
		{name: "no name", policy: `budget: "": 1`, want: `policy.cue:1:9: budget.: there is no such setting, expected one of attempts, day_usd, issue_usd, repo_day_usd, seconds, time, tokens, usd`},
		{name: "no such agent", policy: `agents: security: use: "claude"`, want: `pipelines/p.cue:1:1: agents.security: missing, as policy.cue:1:9 demands`},
		{name: "closed", policy: `#P: {budget: usd: <=10, ...}
#P
budget: close({usd: <=10})`, want: `pipelines/p.cue:1:1: budget.attempts: field not allowed where the policy has no ... at the end of the object, as policy.cue demands; and 6 more like this`},
		{name: "closed top", policy: `#P: {budget: {usd: <=10, ...}}
#P`, want: `pipelines/p.cue:1:1: agents: field not allowed where the policy has no ... at the end of the object, as policy.cue demands; and 11 more like this`},
		{name: "list of one", policy: `phases: [{name: string, ...}]`, pipeline: `phases: [{name: "a", goal: "x"}, {name: "b", goal: "x"}]`, want: `pipelines/p.cue:1:9: phases: incompatible list lengths (1 and 2), as policy.cue demands`},
		{name: "disjunction", policy: `{network: "x"} | {budget: usd: 1}`, want: `pipelines/p.cue:1:1: budget.usd: conflicting values 1 and 10, as policy.cue:1:1 demands; and 1 more like this`},
		{name: "nothing satisfies it", policy: `budget: usd: <5 & >7`, want: `pipelines/p.cue:1:1: budget.usd: incompatible integer bounds <5 and >7, as policy.cue:1:19 demands`},
		{name: "contradicts itself", policy: `budget: usd: 5
budget: usd: 7`, want: `pipelines/p.cue:1:1: budget.usd: conflicting values 7 and 5, as policy.cue:1:14 demands`},
		{name: "undeclared", policy: `if finish == "keep" {language: "ja"}`, want: `policy.cue:1:4: reference "finish" not found; write finish: _ beside it`},
		{name: "two lists", policy: `open: [], spare: []`, pipeline: `protect: open: ["AGENTS.md"], spare: [{name: "b", goal: "x"}], phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:1: open: incompatible list lengths (0 and 1), as policy.cue demands
pipelines/p.cue:1:38: spare: incompatible list lengths (0 and 1), as policy.cue demands`},
		{name: "no CUE", policy: `budget: usd <= 10`, want: `policy.cue:1:9: budget: reference "usd" not found`},
		{name: "a list", policy: `[1]`, want: `policy.cue:1:1: expected what pipelines have to have, such as budget: usd: <=10`},
		{name: "empty", policy: ""},
		{name: "foreign import", policy: `import "example.com/x"
budget: usd: x.most`, want: `policy.cue:1:8: cannot import example.com/x: there is no file vendor/example.com/x/*.cue, and it is none of CUE's own packages, such as list and strings`},
		{name: "two lines", policy: `budget: usd: <=10
language: "ja"`, pipeline: `budget: usd: 50, phases: [{name: "a", goal: "x"}]`, want: `pipelines/p.cue:1:1: language: conflicting values "en" and "ja", as policy.cue:2:11 demands
pipelines/p.cue:1:14: budget.usd: invalid value 50 (out of bound <=10), as policy.cue:1:14 demands`},
	} {
		if c.file == "" {
			c.file = "p.cue"
		}
		if c.pipeline == "" && c.file != "fix.cue" {
			c.pipeline = one
		}
		err := policed(t, c.policy, c.file, c.pipeline, c.config)
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), ".github/reprise/", "")
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
	if err := policed(t, `"": 1`, "p.cue", one, ""); err == nil || !strings.Contains(err.Error(), "policy.cue:1:1: there is no such setting") {
		t.Errorf("no name at the top: %v", err)
	}
}

// A pipeline that a policy refuses does not keep an issue from another one, and is refused where the issue takes it.
func TestPolicyLeavesOthers(t *testing.T) {
	s := Sources{Repo: fstest.MapFS{"policy.cue": {Data: []byte(`name: !="audit" & !="fix"`)}}, Evaluator: repo(t, nil).Evaluator}
	if c, err := Choose(t.Context(), s, ChoiceIssue{Title: "refactor the parser"}, ""); err != nil || c.Plan.Name != "refactor" {
		t.Errorf("it takes %+v (%v), want refactor", c.Plan, err)
	}
	if _, err := Choose(t.Context(), s, ChoiceIssue{Title: "fix it"}, ""); err == nil {
		t.Error("an issue takes what the policy refuses")
	}
}
