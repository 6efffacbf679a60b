package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// acpFake is a program that speaks ACP, well or as its mode says. Each line that it reads goes to the file "read".
type acpFake struct {
	dir, mode string
	prompts   int
	prompt    json.RawMessage // the id of the one it works on
	server    struct {
		URL     string
		Headers []struct{ Name, Value string }
	}
}

func speakACP(args []string) int {
	f := &acpFake{dir: args[0], mode: args[1]}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		read, _ := os.OpenFile(filepath.Join(f.dir, "read"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		fmt.Fprintf(read, "%s\n", in.Bytes())
		read.Close()
		var asked acpMessage
		if json.Unmarshal(in.Bytes(), &asked) != nil {
			return 90
		}
		if code := f.hear(asked); code >= 0 {
			return code
		}
	}
	if f.mode == "stay" {
		return hang()
	}
	return 0
}

func (f *acpFake) say(format string, values ...any) {
	fmt.Printf(`{"jsonrpc":"2.0",`+format+"}\n", values...)
}

func (f *acpFake) update(format string, values ...any) {
	f.say(`"method":"session/update","params":{"sessionId":"s-1","update":{`+format+`}}`, values...)
}

// hear answers a message, and gives the code to exit with; -1: none.
func (f *acpFake) hear(asked acpMessage) int {
	switch asked.Method {
	case "initialize":
		version, http := 1, true
		switch f.mode {
		case "be newer":
			version = 2
		case "take no servers":
			http = false
		case "be silent":
			return hang()
		}
		f.say(`"id":%s,"result":{"protocolVersion":%d,"agentCapabilities":{"loadSession":%v,"mcpCapabilities":{"http":%v},"sessionCapabilities":{"close":{}}}}`, asked.ID, version, f.mode != "keep nothing", http)
	case "session/new", "session/load":
		var p struct {
			Servers []json.RawMessage `json:"mcpServers"`
		}
		_ = json.Unmarshal(asked.Params, &p)
		if len(p.Servers) > 0 {
			_ = json.Unmarshal(p.Servers[0], &f.server)
		}
		switch {
		case f.mode == "forget":
			f.say(`"id":%s,"error":{"code":-32602,"message":"there is no such session"}`, asked.ID)
			return -1
		case f.mode == "want a login":
			f.say(`"id":%s,"error":{"code":-32000,"message":"Authentication required"}`, asked.ID)
			return -1
		case f.mode == "name no session":
			f.say(`"id":%s,"result":{"sessionId":"--model"}`, asked.ID)
			return -1
		case asked.Method == "session/load":
			f.update(`"sessionUpdate":"tool_call","toolCallId":"t0","title":"Read history"`)
			f.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"History."}`)
		}
		f.say(`"id":%s,"result":{"sessionId":"s-1"}`, asked.ID)
	case "session/prompt":
		f.prompts++
		f.prompt = asked.ID
		return f.work()
	case "session/cancel":
		f.end("cancelled")
	case "session/close":
		f.say(`"id":%s,"result":{}`, asked.ID)
	}
	return -1
}

func (f *acpFake) end(why string) { f.say(`"id":%s,"result":{"stopReason":%q}`, f.prompt, why) }

// ask asks the model, which answers or not.
func (f *acpFake) ask() {
	r, _ := http.NewRequest(http.MethodPost, os.Getenv("OPENAI_BASE_URL")+"/chat/completions", strings.NewReader(`{"model":"gpt-5.5","messages":[{"role":"user","content":"Go."}]}`))
	r.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	if res, err := http.DefaultClient.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
	}
}

func (f *acpFake) submit(answer string) {
	r, _ := http.NewRequest(http.MethodPost, f.server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit","arguments":`+answer+`}}`))
	r.Header.Set(f.server.Headers[0].Name, f.server.Headers[0].Value)
	if res, err := http.DefaultClient.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
	}
}

