package workspace

import (
	"context"
	"errors"
	"path/filepath"
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
	fewer := closed
	fewer.Tools.Deny = []string{"Bash"}
	return &pipelines.Pipeline{
		Name: "full", Source: "builtin:full", Budget: pipelines.Budget{USD: 5}, Protect: []string{"go.mod"},
		Agents: map[string]pipelines.Agent{"a": {Use: "claude", Env: []string{"TEAM"}}, "own": {Use: "command", Command: []string{"./own.sh"}}},
		Phases: []pipelines.Phase{{
			Name: "code", Approve: "maintain", Access: pipelines.AccessTree, Execute: closed, Review: closed, Revise: fewer,
			Checks: []pipelines.Check{{Name: "test", Run: "go test ./...", Network: pipelines.Network{Closed: true}}},
		}},
	}
}

func TestWider(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*pipelines.Pipeline)
		want   []string
	}{
		"the same":          {func(*pipelines.Pipeline) {}, nil},
		"more is protected": {func(p *pipelines.Pipeline) { p.Protect = append(p.Protect, "go.sum") }, nil},
		"another program does": {func(p *pipelines.Pipeline) {
			p.Agents["a"] = pipelines.Agent{Use: "codex"}
			p.Phases[0].Execute.Model = "m"
		}, nil},
		"a program of its own": {func(p *pipelines.Pipeline) {
			p.Agents["a"] = pipelines.Agent{Use: "command", Command: []string{"sh", "-c", "x"}}
		}, []string{`an agent is a program: "[\"sh\",\"-c\",\"x\"]"`}},
		"a variable": {func(p *pipelines.Pipeline) { p.Agents["b"] = pipelines.Agent{Env: []string{"AWS_SECRET_ACCESS_KEY"}} }, []string{`an agent sees a variable: "\"AWS_SECRET_ACCESS_KEY\""`}},
		"a server": {func(p *pipelines.Pipeline) {
			p.Agents["b"] = pipelines.Agent{ToolSet: pipelines.ToolSet{MCP: map[string]pipelines.ToolServer{"x": {URL: "https://evil.test", Headers: map[string]string{"A": "env:KEY"}}}, Args: []string{"--x"}}}
		}, []string{`an agent has a server of tools: "{\"url\":\"https://evil.test\",\"headers\":{\"A\":\"env:KEY\"}}"`, `an agent is started with an argument: "\"--x\""`}},
		"a check's words":      {func(p *pipelines.Pipeline) { p.Phases[0].Checks[0].Run = "x\r\x1b[2K\u202e" }, []string{`a check: "{\"name\":\"test\",\"run\":\"x\\r\\u001b[2K\u202e\",\"timeout\":\"0s\",\"network\":\"model\"}"`}},
		"the whole network":    {func(p *pipelines.Pipeline) { p.Phases[0].Review.Network = pipelines.Network{} }, []string{`review of phase "code" reaches: "\"open\""`}},
		"more access":          {func(p *pipelines.Pipeline) { p.Phases[0].Review.Access = pipelines.AccessRun }, []string{`review of phase "code" has access: "\"run\""`}},
		"more tools":           {func(p *pipelines.Pipeline) { p.Phases[0].Revise.Tools.Deny = nil }, []string{`revise of phase "code" has the choice of tools: "{}"`}},
		"the sandbox":          {func(p *pipelines.Pipeline) { p.Sandbox.Sockets = true }, []string{`sandbox: "{\"sockets\":true}"`}},
		"no protection":        {func(p *pipelines.Pipeline) { p.Protect, p.Open = nil, []string{".github/workflows/*"} }, []string{`open: "\".github/workflows/*\""`, `it does not protect "go.mod"`}},
		"money without an end": {func(p *pipelines.Pipeline) { p.Budget = pipelines.Budget{} }, []string{`budget: "{}"`}},
		"other prices":         {func(p *pipelines.Pipeline) { p.Prices = map[string]pipelines.Price{"m": {}} }, []string{`prices of "m": "{\"input\":0,\"cached\":0,\"output\":0}"`}},
		"no approval":          {func(p *pipelines.Pipeline) { p.Phases[0].Approve = "" }, []string{`phase "code" is approved by: "[\"\",0]"`}},
		"what another agent has": {func(p *pipelines.Pipeline) {
			p.Agents["own"] = pipelines.Agent{Use: "command", Command: []string{"./own.sh"}, Env: []string{"TEAM"}}
		}, []string{`the agent "[\"./own.sh\"]" sees a variable: "\"TEAM\""`}},
		"secrets": {func(p *pipelines.Pipeline) { p.Secrets.Allow = []string{"*"} }, []string{`secrets: "{\"allow\":[\"*\"]}"`}},
	} {
		plan := usual()
		tt.change(plan)
		if diff := cmp.Diff(tt.want, widerThan(plan, usual())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := widerThan(plan, plan); got != nil {
			t.Errorf("%s: it is wider than itself: %q", name, got)
		}
	}
}

// treeAt is a checkout of which only the folder counts.
type treeAt struct {
	Checkout
	dir string
}

func (t treeAt) Dir() string { return t.dir }

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
			w := &opening{Workspace: &Workspace{Recorded: Recorded{Source: &git.Source{}, Run: run}, Repo: treeAt{dir: filepath.Join(root, "tree")}, backend: Backend{Define: define}}}
			w.Plan = tt.plan
			check := func() error { return w.checkTrust(t.Context()) }
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
