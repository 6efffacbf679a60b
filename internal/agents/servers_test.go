package agents

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// equipped are agents with servers of tools, one of each kind.
func equipped(use string) pipelines.Agent {
	allow := []string{"own", "web.meaning", "not"}
	if use == "claude" {
		allow = append(allow, "Read", "Bash")
	}
	return pipelines.Agent{Use: use, ToolSet: pipelines.ToolSet{
		MCP: map[string]pipelines.ToolServer{
			"own": {Command: "/bin/sh", Args: []string{"-c", `echo "$0 $KEY $LEVEL"`, "it's $HOME"}, Env: map[string]string{"KEY": "env:WORDBOOK_KEY", "LEVEL": "it's"}},
			"web": {URL: "https://words.example/mcp", Headers: map[string]string{"Authorization": "Bearer env:WORDBOOK_KEY"}},
			"not": {Command: "not-there"},
		},
		Tools:  pipelines.ToolChoice{Deny: []string{"not", "own.forget"}, Allow: allow},
		Effort: "high",
	}}
}

const wordbookKey = "wordbook-5f4dcc3b5aa765d6"

// equippedCall gives what would be started for the task, and what files it was given.
func (b *bench) equippedCall(use string, access pipelines.Access) (c Call, files map[string]string, err error) {
	b.t.Helper()
	b.opts.Environ = append(b.opts.Environ, "WORDBOOK_KEY="+wordbookKey)
	b.task.Access = access
	b.install(use, "say nothing")
	files = map[string]string{}
	enough := errors.New("enough")
	b.opts.Sandbox = func(call Call) (Call, error) {
		c = call
		all, _ := filepath.Glob(filepath.Join(call.Temp, "mcp*"))
		scripts, _ := filepath.Glob(filepath.Join(call.Temp, "mcp", "*"))
		for _, name := range append(all, scripts...) {
			if data, err := os.ReadFile(name); err == nil {
				files[filepath.Base(name)] = string(data)
			}
			if strings.HasSuffix(name, ".sh") {
				out, err := exec.Command("/bin/sh", name).Output()
				if err != nil {
					b.t.Error(err)
				}
				files["said"] = string(out)
			}
		}
		return call, enough
	}
	it, err := For(use, equipped(use), b.opts)
	if err != nil {
		return c, files, err
	}
	if _, err = it.Run(b.t.Context(), b.task); errors.Is(err, enough) {
		err = nil
	}
	return c, files, err
}

// What a server is given stands neither in an argument nor in a variable of the agent, and
// that of an address in no file either.
func TestServersOfTools(t *testing.T) {
	for _, use := range []string{"claude", "codex"} {
		b := newBench(t)
		c, files, err := b.equippedCall(use, pipelines.AccessTree)
		testenv.Must(t, err)
		all := strings.Join(append(c.Argv, c.Env...), "\n")
		if strings.Contains(all, wordbookKey) || strings.Contains(files["mcp.json"], wordbookKey) {
			t.Errorf("%s: the key stands where the agent has it at once:\n%s\n%s", use, all, files["mcp.json"])
		}
		if want := "it's $HOME " + wordbookKey + " it's\n"; files["said"] != want {
			t.Errorf("%s: the server says %q, want %q", use, files["said"], want)
		}
		if strings.Contains(all+files["mcp.json"], "not-there") {
			t.Errorf("%s: a server that is not chosen is there", use)
		}
	}
}

func TestClaudeIsToldOfServers(t *testing.T) {
	b := newBench(t)
	c, files, err := b.equippedCall("claude", pipelines.AccessTree)
	testenv.Must(t, err)
	var config struct {
		Servers map[string]struct {
			Type, Command, URL string
			Args               []string
			Headers            map[string]string
		} `json:"mcpServers"`
	}
	testenv.Must(t, json.Unmarshal([]byte(files["mcp.json"]), &config))
	own, web := config.Servers["own"], config.Servers["web"]
	if len(config.Servers) != 2 || own.Command != "/bin/sh" || len(own.Args) != 1 || own.Args[0] != filepath.Join(c.Temp, "mcp", "own.sh") {
		t.Errorf("%s", files["mcp.json"])
	}
	if web.Type != "http" || !strings.HasPrefix(web.URL, "http://127.0.0.1:") || !strings.HasSuffix(web.URL, "/mcp/web") || !strings.HasPrefix(web.Headers["Authorization"], "Bearer reprise-") {
		t.Errorf("%s", files["mcp.json"])
	}
	args := strings.Join(b.shown(c.Argv, c), " ")
	for _, want := range []string{
		"--tools Read,Bash --settings ", `,"Bash","Read","mcp__own","mcp__web__meaning"],"deny":["mcp__own__forget"]`,
		"--effort high", "--strict-mcp-config", "--mcp-config TEMP/mcp.json",
	} {
		if !strings.Contains(args, want) {
			t.Errorf("arguments %s, want %s", args, want)
		}
	}
	if process.Lookup(c.Env, "MCP_TOOL_TIMEOUT") != "270000" {
		t.Errorf("a tool may take %q ms", process.Lookup(c.Env, "MCP_TOOL_TIMEOUT"))
	}
}