// work does what the mode says in a turn.
func (f *acpFake) work() int {
	switch f.mode {
	case "say nonsense":
		fmt.Println("loading …")
		return hang()
	case "say a list":
		fmt.Println("[1]")
		return hang()
	case "break off":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"resu`, f.prompt)
		return 0
	case "say too much":
		fmt.Println(strings.Repeat("x", 17<<20))
		return hang()
	case "flood":
		for {
			f.say(`"method":"session/update"`)
		}
	case "beg": // and read nothing
		for n := 0; ; n++ {
			f.say(`"id":"b%d","method":"terminal/create"`, n)
		}
	case "fall silent":
		return hang()
	case "crash":
		fmt.Fprintln(os.Stderr, "fatal: no memory")
		return 3
	case "ask nobody":
		f.end("end_turn")
		return -1
	case "refuse":
		f.say(`"id":%s,"error":{"code":-32603,"message":"Internal error","data":{"details":"429 Too Many Requests"}}`, f.prompt)
		return -1
	}
	f.ask()
	switch why, is := strings.CutPrefix(f.mode, "end by "); {
	case is:
		f.end(why)
	case f.mode == "fail quietly":
		f.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Error: 500"}`)
		f.end("end_turn")
	case f.mode == "never end":
		f.ask() // past the limit; it is told to stop
	case f.mode == "judge", f.mode == "judge late" && f.prompts == 2:
		f.submit(`{"a":0}`)
		f.submit(`{"a":1}`)
		f.end("end_turn")
	case f.mode == "judge late", f.mode == "judge never":
		f.end("end_turn")
	default:
		f.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I begin."}`)
		f.update(`"sessionUpdate":"tool_call","toolCallId":"t1","title":"Edit main.go","rawInput":{}`)
		f.say(`"id":"q1","method":"session/request_permission","params":{"options":[{"optionId":"n","kind":"reject_once"},{"optionId":"y","kind":"allow_once"}]}`)
		f.say(`"id":"q2","method":"fs/write_text_file","params":{"path":"/etc/passwd","content":""}`)
		f.update(`"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","rawOutput":%q`, strings.Repeat("x", 3<<20))
		f.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Do"}`)
		f.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ne."}`)
		f.end("end_turn")
	}
	return -1
}

// speaker is a bench with such a program, and a model that says something.
func speaker(t *testing.T, mode string, script m.Script) *bench {
	t.Helper()
	b := newBench(t)
	server := m.Start(script)
	t.Cleanup(server.Close)
	b.opts.Environ = append(b.opts.Environ, "OPENAI_API_KEY=a-key", "OPENAI_BASE_URL="+server.URL+"/v1")
	b.opts.Linger = 200 * time.Millisecond
	b.install("opencode", "speak ACP", mode)
	return b
}

// A program that speaks ACP works like any other: what it may do is answered, what it may not have is refused, and of a
// session that goes on only what is new counts.
func TestACP(t *testing.T) {
	for _, mode := range []string{"work", "stay"} {
		b := speaker(t, mode, m.Always(m.Say("Done.")))
		for _, resumed := range []bool{false, true} {
			b.task.Resume = resumed
			r, fault := b.run("opencode")
			if fault != nil || r.Session != "s-1" || r.Text != "Done." || r.ToolCalls != 1 || r.Usage.Turns != 1 || r.Usage.OutputTokens != 50 || r.Usage.USD == 0 || len(r.Warnings) > 0 {
				t.Fatalf("%s, resumed %v: %+v, %v", mode, resumed, r, fault)
			}
			b.task.Session = r.Session
		}
		read := b.read(filepath.Join(b.dir, "read"))
		for _, want := range []string{`"optionId":"y"`, `"id":"q2","error":{"code":-32601`, `"terminal":false`, `"method":"session/close"`, `"method":"session/load"`, "Write the plan."} {
			if !strings.Contains(read, want) {
				t.Errorf("%s: it was not told %s, but\n%s", mode, want, read)
			}
		}
	}
}

// An answer is given by the tool of the gate; a program that gives none is told once to do so.
func TestACPGivesAnswers(t *testing.T) {
	for mode, want := range map[string]struct {
		answer  string
		prompts int
	}{"judge": {`{"a":1}`, 1}, "judge late": {`{"a":1}`, 2}, "judge never": {"null", 2}} {
		b := speaker(t, mode, m.Always(m.Say("Done.")))
		b.task.Access, b.task.Schema = pipelines.AccessRead, json.RawMessage(`{"type":"object"}`)
		b.task.Fresh = func(context.Context) (string, error) { return b.dir, nil }
		b.task.Wrong = func(answer json.RawMessage) string {
			if string(answer) == `{"a":0}` {
				return "a is 0"
			}
			return ""
		}
		r, fault := b.run("opencode")
		if n := strings.Count(b.read(filepath.Join(b.dir, "read")), "session/prompt"); fault != nil || string(r.Structured) != want.answer || n != want.prompts {
			t.Errorf("%s: after %d prompts %s, %v", mode, n, r.Structured, fault)
		}
	}
}

