package doctor

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// What a pipeline asks of the token of a job, and the workflow does not give it, is said.
func TestPromises(t *testing.T) {
	long, short := written(t, setup.Long), written(t, setup.Short)
	all := &pipelines.Pipeline{Name: "fix", Statuses: true, Open: []string{"AGENTS.md", ".github/workflows/ci.yml"}}
	starts := &pipelines.Pipeline{Name: "fix", CI: pipelines.CI{Required: []string{"test", "ci.yml"}}}
	token := strings.Replace(long, "          agent: claude", "          agent: claude\n          github-token: ${{ steps.app.outputs.token }}", 1)
	const pushes = "fix opens .github/workflows/ci.yml, and GitHub takes no push that changes a workflow with the token of a job"
	for _, tt := range []struct {
		name, text string
		plan       *pipelines.Pipeline
		want       []string
	}{
		{"nothing asked", long, &pipelines.Pipeline{Name: "fix", Open: []string{"AGENTS.md"}}, nil},
		{"long", long, all, []string{"hint: fix has statuses: true, and job run lacks statuses: write", "hint: " + pushes}},
		{"long that may", strings.ReplaceAll(long, "statuses: read", "statuses: write"), all, []string{"hint: " + pushes}},
		{"another token", token, all, nil},
		{"short", short, all, []string{"hint: fix has statuses: true, and the jobs that reprise calls may only read them", "hint: " + pushes}},
		{"short with a token", strings.Replace(short, "ANTHROPIC_API_KEY:", "TOKEN:", 1), all, nil},
		{"ci", long, starts, []string{"hint: fix requires ci.yml of CI, and job run lacks actions: write to start that"}},
		{"ci that may", strings.ReplaceAll(long, "actions: read", "actions: write"), starts, nil},
		{"ci with another token", token, starts, nil},
		{"ci by names of checks", long, &pipelines.Pipeline{Name: "fix", CI: pipelines.CI{Required: []string{"test"}}}, nil},
		{"short ci", short, starts, []string{"hint: fix requires ci.yml of CI, and the jobs that reprise calls may not start workflows"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := promises(flow(tt.text), tt.plan)
			if len(got) != len(tt.want) {
				t.Fatalf("found %+v, want %q", got, tt.want)
			}
			for i, c := range got {
				if said := string(c.Status) + ": " + c.Found; !strings.HasPrefix(said, tt.want[i]) {
					t.Errorf("found %q, want %q", said, tt.want[i])
				}
			}
		})
	}
}