func TestCodexIsToldOfServers(t *testing.T) {
	b := newBench(t)
	c, files, err := b.equippedCall("codex", pipelines.AccessTree)
	testenv.Must(t, err)
	args := strings.Join(b.shown(c.Argv, c), " ")
	for _, want := range []string{
		`-c model_reasoning_effort="high"`,
		`-c mcp_servers.own.command="/bin/sh" -c mcp_servers.own.args=["TEMP/mcp/own.sh"]`, `-c mcp_servers.own.disabled_tools=["forget"]`,
		`-c mcp_servers.web.url="GATE/mcp/web"`, `-c mcp_servers.web.bearer_token_env_var="REPRISE_MCP_KEY"`, `-c mcp_servers.web.enabled_tools=["meaning"]`,
	} {
		if !strings.Contains(args, want) {
			t.Errorf("arguments %s, want %s", args, want)
		}
	}
	if key := process.Lookup(c.Env, "REPRISE_MCP_KEY"); !strings.HasPrefix(key, "reprise-") {
		t.Errorf("the key is %q", key)
	}
	// It tells nobody that a server has failed, so the script notes it.
	if !strings.HasSuffix(files["own.sh"], "own.end'\n") {
		t.Errorf("the script: %s", files["own.sh"])
	}
}

// What a step says of effort and tools is in the arguments of its call, in place of the
// agent's effort, and never with more tools than the agent has.
func TestStepsEquipTheirAgents(t *testing.T) {
	for use, want := range map[string]struct{ has, lacks []string }{
		"claude": {[]string{"--effort max", "--tools Read --settings", `,"Read","mcp__own"],"deny":["mcp__own__forget"]`}, []string{"mcp__web", "--effort high"}},
		"codex":  {[]string{`model_reasoning_effort="xhigh"`, "mcp_servers.own.command"}, []string{"mcp_servers.web", `"high"`}},
	} {
		b := newBench(t)
		b.task.Effort, b.task.Tools = "max", pipelines.ToolChoice{Allow: []string{"Read", "Write", "own"}, Deny: []string{"Write"}}
		c, _, err := b.equippedCall(use, pipelines.AccessTree)
		args := strings.Join(b.shown(c.Argv, c), " ")
		for _, text := range want.has {
			if err != nil || !strings.Contains(args, text) {
				t.Errorf("%s: error %v, arguments %s, want %s", use, err, args, text)
			}
		}
		for _, text := range want.lacks {
			if strings.Contains(args, text) {
				t.Errorf("%s: arguments %s, want no %s", use, args, text)
			}
		}
	}
}

// An agent without tools has no servers either.
func TestNoServersWithoutAccess(t *testing.T) {
	b := newBench(t)
	c, files, err := b.equippedCall("claude", pipelines.AccessNone)
	if args := strings.Join(c.Argv, " "); err != nil || len(files) > 0 || strings.Contains(args, "--mcp-config") || strings.Contains(args, "mcp__") {
		t.Errorf("error %v, arguments %s, files %v", err, args, files)
	}
}

// What a server lacks is known before anything is paid for.
func TestProbeOfServers(t *testing.T) {
	b := newBench(t)
	b.install("claude", "say nothing")
	b.opts.Environ = append(b.opts.Environ, "ANTHROPIC_API_KEY=canary")
	for want, set := range map[string]pipelines.ToolSet{
		"the MCP server own: it needs the variable WORDBOOK_KEY, which is not set": {MCP: map[string]pipelines.ToolServer{"own": {Command: "/bin/sh", Env: map[string]string{"KEY": "env:WORDBOOK_KEY"}}}},
		`the MCP server own: there is no program "not-there" in PATH`:              {MCP: map[string]pipelines.ToolServer{"own": {Command: "not-there"}}},
	} {
		var fault *engine.AgentError
		if err := Probe("claude", pipelines.Agent{Use: "claude", ToolSet: set}, b.dir, b.opts); !errors.As(err, &fault) || fault.Class != metadata.Missing || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := Probe("claude", pipelines.Agent{Use: "claude", ToolSet: pipelines.ToolSet{MCP: map[string]pipelines.ToolServer{"own": {Command: "not-there"}}, Tools: pipelines.ToolChoice{Deny: []string{"own"}}}}, b.dir, b.opts); err != nil {
		t.Error(err)
	}
}

// Which servers are not there is said once, whatever a stream says how often.
func TestServersThatAreNotThere(t *testing.T) {
	temp := t.TempDir()
	said, ended := filepath.Join(temp, "mcp", "own.err"), filepath.Join(temp, "mcp", "own.end")
	write := func(file, text string) {
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		testenv.Must(t, err)
	}
	write(said, "first\nno dictionary here\n")
	s := &claudeStream{servers: servers{{name: "own", said: said}, {name: "web"}, {name: "late"}, {name: "good"}}}
	for range 3 {
		s.line([]byte(`{"type":"system","subtype":"init","mcp_servers":[{"name":"own","status":"failed"},{"name":"web","status":"needs-auth"},{"name":"late","status":"pending"},{"name":"good","status":"connected"},{"name":"forged","status":"failed"}]}`))
	}
	want := []string{"the MCP server own did not start, so its tools were not there: no dictionary here", "the MCP server web did not start, so its tools were not there"}
	if diff := cmp.Diff(want, s.result.Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	all := servers{{name: "own", said: said, ended: ended}}
	for text, want := range map[string]int{"3\n": 1, "0\n": 0, "143\n": 0, "x": 0, "": 0} {
		write(ended, text)
		if got := all.failed(); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	// The agent may put a link there to what only its user may read.
	secret := filepath.Join(t.TempDir(), "secret")
	write(secret, "sesame\n")
	write(ended, "3\n")
	testenv.Must(t, errors.Join(os.Remove(said), os.Symlink(secret, said)))
	if got := all.failed(); len(got) != 1 || strings.Contains(got[0], "sesame") {
		t.Errorf("%q", got)
	}
}