// What a program does wrong is one sentence and a class, whatever it calls that itself, and nothing waits for it.
func TestACPGoesWrong(t *testing.T) {
	good := m.Always(m.Say("Done."))
	for mode, want := range map[string]struct {
		script m.Script
		class  metadata.Class
		says   string
	}{
		"be newer":          {good, metadata.Refused, "it speaks version 2 of the Agent Client Protocol, and reprise version 1"},
		"be silent":         {good, metadata.IdleTimeout, "no output for 2s"},
		"fall silent":       {good, metadata.IdleTimeout, "no output for 2s"},
		"take no servers":   {good, metadata.Refused, "it takes no servers of tools over HTTP"},
		"want a login":      {good, metadata.Auth, "Authentication required"},
		"name no session":   {good, metadata.Refused, "it began a session without an id that could be used again: --model"},
		"say nonsense":      {good, metadata.Refused, "it printed what is no message of the Agent Client Protocol, or only a part of one: loading …"},
		"say a list":        {good, metadata.Refused, "it printed what is no message of the Agent Client Protocol, or only a part of one: [1]"},
		"break off":         {good, metadata.Crash, `only a part of one: {"jsonrpc":"2.0","id":3,"resu`},
		"say too much":      {good, metadata.Refused, "it sent a message of more than 16 MiB"},
		"flood":             {good, metadata.Refused, "it sent more than 1000000 messages"},
		"beg":               {good, metadata.Refused, "it does not read what it is told"},
		"crash":             {good, metadata.Crash, "exit status 3 without a result: fatal: no memory"},
		"ask nobody":        {good, metadata.Crash, "it ended its turn, and had no answer of a model"},
		"refuse":            {good, metadata.RateLimited, "session/prompt: Internal error"},
		"fail quietly":      {m.Always(m.Fail(500)), metadata.Network, "the model's service refused (HTTP 500)"},
		"end by end_turn":   {m.Always(m.Fail(401)), metadata.Auth, "HTTP 401"},
		"end by refusal":    {good, metadata.Refused, "its model refused to go on"},
		"end by max_tokens": {good, metadata.TooLong, "its answer was longer than it may be"},
		"end by tiredness":  {good, metadata.Refused, `it ended its turn with "tiredness"`},
		"end by cancelled":  {good, metadata.Refused, `it ended its turn with "cancelled"`},
	} {
		t.Run(mode, func(t *testing.T) {
			b := speaker(t, mode, want.script)
			if want.class == metadata.IdleTimeout {
				b.task.Idle = 2 * time.Second
			}
			if mode == "take no servers" {
				b.task.Schema = json.RawMessage(`{"type":"object"}`)
			}
			r, fault := b.run("opencode")
			if fault == nil || fault.Class != want.class || !strings.Contains(fault.Error(), want.says) {
				t.Errorf("%v of class %q, result %.1000q", fault, fault.Class, fmt.Sprint(r))
			}
		})
	}
}

// A session that is not there is begun afresh, by whoever asked.
func TestACPSessionIsGone(t *testing.T) {
	for _, mode := range []string{"forget", "keep nothing"} {
		b := speaker(t, mode, m.Always(m.Say("Done.")))
		b.task.Session, b.task.Resume = "s-1", true
		if _, fault := b.run("opencode"); fault == nil || fault.Class != metadata.Session {
			t.Errorf("%s: %v", mode, fault)
		}
	}
}

// At a limit the program is told to stop, and what it has done counts.
func TestACPAtALimit(t *testing.T) {
	b := speaker(t, "never end", m.Always(m.Say("Done.")))
	b.task.Turns = 1
	r, fault := b.run("opencode")
	if fault != nil || r.Limit != "turns" || r.Usage.Turns != 1 || !strings.Contains(b.read(filepath.Join(b.dir, "read")), "session/cancel") {
		t.Errorf("%+v, %v", r, fault)
	}
	b = speaker(t, "end by max_turn_requests", m.Always(m.Say("Done.")))
	if r, fault := b.run("opencode"); fault != nil || r.Limit != "turns" {
		t.Errorf("%+v, %v", r, fault)
	}
}