// What init writes is well, but for what the token of a job cannot do; every
// change that matters is named.
func TestLintWorkflow(t *testing.T) {
	good := written(t, setup.Long)
	const token = "hint: what it pushes starts no other workflow"
	for _, tt := range []struct {
		name, old, new string
		want           []string
	}{
		{"as it is", "", "", []string{token}},
		{"no pushing", "contents: write", "contents: read", []string{"missing: job run lacks contents: write, so nothing can be pushed", token}},
		{"no pull requests", "      pull-requests: write # the draft", "      #", []string{"missing: job run lacks pull-requests: write, so no pull request can be opened", token}},
		{"no pull requests wanted", "      pull-requests: write # the draft", "      #", []string{"missing: job run lacks pull-requests: write", token}},
		{"no answers by the gate", "issues: write # replies", "issues: read #", []string{"hint: job gate lacks issues: write, so it cannot reply or react", token}},
		{"no pull requests for the gate", "      pull-requests: write # the same", "      #", []string{"hint: job gate lacks pull-requests: write, so it takes no commands on pull requests", token}},
		{"no look at other jobs", "      actions: read", "      #", []string{"hint: job run lacks actions: read", token}},
		{"another token", "          agent: claude", "          agent: claude\n          github-token: ${{ steps.app.outputs.token }}", nil},
		{"dispatch", "          agent: claude", "          agent: claude\n          dispatch: ci.yml", []string{"hint: job run lacks actions: write"}},
		{"concurrency at the top", "permissions: {}", "permissions: {}\nconcurrency: reprise", []string{"hint: its concurrency is on the whole workflow", token}},
		{"cancelled", "cancel-in-progress: false", "cancel-in-progress: true", []string{"hint: job run is ended by the next command", token}},
		{"dangerous event", "  workflow_dispatch:", "  pull_request_target:\n  workflow_dispatch:", []string{"hint: pull_request_target starts it", token}},
		{"no comments", "  issue_comment:\n    types: [created]\n", "", []string{"hint: comments do not start it", token}},
		{"no gate", "          command: gate", "          command: run", []string{
			"missing: job gate lacks contents: write", "hint: job gate lacks actions: read", "hint: job gate lacks checks: read", "hint: job gate lacks statuses: read",
			"hint: job gate has no concurrency", "hint: job gate has no key of an agent", token, token, "hint: it has no job with command: gate",
		}},
		{"kept credentials", "          persist-credentials: false", "          fetch-depth: 1", []string{"hint: the checkout of job run leaves the token on the disk", token}},
		{"no key", "          ANTHROPIC_API_KEY:", "          OTHER:", []string{"hint: job run has no key of an agent", token}},
		{"everything", good, "on: [push, issue_comment]\npermissions: write-all\njobs:\n  a: {steps: [{uses: x/reprise@v1, env: {OPENAI_API_KEY: k}}], concurrency: c}\n", []string{token, "hint: it has no job with command: gate"}},
		{"too little", good, "on: issue_comment\npermissions: read-all\njobs:\n  a: {steps: [{uses: x/reprise@v1, with: {agent: rehearsal, create-pr: false}}], concurrency: c}\n", []string{
			"missing: job a lacks contents: write", "missing: job a lacks issues: write", token, "hint: it has no job with command: gate",
		}},
		{"no permissions named", good, "on: issue_comment\njobs:\n  a: {steps: [{uses: x/reprise@v1, with: {agent: rehearsal}}], concurrency: c}\n", []string{
			"hint: job a names no permissions", token, "hint: it has no job with command: gate",
		}},
		{"another workflow", good, "on: issue_comment\njobs:\n  a: {steps: [{run: make}]}\n", []string{"hint: no job of .github/workflows/reprise.yml is seen to call reprise"}},
		{"no YAML", good, "a: [", []string{"missing: .github/workflows/reprise.yml: yaml: line 1"}},
		{"another kind of YAML", good, "jobs: [a]", []string{"missing: .github/workflows/reprise.yml: yaml:"}},
		{"empty", good, "", []string{"hint: comments do not start it", "hint: no job of"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(good, tt.old, tt.new, 1)
			if tt.old != "" && text == good {
				t.Fatalf("the workflow has no %q", tt.old)
			}
			var got []string
			for i, c := range lint(text) {
				line := string(c.Status) + ": " + c.Found
				if i < len(tt.want) && strings.HasPrefix(line, tt.want[i]) {
					line = tt.want[i]
				}
				if c.Do == "" {
					t.Errorf("%s: it does not say what to do", line)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// A workflow that calls the jobs of reprise has to give what these need.
func TestLintCalled(t *testing.T) {
	good := written(t, setup.Short)
	if !setup.Untouched(good) || setup.Untouched(good+"#") {
		t.Error("the short form is not known again, or a change of it is not seen")
	}
	const token = "hint: what it pushes starts no other workflow"
	data, err := os.ReadFile("../../docs/github.md")
	_, shown, _ := strings.Cut(string(data), "```yaml\nname: reprise\n")
	shown, _, _ = strings.Cut(shown, "```")
	if found := lint(shown); err != nil || !strings.Contains(shown, "/"+setup.Jobs+"@v1") || len(found) != 1 || found[0] != defaultToken()[0] {
		t.Errorf("the workflow that docs/github.md shows (%v):\n%s\n%+v", err, shown, found)
	}
	_, permissions, _ := strings.Cut(good, "    permissions:")
	permissions, _, _ = strings.Cut(permissions, "    secrets:")
	for _, tt := range []struct {
		name, old, new string
		want           []string
	}{
		{"as it is", "", "", []string{token}},
		{"no look at checks", "      checks: read", "      #", []string{"missing: job reprise lacks checks: read", token}},
		{"no pushing", "contents: write", "contents: read", []string{"missing: job reprise lacks contents: write", token}},
		{"no permissions", permissions, " {}\n", []string{"missing: job reprise lacks contents: write", "missing: job reprise lacks issues: write", "missing: job reprise lacks actions: read", "missing: job reprise lacks checks: read", "missing: job reprise lacks statuses: read", "missing: job reprise lacks pull-requests: write", token}},
		{"none at all", good, "on: issue_comment\njobs: {a: {uses: me/reprise/.github/workflows/run.yml@v1, secrets: inherit}}", []string{"hint: job a names no permissions", "hint: job a hands over all secrets", token}},
		{"no key", "ANTHROPIC_API_KEY:", "OTHER:", []string{"hint: job reprise hands over no key", token}},
		{"no key for a rehearsal", "agent: claude", "agent: rehearsal", []string{token}},
		{"another token", "      ANTHROPIC_API_KEY:", "      TOKEN: x\n      ANTHROPIC_API_KEY:", nil},
	} {
		text := strings.Replace(good, tt.old, tt.new, 1)
		if tt.old != "" && text == good {
			t.Fatalf("%s: the workflow has no %q", tt.name, tt.old)
		}
		var got []string
		for i, c := range lint(text) {
			line := string(c.Status) + ": " + c.Found
			if i < len(tt.want) && strings.HasPrefix(line, tt.want[i]) {
				line = tt.want[i]
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestBehind(t *testing.T) {
	for _, tt := range []struct {
		v, least string
		want     bool
	}{{"2.30.9", "2.31", true}, {"2.31.0", "2.31", false}, {"2.9", "2.31", true}, {"3.0", "2.31", false}, {"1.99", "2.31", true}} {
		if got := olderThan(tt.v, tt.least); got != tt.want {
			t.Errorf("%s behind %s: %v", tt.v, tt.least, got)
		}
	}
}

// What an agent needs is its program, of a version that is tried, and a key or a
// login. Whoever has another to take over is missed less.
func TestDoctorAgents(t *testing.T) {
	claude := setup.AgentInstalls()["claude"].Version
	plan := func(fallback string, names ...string) *pipelines.Pipeline {
		p := &pipelines.Pipeline{Agents: map[string]pipelines.Agent{}}
		for _, n := range names {
			p.Agents[n] = pipelines.Agent{Use: n, Fallback: fallback}
			s := pipelines.Step{Agent: n}
			p.Phases = append(p.Phases, pipelines.Phase{Execute: s, Review: s, Revise: s})
		}
		return p
	}
	for _, tt := range []struct {
		name     string
		plan     *pipelines.Pipeline
		programs map[string]string // what each says on --version; "" fails
		files    []string          // below the home
		env      string
		want     []string
	}{
		{"all is well", plan("", "claude"), map[string]string{"claude": claude + " (Claude Code)"}, nil, "ANTHROPIC_API_KEY=canary", []string{"ok claude: version " + claude + ", key from ANTHROPIC_API_KEY"}},
		{"logged in", plan("", "claude"), map[string]string{"claude": claude}, []string{".claude/.credentials.json"}, "", []string{"ok claude: version " + claude + ", logged in; claude holds its login itself (.credentials.json), so the proxy neither counts nor limits what is asked with it; without that login, a key in ANTHROPIC_API_KEY stays outside"}},
		{"logged in elsewhere", plan("", "codex"), map[string]string{"codex": "codex-cli 0.171.3"}, []string{"there/auth.json"}, "CODEX_HOME=HOME/there", []string{"ok codex: version 0.171.3, logged in; codex holds its login itself (auth.json), so the proxy neither counts nor limits what is asked with it; without that login, a key in OPENAI_API_KEY stays outside"}},
		{"settings", plan("", "codex"), map[string]string{"codex": "0.171.0"}, []string{".codex/config.toml"}, "", []string{"hint codex: version 0.171.0, no key and no login that is known; HOME/.codex/config.toml may name another way"}},
		{"no key", plan("", "codex"), map[string]string{"codex": "0.171.0"}, nil, "", []string{"missing codex: it has neither a key nor a login"}},
		{"an old one", plan("", "gemini"), map[string]string{"gemini": "0.2.1"}, nil, "GEMINI_API_KEY=canary", []string{"hint gemini: version 0.2.1, key from GEMINI_API_KEY; reprise is tested with " + setup.AgentInstalls()["gemini"].Version}},
		{"not there", plan("", "codex"), nil, nil, "", []string{`missing codex: there is no program "codex" in PATH`}},
		{"broken", plan("", "claude"), map[string]string{"claude": ""}, nil, "ANTHROPIC_API_KEY=canary", []string{"missing claude: HOME/bin/claude cannot be started: exit status 1"}},
		{"busy", plan("", "claude"), map[string]string{"claude": "slow"}, nil, "ANTHROPIC_API_KEY=canary", []string{"hint claude: it did not say its version within 20s: context deadline exceeded"}},
		{"one takes over", plan("claude", "codex", "claude"), map[string]string{"claude": claude}, nil, "ANTHROPIC_API_KEY=canary", []string{
			`hint codex: there is no program "codex" in PATH; claude takes over`, "ok claude: version " + claude + ", key from ANTHROPIC_API_KEY",
		}},
		{"nobody takes over", plan("claude", "codex", "claude"), nil, nil, "", []string{
			`missing codex: there is no program "codex" in PATH`, `missing claude: there is no program "claude" in PATH`,
		}},
		{"rehearsal", plan("", "rehearsal"), nil, nil, "", []string{"ok rehearsal: is built in, and asks no model"}},
		{"a command", &pipelines.Pipeline{
			Agents: map[string]pipelines.Agent{"mine": {Use: "command", Command: []string{"my-agent", "--fast"}}},
			Phases: []pipelines.Phase{{Execute: pipelines.Step{Agent: "mine"}}},
		}, map[string]string{"my-agent": "1"}, nil, "", []string{"hint my-agent: is there; cost unknown"}},
		{"one that speaks ACP", &pipelines.Pipeline{
			Agents: map[string]pipelines.Agent{"mine": {Use: "acp", Command: []string{"my-agent"}, Env: []string{"OPENAI_API_KEY"}}},
			Phases: []pipelines.Phase{{Execute: pipelines.Step{Agent: "mine"}}},
		}, map[string]string{"my-agent": "1"}, nil, "OPENAI_API_KEY=canary", []string{"ok my-agent: is there"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, ctx := t.TempDir(), t.Context()
			for _, name := range tt.files {
				writeFile(t, filepath.Join(home, name), "canary", 0o600)
			}
			testenv.Must(t, os.Mkdir(filepath.Join(home, "bin"), 0o755))
			for _, name := range slices.Sorted(maps.Keys(tt.programs)) {
				script := "#!/bin/sh\ntest -z \"$ANTHROPIC_API_KEY$GEMINI_API_KEY\" && echo '" + tt.programs[name] + "'\n"
				if tt.programs[name] == "" {
					script = "#!/bin/sh\nexit 1\n"
				}
				if tt.programs[name] == "slow" {
					script = "#!/bin/sh\nexec /bin/sleep 60\n"
					var stop func()
					ctx, stop = context.WithTimeout(ctx, time.Second/2)
					defer stop()
				}
				writeFile(t, filepath.Join(home, "bin", name), script, 0o755)
			}
			path := filepath.Join(home, "bin") + ":" + filepath.Join(home, "other")
			t.Setenv("PATH", path)
			p := programs{seen: map[string]Check{}, env: environ.Env{Environ: []string{"HOME=" + home, "PATH=" + path, strings.ReplaceAll(tt.env, "HOME/", home+"/")}}}
			var got []string
			for _, c := range p.check(ctx, tt.plan) {
				got = append(got, strings.ReplaceAll(string(c.Status)+" "+c.Name+": "+c.Found, home, "HOME"))
				if (c.Status == Fine) != (c.Do == "") || strings.Contains(c.Found+c.Do, "canary") {
					t.Errorf("it says %+v", c)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("agents (-want +got):\n%s", diff)
			}
		})
	}
}

func writeFile(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	testenv.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	testenv.Must(t, os.WriteFile(name, []byte(text), mode))
}

// written is a workflow as reprise init writes it.
func written(t *testing.T, form setup.Form) string {
	t.Helper()
	text, err := setup.Workflow{Form: form, Uses: setup.DefaultUses(), Agents: []string{"claude"}}.Text()
	testenv.Must(t, err)
	return text
}

// flow is a workflow as it is read.
func flow(text string) *setup.WorkflowYAML {
	w, _ := readWorkflow([]byte(text))
	return &w
}

func lint(text string) []Check {
	if _, bad := readWorkflow([]byte(text)); len(bad) > 0 {
		return bad
	}
	return lintWorkflow(*flow(text))
}
