package agents

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// start gives what would be started for the bench's task.
func (b *bench) start(agent string, a pipelines.Agent) (Call, error) {
	b.t.Helper()
	b.write(filepath.Join(b.bin, agent), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(b.bin, agent), 0o755); err != nil {
		b.t.Fatal(err)
	}
	enough := errors.New("enough")
	var seen Call
	b.opts.Sandbox = func(c Call) (Call, error) { seen = c; return c, enough }
	it, err := For(agent, a, b.opts)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err = it.Run(b.t.Context(), b.task); errors.Is(err, enough) {
		err = nil
	}
	return seen, err
}

// gateAt is the address of a gate.
var gateAt = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// shown makes arguments comparable: the places of this test by name.
func (b *bench) shown(args []string, c Call) []string {
	out := []string{}
	for _, a := range args {
		a = strings.NewReplacer(c.Temp, "TEMP", b.dir, "TREE", b.task.Session, "SESSION").Replace(a)
		out = append(out, gateAt.ReplaceAllString(a, "GATE"))
	}
	return out
}

// judges makes a task one that judges the work.
func judges(t *engine.Task) { t.Fresh = func(context.Context) (string, error) { return t.Dir, nil } }

func TestClaudeArguments(t *testing.T) {
	fixed := []string{"-p", "--output-format", "stream-json", "--verbose", "--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands", "--permission-mode", "dontAsk", "--include-partial-messages"}
	rules := func(allow string) []string {
		return []string{"--settings", `{"permissions":{"allow":[` + allow + `]}}`}
	}
	for _, tt := range []struct {
		name   string
		access pipelines.Access
		limit  pipelines.Access
		set    func(t *engine.Task)
		tools  string
		rules  string
		more   []string
	}{
		{"none", pipelines.AccessNone, "", nil, "", "", []string{"--session-id", "SESSION"}},
		{"read", pipelines.AccessRead, "", nil, "Read,Glob,Grep", "", []string{"--session-id", "SESSION"}},
		{"artifacts", pipelines.AccessArtifacts, "", nil, "Read,Glob,Grep,Write,Edit", `"Edit(/TREE/.reprise/issue-7/00_planning/**)"`, []string{"--session-id", "SESSION"}},
		{"tree", pipelines.AccessTree, "", nil, "Read,Glob,Grep,Write,Edit,Bash", `"Edit(/TREE/**)","Bash","Read"`, []string{"--session-id", "SESSION"}},
		{"run, and it judges nothing", pipelines.AccessRun, "", nil, "Read,Glob,Grep", "", []string{"--session-id", "SESSION"}},
		{"run", pipelines.AccessRun, "", judges, "Read,Glob,Grep", `"mcp__reprise__run"`, []string{"--session-id", "SESSION", "--mcp-config", "TEMP/mcp.json"}},
		{"tree, limited by the agent", pipelines.AccessTree, pipelines.AccessRead, nil, "Read,Glob,Grep", "", []string{"--session-id", "SESSION"}},
		{"all options", pipelines.AccessRead, "", func(t *engine.Task) {
			t.Model, t.Turns, t.BudgetUSD, t.Resume, t.Schema = "opus", 7, 1.25, true, json.RawMessage(`{"type":"object"}`)
		}, "Read,Glob,Grep", `"mcp__reprise__submit"`, []string{"--model", "opus", "--max-turns", "7", "--max-budget-usd", "1.25", "--resume", "SESSION", "--mcp-config", "TEMP/mcp.json"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.task.Access = tt.access
			if tt.set != nil {
				tt.set(&b.task)
			}
			c, err := b.start("claude", pipelines.Agent{Access: tt.limit})
			testenv.Must(t, err)
			want := append(append(append(append([]string{}, fixed...), "--tools", tt.tools), rules(tt.rules)...), tt.more...)
			if diff := cmp.Diff(want, b.shown(c.Argv[1:], c)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			for _, v := range []string{"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_ATTACHMENTS"} {
				if process.Lookup(c.Env, v) != "1" {
					t.Errorf("%s is %q, want 1", v, process.Lookup(c.Env, v))
				}
			}
		})
	}
}

// Where the tree is reached through a link, rules name both ways to it.
func TestClaudeRulesFollowLinks(t *testing.T) {
	b := newBench(t)
	link := filepath.Join(t.TempDir(), "link")
	testenv.Must(t, os.Symlink(b.dir, link))
	b.task.Dir, b.task.Access = link, pipelines.AccessTree
	c, err := b.start("claude", pipelines.Agent{})
	if args := strings.Join(c.Argv, " "); err != nil || !strings.Contains(args, `"Edit(/`+link+`/**)","Edit(/`+b.dir+`/**)"`) {
		t.Errorf("error %v, arguments %s", err, args)
	}
}

func TestClaudeTakesOnlySessionsItKnows(t *testing.T) {
	b := newBench(t)
	b.task.Session = "--dangerously-skip-permissions"
	if _, err := b.start("claude", pipelines.Agent{}); err == nil || !strings.Contains(err.Error(), "takes only a UUID") {
		t.Errorf("error %v, want the session refused", err)
	}
}

func TestCodexArguments(t *testing.T) {
	head := []string{"exec", "--json", "--color", "never", "--skip-git-repo-check", "-C", "TREE"}
	tail := []string{"-c", `web_search="disabled"`, "-c", `projects={"TREE"={trust_level="untrusted"}}`, "-c", "allow_login_shell=false", "-c", `shell_environment_policy.exclude=["OPENAI_API_KEY","CODEX_API_KEY"]`, "-c", "background_terminal_max_timeout=270000"}
	artifacts := []string{"-c", `default_permissions="reprise"`, "-c", `permissions.reprise.filesystem={":root"="read",":tmpdir"="write","TREE/.reprise/issue-7/00_planning"="write"}`}
	for _, tt := range []struct {
		name      string
		access    pipelines.Access
		contained bool
		set       func(*bench)
		sandbox   []string
		model     []string
		more      []string
	}{
		{"none", pipelines.AccessNone, true, nil, []string{"--sandbox", "read-only", "--disable", "shell_tool"}, nil, []string{"-"}},
		{"read", pipelines.AccessRead, false, nil, []string{"--sandbox", "read-only"}, nil, []string{"-"}},
		{"artifacts", pipelines.AccessArtifacts, false, nil, artifacts, nil, []string{"-"}},
		{"tree", pipelines.AccessTree, false, nil, []string{"--sandbox", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"}, nil, []string{"-"}},
		{"run, and it judges nothing", pipelines.AccessRun, false, nil, []string{"--sandbox", "read-only"}, nil, []string{"-"}},
		{"tree, contained", pipelines.AccessTree, true, nil, []string{"--sandbox", "danger-full-access"}, nil, []string{"-"}},
		{
			"all options", pipelines.AccessRead, false, func(b *bench) {
				b.opts.Environ = append(b.opts.Environ, `OPENAI_BASE_URL=http://x/"v1`)
				b.task.Model, b.task.Resume, b.task.Schema = "gpt-5", true, json.RawMessage(`{"type":"object"}`)
			},
			[]string{"--sandbox", "read-only"},
			[]string{"-m", "gpt-5"},
			[]string{
				"-c", `openai_base_url="http://x/\"v1"`, "-c", `mcp_servers.reprise.url="GATE/mcp/reprise"`, "-c", `mcp_servers.reprise.bearer_token_env_var="REPRISE_MCP_KEY"`, "-c", "mcp_servers.reprise.required=true",
				"-c", "mcp_servers.reprise.startup_timeout_sec=60", "-c", "mcp_servers.reprise.tool_timeout_sec=270",
				"-c", `mcp_servers.reprise.default_tools_approval_mode="approve"`, "-c", `mcp_servers.reprise.enabled_tools=["submit"]`, "resume", "SESSION", "-",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.task.Access, b.opts.Contained = tt.access, tt.contained
			if tt.set != nil {
				tt.set(b)
			}
			c, err := b.start("codex", pipelines.Agent{})
			testenv.Must(t, err)
			want := slices.Concat(head, tt.model, tt.sandbox, tail, tt.more)
			if b.task.Schema != nil { // it is told of the tool by which it answers
				want = slices.Insert(want, slices.Index(want, "background_terminal_max_timeout=270000"), `features.code_mode={direct_only_tool_namespaces=["mcp__reprise"]}`, "-c")
			}
			if diff := cmp.Diff(want, b.shown(c.Argv[1:], c)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// Codex reads its key from CODEX_API_KEY when it runs without a person. A
// login that is there is not overridden.
func TestCodexKey(t *testing.T) {
	b := newBench(t)
	b.opts.Environ = append(b.opts.Environ, "OPENAI_API_KEY=sesame", "CODEX_HOME="+filepath.Join(b.dir, "codex"))
	if c, err := b.start("codex", pipelines.Agent{}); err != nil || !strings.HasPrefix(process.Lookup(c.Env, "CODEX_API_KEY"), "reprise-") {
		t.Errorf("error %v, key %q", err, process.Lookup(c.Env, "CODEX_API_KEY"))
	}
	b.write(filepath.Join(b.dir, "codex", "auth.json"), "{}")
	if c, err := b.start("codex", pipelines.Agent{}); err != nil || process.Lookup(c.Env, "CODEX_API_KEY") != "" {
		t.Errorf("error %v, key %q beside a login", err, process.Lookup(c.Env, "CODEX_API_KEY"))
	}
}

func TestGeminiArguments(t *testing.T) {
	for access, mode := range map[pipelines.Access]string{pipelines.AccessNone: "plan", pipelines.AccessRead: "plan", pipelines.AccessArtifacts: "auto_edit", pipelines.AccessTree: "yolo"} {
		b := newBench(t)
		b.task.Access, b.task.Model = access, "gemini-2.5-pro"
		c, err := b.start("gemini", pipelines.Agent{})
		testenv.Must(t, err)
		want := []string{"--output-format", "stream-json", "--skip-trust", "--approval-mode", mode, "--model", "gemini-2.5-pro", "--session-id", "SESSION"}
		if diff := cmp.Diff(want, b.shown(c.Argv[1:], c)); diff != "" {
			t.Errorf("%s: arguments (-want +got):\n%s", access, diff)
		}
	}
}

// Behind an address of its own, Gemini takes a key only if its settings say so. What the
// user has chosen stays.
func TestGeminiKey(t *testing.T) {
	const chosen = `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`
	for settings, want := range map[string]string{
		"":    chosen,
		" \n": chosen,
		"{}":  chosen,
		`{"model":{"name":"x"},"security":{"auth":{"useExternal":false},"folderTrust":1}}`: `{"model":{"name":"x"},"security":{"auth":{"selectedType":"gemini-api-key","useExternal":false},"folderTrust":1}}`,
		`{"security":{"auth":{"selectedType":"oauth-personal"}}}`:                          `{"security":{"auth":{"selectedType":"oauth-personal"}}}`,
		`{"selectedAuthType":"oauth-personal"}`:                                            `{"selectedAuthType":"oauth-personal"}`,
		`{"security":"odd"}`:                                                               chosen,
		"{ // mine\n}":                                                                     "{ // mine\n}",
		"null":                                                                             "null",
		"[]":                                                                               "[]",
	} {
		if got := string(chosenKey([]byte(settings))); got != want {
			t.Errorf("%q: %s, want %s", settings, got, want)
		}
	}
	shaped := func(env ...string) (n int) {
		for _, f := range logins("gemini", "/home/a", env) {
			if f.Shape != nil {
				n++
			}
		}
		return n
	}
	if shaped() != 0 || shaped("GEMINI_API_KEY=k") != 1 {
		t.Errorf("changed are %d without a key, %d with one", shaped(), shaped("GEMINI_API_KEY=k"))
	}
}

// HOME is the user's, where the programs have their logins.
func TestHomeAndTemp(t *testing.T) {
	b := newBench(t)
	c, err := b.start("claude", pipelines.Agent{})
	if err != nil || "HOME="+c.Home != b.opts.Environ[1] || process.Lookup(c.Env, "TMPDIR") != c.Temp || filepath.Dir(c.Temp) != b.opts.Temp {
		t.Errorf("error %v, call %+v", err, c)
	}
}

func TestSandboxChangesTheCall(t *testing.T) {
	b := newBench(t)
	b.install("claude", "say nothing")
	b.install("wrapped", "play", recording(t, "claude-write"), "0")
	b.opts.Sandbox = func(c Call) (Call, error) {
		c.Argv = append([]string{filepath.Join(b.bin, "wrapped")}, c.Argv...)
		return c, nil
	}
	if r, fault := b.run("claude"); fault != nil || r.Text != "Done." {
		t.Errorf("result %+v, error %v", r, fault)
	}
}

func TestNoRoomForTemporaryFiles(t *testing.T) {
	b := newBench(t)
	b.install("claude", "say nothing")
	b.opts.Temp = "/proc/self" // nothing can be made there
	if _, err := b.agent("claude").Run(t.Context(), b.task); err == nil || !strings.Contains(err.Error(), "making a temporary folder") {
		t.Errorf("error %v", err)
	}
}

func TestNoWorkTree(t *testing.T) {
	b := newBench(t)
	b.install("claude", "say nothing")
	b.task.Dir += "/gone"
	if _, err := b.agent("claude").Run(t.Context(), b.task); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "the work tree") {
		t.Errorf("error %v", err)
	}
}

// A long answer that comes through the proxy is heard of there. Past it, the program has to
// tell of it, piece by piece; the log keeps the whole alone.
func TestClaudeTellsOfPiecesPastTheProxy(t *testing.T) {
	b := newBench(t)
	for _, past := range []bool{true, false} {
		if !past {
			b.opts.Environ = append(b.opts.Environ, "ANTHROPIC_API_KEY=k")
		}
		if c, err := b.start("claude", pipelines.Agent{}); err != nil || slices.Contains(c.Argv, "--include-partial-messages") != past {
			t.Errorf("past the proxy: %v; error %v, arguments %q", past, err, c.Argv)
		}
	}
	const said = `{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"of a \"type\":\"stream_event\""}]}}`
	b = newBench(t)
	b.write(filepath.Join(b.dir, "stream"), `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"of a "}},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}`+"\n"+said+"\n"+goodResult+"\n")
	b.install("claude", "play", filepath.Join(b.dir, "stream"), "0")
	var kept []string
	b.opts.Transcript = func(_ engine.Task, line []byte) { kept = append(kept, string(line)) }
	if r, fault := b.run("claude"); fault != nil || r.Text != "Done." {
		t.Errorf("result %+v, error %v", r, fault)
	}
	if diff := cmp.Diff([]string{said, goodResult}, kept); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

// A command that the program runs may take or be silent for almost as long as the
// program itself, and no longer.
func TestProgramsCutLongCommandsThemselves(t *testing.T) {
	for _, tt := range []struct {
		idle        time.Duration
		most, usual string // of Claude Code
		codex       string
		given       string // what a pipeline gives Claude Code as the usual limit
	}{
		{0, "", "", "", ""},
		{5 * time.Minute, "270000", "", "background_terminal_max_timeout=270000", ""},
		{time.Minute, "30000", "30000", "background_terminal_max_timeout=30000", ""},
		{time.Minute, "30000", "20000", "background_terminal_max_timeout=30000", "20000"},
		{time.Minute, "30000", "30000", "background_terminal_max_timeout=30000", "900000"},
		{4 * time.Second, "2000", "2000", "background_terminal_max_timeout=5000", ""},
		{time.Hour, "3570000", "", "", ""},
	} {
		b := newBench(t)
		b.task.Idle = tt.idle
		b.opts.Environ = append(b.opts.Environ, "BASH_DEFAULT_TIMEOUT_MS="+tt.given)
		c, err := b.start("claude", pipelines.Agent{Env: []string{"BASH_DEFAULT_TIMEOUT_MS"}})
		if most, usual := process.Lookup(c.Env, "BASH_MAX_TIMEOUT_MS"), process.Lookup(c.Env, "BASH_DEFAULT_TIMEOUT_MS"); err != nil || most != tt.most || usual != tt.usual {
			t.Errorf("idle %v: error %v, limits %q and %q", tt.idle, err, most, usual)
		}
		c, err = b.start("codex", pipelines.Agent{})
		i := slices.IndexFunc(c.Argv, func(a string) bool { return strings.HasPrefix(a, "background_terminal") })
		if err != nil || (i < 0) != (tt.codex == "") || i > 0 && c.Argv[i] != tt.codex {
			t.Errorf("idle %v: error %v, arguments %q", tt.idle, err, c.Argv)
		}
	}
}

// A prompt is text, also where it looks like a command of the program.
func TestClaudePromptIsText(t *testing.T) {
	for prompt, want := range map[string]string{"/compact now": "\n/compact now", "# Task": "# Task", "": ""} {
		got, err := claude{newCLI("claude", pipelines.Agent{}, Options{})}.prepare(&Call{Task: engine.Task{Prompt: prompt}})
		if err != nil || got != want {
			t.Errorf("%q: %q (%v), want %q", prompt, got, err, want)
		}
	}
}

func TestFor(t *testing.T) {
	if _, err := For("cluade", pipelines.Agent{}, Options{}); err == nil || err.Error() != `there is no agent "cluade"; there are acp, claude, codex, command, copilot, gemini, opencode, qwen, rehearsal` {
		t.Errorf("error %v", err)
	}
	if _, err := For("command", pipelines.Agent{}, Options{}); err == nil || !strings.Contains(err.Error(), `needs command: ["program"`) {
		t.Errorf("error %v", err)
	}
}

func TestProbe(t *testing.T) {
	b := newBench(t)
	b.opts.Environ[0] = "PATH=" + b.bin
	var fault *engine.AgentError
	if err := Probe("codex", pipelines.Agent{}, "", b.opts); !errors.As(err, &fault) || fault.Class != metadata.Missing || fault.Hint != metadata.Because("hint_install", "command", "npm install -g @openai/codex") {
		t.Errorf("error %+v", err)
	}
	b.install("codex", "crash")
	if err := Probe("codex", pipelines.Agent{}, "", b.opts); runtime.GOOS == "linux" && (!errors.As(err, &fault) || fault.Class != metadata.Auth || fault.Hint != metadata.Because("hint_codex_login")) {
		t.Errorf("without a login: error %+v", err)
	}
	b.opts.Environ = append(b.opts.Environ, "OPENAI_API_KEY=canary")
	for _, name := range []string{"codex", "rehearsal"} {
		if err := Probe(name, pipelines.Agent{}, "", b.opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A path counts from the top of the work tree.
	dir := t.TempDir()
	own := pipelines.Agent{Command: []string{"./tools/own"}}
	if err := Probe("command", own, dir, b.opts); !errors.As(err, &fault) || !strings.Contains(err.Error(), filepath.Join(dir, "tools/own")+"; a path counts from the top") {
		t.Errorf("error %v", err)
	}
	testenv.Must(t, os.MkdirAll(filepath.Join(dir, "tools"), 0o755))
	for _, tt := range []struct {
		text string
		mode os.FileMode
		want string // of the error
	}{
		{"#!/bin/sh\n", 0o755, ""},
		{"\x7fELF\x02\x01\x01\x00", 0o755, ""},
		{"#!/bin/sh\n", 0o644, "tools/own is not executable: make it so with chmod +x, and commit that"},
		{"echo done # なぜ\n", 0o755, "tools/own has no first line that says what runs it, such as #!/bin/sh: add it, and commit that"},
	} {
		name := filepath.Join(dir, "tools", "own")
		testenv.Must(t, errors.Join(os.WriteFile(name, []byte(tt.text), tt.mode), os.Chmod(name, tt.mode)))
		if err := Probe("command", own, dir, b.opts); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasSuffix(err.Error(), tt.want)) {
			t.Errorf("%q with %o: %v, want %q", tt.text, tt.mode, err, tt.want)
		}
	}
}
