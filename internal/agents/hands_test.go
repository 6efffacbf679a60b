package agents

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// judging is a bench at which a reviewer has hands, for a copy of the work that has one file.
func judging(t *testing.T) (b *bench, h *hands, anew *int) {
	t.Helper()
	b, anew = newBench(t), new(int)
	b.task.Access = pipelines.AccessRun
	b.task.Fresh = func(context.Context) (string, error) {
		*anew++
		b.write(filepath.Join(b.dir+"-run", "main.go"), "package main\n")
		return b.dir + "-run", nil
	}
	h = newCLI("claude", pipelines.Agent{}, b.opts).handsFor(&b.task)
	if h == nil || b.task.Access != pipelines.AccessRead {
		t.Fatalf("hands %v, access %s", h, b.task.Access)
	}
	return b, h, anew
}

// asked sends a message to hands and gives what they answer.
func asked(t *testing.T, h *hands, message string) (code int, answer string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/mcp/reprise", strings.NewReader(message)))
	return w.Code, w.Body.String()
}

// ran has hands run a command, and gives what they say of it.
func ran(t *testing.T, h *hands, command string) string {
	t.Helper()
	text, _ := json.Marshal(command)
	_, answer := asked(t, h, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run","arguments":{"command":`+string(text)+`}}}`)
	var said struct {
		ID     int
		Result struct{ Content []struct{ Text string } }
	}
	_, data, _ := strings.Cut(answer, "data: ")
	if err := json.Unmarshal([]byte(data), &said); err != nil || said.ID != 7 || len(said.Result.Content) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	return said.Result.Content[0].Text
}

// A reviewer's commands run in the copy of the work, which is as it was for each of them.
func TestHandsRunCommands(t *testing.T) {
	b, h, anew := judging(t)
	for _, tt := range []struct {
		command, says string
		anew          int
	}{
		{"cat main.go; exit 3", "package main\n\n[exit status 3 after ", 1},
		{"pwd; ls '" + b.dir + "'", b.dir + "\nmain.go\n", 1},
		{"echo evil > main.go; cat main.go >&2", "evil\n\n[exit status 0 after ", 1},
		{"cat main.go", "package main\n", 2},
		{"touch main.go", "[exit status 0 after ", 2},
		{" ", "There is no command.", 2},
		{"env", "CI=true", 3},
	} {
		if said := ran(t, h, tt.command); !strings.Contains(said, tt.says) || *anew != tt.anew {
			t.Errorf("%s: made anew %d times: %s", tt.command, *anew, said)
		}
	}
	if said := ran(t, h, "head -c 100000 /dev/zero | tr '\\0' 'x' | fold -w 100"); len(said) < handsHead || len(said) > handsHead+handsTail+500 {
		t.Errorf("of 100,000 bytes it is told %d", len(said))
	}
	r := engine.Result{}
	if err := h.conclude(&r); r.RanNothing || h.ran != 7 || err != nil {
		t.Errorf("it ran %d commands, %+v: %v", h.ran, r, err)
	}
	h.task.Fresh = func(context.Context) (string, error) { return "", errors.New("the disk is full") }
	ran(t, h, "touch main.go")
	if said := ran(t, h, "true"); !strings.Contains(said, "the disk is full") {
		t.Errorf("in a copy that was not made anew: %s", said)
	}
	if err := h.conclude(&r); err == nil {
		t.Error("nobody is told of a copy that was not made anew")
	}
}

// What a command prints is shown as it is, also what a terminal would hide: it may be a file under review.
func TestHandsHideNothing(t *testing.T) {
	_, h, _ := judging(t)
	for command, says := range map[string]string{
		`printf 'evil()\rgood()\n'`:                            "evil()␍good()\n",
		`printf 'a = "\033]";evil();"\007"\n'`:                 "a = \"␛]\";evil();\"␇\"\n",
		`printf '{"Action":"start","evil":1}\n'`:               `{"Action":"start","evil":1}` + "\n",
		`printf '{"Action":"output","Output":"x","evil":1}\n'`: `{"Action":"output","Output":"x","evil":1}` + "\n",
		`printf 'one\r\n\n\033[31mfour\033[0m'`:                "one\n\nfour\n[exit",
	} {
		if said := ran(t, h, command); !strings.HasPrefix(said, says) {
			t.Errorf("of %s it is told %q", command, said)
		}
	}
}

// A program that waits no longer for a command takes nothing from the others, and what changes after a command has ended is
// taken back as well.
func TestHandsGoOn(t *testing.T) {
	b, h, anew := judging(t)
	fresh := h.task.Fresh
	h.task.Fresh = func(ctx context.Context) (string, error) {
		if ctx.Err() != nil {
			return "", errors.New("signal: killed")
		}
		return fresh(ctx)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_ = h.run(gone, "true")
	r := engine.Result{}
	if err := h.conclude(&r); err != nil || !r.RanNothing {
		t.Errorf("of one that left: %+v, %v", r, err)
	}
	if said := ran(t, h, "cat main.go"); !strings.Contains(said, "package main") || *anew != 1 {
		t.Errorf("after one that left: %s", said)
	}
	b.write(filepath.Join(b.dir+"-run", "main.go"), "evil\n")
	if said := ran(t, h, "cat main.go"); !strings.Contains(said, "package main") || *anew != 2 {
		t.Errorf("after a change between two commands: %s", said)
	}
}

// An answer is taken while a command is at work.
func TestHandsTakeAnAnswerBesideACommand(t *testing.T) {
	_, h, _ := judging(t)
	h.task.Schema = json.RawMessage(`{}`)
	ctx, end := context.WithCancel(t.Context())
	begun, ended := make(chan bool), make(chan string)
	fresh := h.task.Fresh
	h.task.Fresh = func(ctx context.Context) (string, error) {
		close(begun)
		return fresh(ctx)
	}
	go func() { ended <- h.run(ctx, "sleep 20") }()
	<-begun
	if _, said := asked(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit","arguments":{"n":7}}}`); !strings.Contains(said, "Taken.") {
		t.Errorf("of an answer beside a command: %s", said)
	}
	end()
	if said := <-ended; strings.Contains(said, "exit status") || string(h.answer) != `{"n":7}` {
		t.Errorf("the answer is %s, after %s", h.answer, said)
	}
}

// The server speaks the protocol as its clients do.
func TestHandsSpeakMCP(t *testing.T) {
	_, h, _ := judging(t)
	for _, tt := range []struct {
		message, answer string
		code            int
	}{
		{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, `{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}},"protocolVersion":"2025-06-18",`, 200},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``, 202},
		{`{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":"a","result":{}}`, 200},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"description":"Runs a shell command`, 200},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,`, 200},
		{`hello`, `reprise: expected one message of JSON-RPC`, 400},
	} {
		if code, answer := asked(t, h, tt.message); code != tt.code || !strings.HasPrefix(answer, tt.answer) {
			t.Errorf("%s: %d %s", tt.message, code, answer)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/mcp/reprise", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

// An answer is what was submitted last. Of who judges work, nothing else is one.
func TestHandsTakeAnswers(t *testing.T) {
	submitted := func(h *hands, answer string) string {
		_, said := asked(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit","arguments":`+answer+`}}`)
		return said
	}
	for _, judge := range []bool{true, false} {
		b := newBench(t)
		b.task.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
		b.task.Wrong = func(answer json.RawMessage) string {
			if string(answer) != `{"n":7}` {
				return "n is not 7."
			}
			return ""
		}
		if judge {
			judges(&b.task)
		}
		h, r := newCLI("claude", pipelines.Agent{}, b.opts).handsFor(&b.task), engine.Result{Text: `{"n":7}`}
		err := h.conclude(&r)
		if said, _ := phases.AnsweredReport(r.Structured, r.Text); err != nil || (said == nil) != judge {
			t.Errorf("judge %v: of a message it takes %s: %v", judge, r.Structured, err)
		}
		_, tools := asked(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if !strings.Contains(tools, `"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"name":"submit"`) || strings.Contains(tools, `"run"`) {
			t.Errorf("its tools are %s", tools)
		}
		if said := submitted(h, `{"n":6}`); !strings.Contains(said, `n is not 7.`) || !strings.Contains(said, `"isError":true`) {
			t.Errorf("of a wrong answer: %s", said)
		}
		if said := submitted(h, `{"n":7}`); !strings.Contains(said, "Taken.") || !strings.Contains(said, `"isError":false`) {
			t.Errorf("of a right answer: %s", said)
		}
		if _, said := asked(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"command":"true"}}}`); !strings.Contains(said, "no such tool") {
			t.Errorf("of a tool that it has not: %s", said)
		}
		if err := h.conclude(&r); err != nil || string(r.Structured) != `{"n":7}` || r.RanNothing {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// Each program is told of the hands as the one way to run something.
func TestProgramsHaveHands(t *testing.T) {
	for use, want := range map[string][]string{
		"claude": {`"mcp__reprise__run"`, "ENABLE_TOOL_SEARCH=false", `"alwaysLoad":true`, `"url":"http://127.0.0.1:`},
		"codex":  {"-C TEMP/empty ", "--sandbox read-only --disable shell_tool ", `mcp_servers.reprise.enabled_tools=["run"]`, `mcp_servers.reprise.url="GATE/mcp/reprise"`},
	} {
		b := newBench(t)
		b.task.Access, b.opts.Contained = pipelines.AccessRun, true
		judges(&b.task)
		b.install(use, "say nothing")
		var all string
		b.opts.Sandbox = func(c Call) (Call, error) {
			if c.Access != pipelines.AccessRead {
				t.Errorf("%s may %s", use, c.Access)
			}
			all = strings.Join(append(b.shown(c.Argv, c), c.Env...), " ")
			data, _ := os.ReadFile(filepath.Join(c.Temp, "mcp.json"))
			all += string(data)
			return c, io.EOF
		}
		_, _ = b.agent(use).Run(t.Context(), b.task) // it ends before it begins
		for _, text := range want {
			if !strings.Contains(all, text) {
				t.Errorf("%s: %s is not in %s", use, text, all)
			}
		}
		if strings.Contains(all, "Bash") || strings.Contains(all, "danger-full-access") || strings.Contains(all, "yolo") {
			t.Errorf("%s has a shell: %s", use, all)
		}
	}
}

// Who may not run commands, and who is to judge nothing, has no hands.
func TestWhoHasHands(t *testing.T) {
	for name, tt := range map[string]struct {
		use    string
		access pipelines.Access
		deny   []string
		judges bool
		has    bool
	}{
		"a reviewer of code":               {"claude", pipelines.AccessRun, nil, true, true},
		"one that is not to run any":       {"claude", pipelines.AccessRun, []string{"Bash"}, true, false},
		"one that reads":                   {"claude", pipelines.AccessRead, nil, true, false},
		"one that reads by commands alone": {"codex", pipelines.AccessRead, nil, true, true},
		"a writer":                         {"codex", pipelines.AccessTree, nil, false, false},
		"a program of the user's":          {"command", pipelines.AccessRun, nil, true, false},
	} {
		b := newBench(t)
		if b.task.Access = tt.access; tt.judges {
			judges(&b.task)
		}
		b.task.Tools.Deny = tt.deny
		c := newCLI(tt.use, pipelines.Agent{Command: []string{"worker"}}, b.opts)
		if has := c.handsFor(&b.task) != nil; has != tt.has {
			t.Errorf("%s has hands: %v", name, has)
		}
	}
}