// Any program is one of these, by its command. Without a key that the gate can keep, none is started.
func TestACPOfOnesOwn(t *testing.T) {
	b := speaker(t, "work", m.Always(m.Say("Done.")))
	b.install("mine", "speak ACP", "work")
	of := pipelines.Agent{Use: "acp", Command: []string{"mine", "--acp"}}
	for _, env := range [][]string{nil, {"OPENAI_API_KEY"}} { // with which its address goes, too
		of.Env = env
		a, err := For("acp", of, b.opts)
		testenv.Must(t, err)
		failed := Probe("acp", of, b.dir, b.opts)
		r, err := a.Run(t.Context(), b.task)
		if env != nil {
			if err != nil || failed != nil || r.Text != "Done." || r.Usage.Turns != 1 {
				t.Errorf("%+v, %v, %v", r, err, failed)
			}
			continue
		}
		for _, err := range []error{err, failed} {
			if fault, is := err.(*engine.AgentError); !is || fault.Class != metadata.Auth || !strings.Contains(err.Error(), "name in its env, and set, ANTHROPIC_API_KEY or") {
				t.Errorf("without a key: %v", err)
			}
		}
	}
	b.opts.Environ = b.opts.Environ[:3]
	if err := Probe("opencode", pipelines.Agent{Use: "opencode"}, b.dir, b.opts); err == nil || !strings.Contains(err.Error(), ": set OPENAI_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

// What a row says of a program is what it is started with.
func TestACPRows(t *testing.T) {
	for name, want := range map[string][]string{
		"opencode": {"ARG acp", `"model": "gate/o-1"`, `OPENCODE_PERMISSION={"edit": "deny", "bash": "deny"}`},
		"qwen":     {"ARG --acp", "ARG run_shell_command,write_file,edit", "OPENAI_MODEL=o-1", `"toolSearch": {"enabled": false}`},
		"copilot":  {"ARG --allow-all-tools", "ARG create", "COPILOT_MODEL=o-1", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:"},
	} {
		b := speaker(t, "work", m.Always(m.Say("Done.")))
		started := filepath.Join(b.dir, "started")
		_ = os.Remove(filepath.Join(b.bin, name)) // a link to this program, or nothing
		b.write(filepath.Join(b.bin, name), fmt.Sprintf("#!/bin/sh\n{ for a; do echo \"ARG $a\"; done; env; cat \"$TMPDIR\"/*.json; } > %q 2>&1\n", started))
		testenv.Must(t, os.Chmod(filepath.Join(b.bin, name), 0o755))
		b.task.Access, b.task.Model = pipelines.AccessRead, "o-1"
		if _, fault := b.run(name); fault == nil || fault.Class != metadata.Crash {
			t.Errorf("%s: %v", name, fault)
		}
		for _, text := range want {
			if got := b.read(started); !strings.Contains(got, text) {
				t.Errorf("%s was not started with %s, but\n%s", name, text, got)
			}
		}
	}
}

// A log says what was done in this call, and nothing of what was told again of earlier ones.
func TestACPTranscript(t *testing.T) {
	update := func(text string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"update":{` + text + `}}}`
	}
	got := call(t, "opencode", []string{
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`,
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"History."}`),
		`{"jsonrpc":"2.0","id":2,"result":{}}`,
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I be"}`),
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"gin."}`),
		update(`"sessionUpdate":"tool_call","toolCallId":"1","title":"bash","status":"pending","rawInput":{}`),
		update(`"sessionUpdate":"tool_call_update","toolCallId":"1","title":"go test","status":"in_progress","rawInput":{"command":"go test"}`),
		update(`"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}}]`),
		update(`"sessionUpdate":"tool_call","toolCallId":"2","title":"reprise_submit","status":"pending"`),
		update(`"sessionUpdate":"tool_call_update","toolCallId":"2","status":"completed"`),
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error","data":"out of luck"}}`,
		"no message",
	}, engine.Result{Text: "Done."}, nil)
	for _, want := range []string{"I begin.", "go test", "ok", `Internal error: "out of luck"`, "no message", "Done."} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(got, "History") || strings.Contains(got, "submit") || strings.Contains(got, "jsonrpc") {
		t.Errorf("it says\n%s", got)
	}
}
