package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// outcome is what a test compares of a call.
type outcome struct {
	Class      metadata.Class
	Why        string // part of the error
	RetryAfter time.Duration
	Hint       bool

	Text, Structured, Limit string
	Model                   string
	Usage                   metadata.Usage
	ToolCalls               int
	Denials                 []string
}

// play lets an agent's program print a recording and end with an exit code, or
// hang on, and gives what came of it.
func (b *bench) play(agent, name string, code string) outcome {
	b.t.Helper()
	if code == "hang" {
		b.install(agent, "play then hang", recording(b.t, name))
	} else {
		b.install(agent, "play", recording(b.t, name), code)
	}
	r, fault := b.run(agent)
	o := outcome{Text: r.Text, Structured: string(r.Structured), Limit: r.Limit, Model: r.Model, Usage: r.Usage, ToolCalls: r.ToolCalls, Denials: r.Denials}
	if r.Session == "" {
		b.t.Error("the result names no session")
	}
	if fault != nil {
		o.Class, o.Why, o.RetryAfter, o.Hint = fault.Class, fault.Error(), fault.RetryAfter, fault.Hint != ""
	}
	return o
}

// check compares, where the error has to contain what is wanted of it.
func (o outcome) check(t *testing.T, want outcome) {
	t.Helper()
	if !strings.Contains(o.Why, want.Why) {
		t.Errorf("error %q, want it to say %q", o.Why, want.Why)
	}
	o.Why = want.Why
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

// used gives usage as recordings have it: n requests, each the same.
func used(n int, perCall metadata.Usage, usd float64, turns int) metadata.Usage {
	return metadata.Usage{
		InputTokens: int64(n) * perCall.InputTokens, CachedTokens: int64(n) * perCall.CachedTokens, OutputTokens: int64(n) * perCall.OutputTokens,
		USD: usd, Turns: turns,
	}
}

func TestClaudeRecordings(t *testing.T) {
	call := metadata.Usage{InputTokens: 1200, CachedTokens: 500, OutputTokens: 50}
	const model = "claude-sonnet-5"
	for _, tt := range []struct {
		name, exit string
		want       outcome
	}{
		{"claude-write", "0", outcome{Text: "Done.", Model: model, Usage: used(2, call, 0.0093, 2), ToolCalls: 1}},
		{"claude-structured", "0", outcome{
			Text: `{"verdict":"fail","findings":[{"id":"scripted id","severity":"blocker","title":"scripted title"}]}`, Model: model,
			Usage: used(1, call, 0.00465, 2),
		}},
		{"claude-schema-but-prose", "0", outcome{Text: "Done.", Model: model, Usage: used(2, call, 0.0093, 2)}},
		{"claude-permission-denied", "0", outcome{Text: "Done.", Model: model, Usage: used(2, call, 0.0093, 2), ToolCalls: 1, Denials: []string{"Write"}}},
		{"claude-max-turns", "1", outcome{Limit: "turns", Model: model, Usage: used(1, call, 0.00465, 2), ToolCalls: 1}},
		{"claude-budget", "1", outcome{Limit: "budget", Model: model, Usage: used(1, call, 0.00465, 1), ToolCalls: 1}},
		{"claude-auth-failure", "hang", outcome{Class: metadata.Auth, Why: "HTTP 401, authentication_failed", Hint: true, Model: model}},
		{"claude-not-logged-in", "1", outcome{Class: metadata.Auth, Why: "Not logged in", Hint: true, Model: "claude-sonnet-5", Text: "Not logged in · Please run /login", Usage: metadata.Usage{Turns: 1}}},
		{"claude-forbidden", "1", outcome{Class: metadata.Auth, Why: "403 no", Hint: true, Model: model, Text: "Failed to authenticate. API Error: 403 no", Usage: metadata.Usage{Turns: 1}}},
		{"claude-no-credit", "1", outcome{Class: metadata.Auth, Why: "Credit balance is too low", Hint: true, Model: model, Text: "Credit balance is too low", Usage: metadata.Usage{Turns: 1}}},
		{"claude-rate-limited", "1", outcome{Class: metadata.RateLimited, Why: "(429) · slow down", RetryAfter: 2 * time.Second, Model: model, Text: "API Error: Request rejected (429) · slow down", Usage: metadata.Usage{Turns: 1}}},
		{"claude-resume-unknown", "1", outcome{Class: metadata.Session, Why: "No conversation found"}},
		{"claude-unknown-model", "1", outcome{Class: metadata.Refused, Why: "may not exist", Hint: true, Model: model}},
		{"claude-talks-of-401", "0", outcome{Text: "The log says authentication_failed, 401 Unauthorized, and rate_limit. I explained it.", Model: model, Usage: used(1, call, 0.00465, 1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := newBench(t).play("claude", tt.name, tt.exit)
			if tt.name == "claude-not-logged-in" {
				got.Model = tt.want.Model // the program's default, which changes
			}
			if tt.name == "claude-unknown-model" || tt.name == "claude-resume-unknown" {
				got.Text, got.Usage = "", metadata.Usage{}
			}
			got.check(t, tt.want)
		})
	}
	for name, class := range map[string]metadata.Class{"claude-overloaded": metadata.RateLimited, "claude-server-error": metadata.Network} {
		if got := newBench(t).play("claude", name, "1"); got.Class != class {
			t.Errorf("%s: class %s, want %s", name, got.Class, class)
		}
	}
}

// A program that only waits for the service and is then ended was rate
// limited, not idle. A wait that is long is not sat out where nothing has been
// done yet.
func TestClaudeWaitsForTheService(t *testing.T) {
	const start, work, wait = `{"type":"system","subtype":"init","session_id":"s"}`, `{"type":"assistant","message":{"id":"1","content":[]}}`,
		`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":%d000,"error_status":429,"error":"rate_limit"}`
	for _, tt := range []struct {
		stream  []string
		seconds int
		last    process.Reaction
		cause   process.Cause
	}{
		{[]string{start}, 7, process.GoOn, process.WentIdle},
		{[]string{start}, 7, process.GoOn, process.TimedOut},
		{[]string{start}, 30, process.GiveUp, process.Stopped},
		{[]string{start, work}, 30, process.GoOn, process.TimedOut},
	} {
		b := newBench(t)
		c := cli{name: "claude", opts: b.opts}
		s := &claudeStream{said: said{cli: c, task: b.task}}
		for _, line := range tt.stream {
			s.line([]byte(line))
		}
		if got := s.line(fmt.Appendf(nil, wait, tt.seconds)); got != tt.last {
			t.Errorf("%q and a wait of %d s: reaction %v, want %v", tt.stream, tt.seconds, got, tt.last)
		}
		_, err := c.conclude(t.Context(), b.task, process.Ending{Cause: tt.cause}, &s.said)
		var fault *engine.AgentError
		if !errors.As(err, &fault) || fault.Class != metadata.RateLimited || fault.RetryAfter != time.Duration(tt.seconds)*time.Second {
			t.Errorf("%q and a wait of %d s ended with %+v", tt.stream, tt.seconds, err)
		}
	}
}

// What was used is known also when the call does not come to its end.
func TestClaudeUsageOfACallThatIsCut(t *testing.T) {
	t.Parallel() // most of it is waiting
	b := newBench(t)
	b.write(filepath.Join(b.dir, "stream"), `{"type":"system","subtype":"init","session_id":"s","model":"claude-opus-4-8[1m]"}
{"type":"assistant","message":{"id":"1","model":"claude-opus-4-8","usage":{"input_tokens":10,"output_tokens":1},"content":[{"type":"text","text":"Hm."}]}}
{"type":"assistant","message":{"id":"1","model":"claude-opus-4-8","usage":{"input_tokens":1000,"output_tokens":100,"cache_read_input_tokens":2000,"cache_creation_input_tokens":500},"content":[{"type":"tool_use","name":"Bash","input":{"command":"go   test\n./..."}}]}}
{"type":"assistant","message":{"id":"2","model":"claude-opus-4-8","usage":{"input_tokens":1000,"output_tokens":100},"content":[{"type":"tool_use","name":"Write","input":{"file_path":"`+b.dir+`/docs/x.md"}}]}}
`)
	b.install("claude", "play then hang", filepath.Join(b.dir, "stream"))
	ctx, cancel := context.WithCancel(t.Context())
	var seen []engine.Activity
	b.task.Notify = func(a engine.Activity) {
		if seen = append(seen, a); len(seen) == 4 {
			cancel()
		}
	}
	r, err := b.agent("claude").Run(ctx, b.task)
	want := metadata.Usage{InputTokens: 2500, CachedTokens: 2000, OutputTokens: 200, Turns: 2, USD: 0.0185, Estimated: true}
	if diff := cmp.Diff(want, r.Usage); diff != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, usage (-want +got):\n%s", err, diff)
	}
	var texts []string
	for _, a := range seen {
		texts = append(texts, a.Session+": "+a.Text)
	}
	if diff := cmp.Diff([]string{"s: ", "s: Hm.", "s: Bash go test ./...", "s: Write docs/x.md"}, texts); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
}

func TestCodexRecordings(t *testing.T) {
	call := metadata.Usage{InputTokens: 600, CachedTokens: 400, OutputTokens: 50}
	estimated := func(n int) metadata.Usage {
		u := used(n, call, float64(n)*(600*1.25+400*0.125+50*10)/1e6, 1)
		u.Estimated = true
		return u
	}
	for _, tt := range []struct {
		name, exit string
		want       outcome
	}{
		{"codex-write", "0", outcome{Text: "Done.", Usage: estimated(2), ToolCalls: 1}},
		{"codex-structured", "0", outcome{Text: `{"verdict": "pass", "findings": []}`, Usage: estimated(1)}},
		{"codex-auth-failure", "hang", outcome{Class: metadata.Auth, Why: "status 401 Unauthorized", Hint: true}},
		{"codex-rate-limited", "1", outcome{Class: metadata.RateLimited, Why: "last status: 429"}},
		{"codex-server-error", "1", outcome{Class: metadata.Network, Why: "status 503"}},
		{"codex-high-demand", "1", outcome{Class: metadata.Network, Why: "high demand"}},
		{"codex-bad-request", "1", outcome{Class: metadata.Refused, Why: "invalid_request_error: Invalid schema"}},
		{"codex-no-network", "hang", outcome{Class: metadata.Network, Why: "waiting for network"}},
		{"codex-talks-of-401", "0", outcome{Text: "The server said: unexpected status 401 Unauthorized. I explained it.", Usage: estimated(1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.task.Model = "gpt-5-codex"
			b.task.Schema = json.RawMessage(`{"type":"object","properties":{"verdict":{"type":"string"},"findings":{"type":"array","items":{"type":"object"}}},"required":["verdict","findings"]}`)
			tt.want.Model = "gpt-5-codex"
			b.play("codex", tt.name, tt.exit).check(t, tt.want)
		})
	}
}

// Codex counts a session as a whole. Going on with one costs only what is new,
// and its own record tells what a call used that was cut.
func TestCodexUsageOfASession(t *testing.T) {
	const session = "01a1f7c3-b1fa-7e60-99f8-28a35621e4cd"
	count := func(n string) string {
		return `{"type":"turn_context","payload":{"model":"gpt-5.2-codex"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":` + n + `000,"cached_input_tokens":` + n + `00,"output_tokens":` + n + `0}}}}
`
	}
	for _, tt := range []struct {
		name   string
		resume bool
		before string // in the record when the call starts
		stream string
		fake   []string
		want   metadata.Usage
		model  string
		warns  bool
	}{
		{
			"resumed", true, count("1") + count("2"), `{"type":"turn.completed","usage":{"input_tokens":5000,"cached_input_tokens":500,"output_tokens":50}}`,
			[]string{"play", "0"},
			metadata.Usage{InputTokens: 2700, CachedTokens: 300, OutputTokens: 30, Turns: 1, Estimated: true, USD: (2700*1.75 + 300*0.175 + 30*14) / 1e6},
			"gpt-5.2-codex", false,
		},
		{
			"resumed without a record", true, "", `{"type":"turn.completed","usage":{"input_tokens":5000,"cached_input_tokens":500,"output_tokens":50}}`,
			[]string{"play", "0"},
			metadata.Usage{InputTokens: 4500, CachedTokens: 500, OutputTokens: 50, Turns: 1, Estimated: true, USD: (4500*10 + 500*1 + 50*50) / 1e6},
			"", true,
		},
		{
			"cut", false, count("3"), ``,
			[]string{"play then hang"},
			metadata.Usage{InputTokens: 2700, CachedTokens: 300, OutputTokens: 30, Estimated: true, USD: (2700*1.75 + 300*0.175 + 30*14) / 1e6},
			"gpt-5.2-codex", false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			home := filepath.Join(t.TempDir(), "codex")
			b.opts.Environ = append(b.opts.Environ, "CODEX_HOME="+home)
			if tt.before != "" {
				b.write(filepath.Join(home, "sessions", "2026", "11", "20", "rollout-2026-11-20T07-02-39-"+session+".jsonl"), tt.before)
			}
			b.write(filepath.Join(b.dir, "stream"), `{"type":"thread.started","thread_id":"`+session+"\"}\n"+tt.stream+"\n")
			b.install("codex", tt.fake[0], append([]string{filepath.Join(b.dir, "stream")}, tt.fake[1:]...)...)
			b.task.Session, b.task.Resume = session, tt.resume
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			if tt.name == "cut" {
				b.opts.Transcript = func(engine.Task, []byte) { cut() } // it has begun
			}
			r, _ := b.agent("codex").Run(ctx, b.task)
			if diff := cmp.Diff(tt.want, r.Usage); diff != "" || r.Model != tt.model || (len(r.Warnings) > 0) != tt.warns {
				t.Errorf("model %q, warnings %q, usage (-want +got):\n%s", r.Model, r.Warnings, diff)
			}
		})
	}
}

// What stands in the place of the program's record of a session is not waited for.
func TestCodexRecordThatIsNone(t *testing.T) {
	const session = "01a1f7c3-b1fa-7e60-99f8-28a35621e4cd"
	home := t.TempDir()
	day := filepath.Join(home, "sessions", "2026", "11", "20")
	record := filepath.Join(day, "rollout-2026-11-20T07-02-39-"+session+".jsonl")
	testenv.Must(t, errors.Join(os.MkdirAll(day, 0o700), syscall.Mkfifo(record, 0o600), syscall.Mkfifo(filepath.Join(home, "sessions", "2027"), 0o600)))
	if r := readRollout(home, session); r.found {
		t.Errorf("a pipe is read as %+v", r)
	}
	testenv.Must(t, errors.Join(os.Remove(record), os.Symlink("/dev/zero", record)))
	if r := readRollout(home, session); r.found {
		t.Errorf("a device is read as %+v", r)
	}
}

func TestGeminiRecordings(t *testing.T) {
	const model = "gemini-2.5-pro"
	two := metadata.Usage{InputTokens: 1200, CachedTokens: 800, OutputTokens: 100, Estimated: true, USD: (1200*1.25 + 800*0.125 + 100*10) / 1e6}
	for _, tt := range []struct {
		name, exit string
		want       outcome
	}{
		{"gemini-write", "0", outcome{Text: "Done.", Model: model, Usage: two, ToolCalls: 1}},
		{"gemini-denied", "0", outcome{Text: "Done.", Model: model, Usage: two, ToolCalls: 1, Denials: []string{"run_shell_command"}}},
		{"gemini-auth-failure", "145", outcome{Class: metadata.Auth, Why: "UNAUTHENTICATED: bad key", Hint: true, Model: model}},
		{"gemini-bad-key", "144", outcome{Class: metadata.Auth, Why: "INVALID_ARGUMENT: API key not valid", Hint: true, Model: model}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			newBench(t).play("gemini", tt.name, tt.exit).check(t, tt.want)
		})
	}
}

// What a program prints before it ends without a result says what class of error that is.
func TestHowProgramsFail(t *testing.T) {
	const thread, init = `{"type":"thread.started","thread_id":"s"}`, `{"type":"system","subtype":"init","session_id":"s"}`
	failed := func(message string) string {
		text, _ := json.Marshal(message)
		return thread + "\n" + `{"type":"turn.failed","error":{"message":` + string(text) + `}}`
	}
	result := func(status int, text string) string {
		return fmt.Sprintf(`%s`+"\n"+`{"type":"result","subtype":"success","is_error":true,"api_error_status":%d,"result":%q}`, init, status, text)
	}
	const same = `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"x"}}]}}` + "\n"
	other, timed := strings.ReplaceAll(same, "Read", "Grep"), ""
	for i := range mostSame {
		timed += same + fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","content":"ok 0.%ds"}]}}`, i) + "\n"
	}
	for _, tt := range []struct {
		agent, stream, exit string
		resume              bool
		class               metadata.Class
		why                 string
		wait                bool
	}{
		{"gemini", "", "41", false, metadata.Auth, "exit status 41", false},
		{"gemini", "", "42", true, metadata.Session, "exit status 42", false},
		{"codex", failed("Error running remote compact task: Fatal error"), "1", true, metadata.Session, "compact", false},
		{"codex", failed("unexpected status 400 Bad Request: {\"error\":{\"code\":\"context_length_exceeded\"}}"), "1", true, metadata.Session, "context_length", false},
		{"codex", failed("unexpected status 404 Not Found: The model `gpt-9` does not exist, url: http://x"), "1", false, metadata.Refused, "gpt-9", false},
		{"codex", failed("You've hit your usage limit. Upgrade to Pro or try again in 3 hours 51 minutes."), "1", false, metadata.RateLimited, "usage limit", true},
		{"codex", failed("stream disconnected before completion: Connection refused"), "1", false, metadata.Network, "disconnected", false},
		{"claude", result(0, "API Error: Claude's response exceeded the 32000 output token maximum."), "1", false, metadata.TooLong, "32000", false},
		{"claude", result(429, "You've hit your session limit · resets 10:50pm (Asia/Tokyo)"), "1", false, metadata.RateLimited, "session limit", true},
		{"claude", result(400, "Prompt is too long"), "1", true, metadata.Session, "too long", false},
		{"claude", result(429, "API Error: Extra usage is required for 1M context"), "1", false, metadata.Refused, "1M context", false},
		{"codex", failed("Please try again in 35.8s."), "1", false, metadata.RateLimited, "35.8s", true},
		{"claude", init + "\n" + strings.Repeat(same+other, mostSame), "hang", false, metadata.Session, "same call 25 times in a row, and was ended: Grep", false},
		{"gemini", `{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}` + "\n" + `{"type":"result","status":"success"}`, "0", false, metadata.Session, "Loop detected", false},
		{"codex", "", "required MCP servers failed to initialize: docs: connection closed: initialize response", false, metadata.Refused, "MCP servers", false},
		{"claude", "", "Error: EMFILE: too many open files\n    at openSync (node:fs:601:3) {\n  errno: -24\n}\n\nNode.js v22.1.0", false, metadata.Crash, "result: Error: EMFILE: too many open files", false},
		{"claude", "", "FATAL ERROR: Reached heap limit\n----- Native stack trace -----\n\n 1: 0xb7a8c1 node::OOMErrorHandler", false, metadata.Crash, "result: FATAL ERROR: Reached heap limit", false},
		{"claude", init + "\n" + strings.Repeat(same, mostSame), "hang", false, metadata.Session, "same call 25 times in a row, and was ended: Read", false},
		{"claude", init + "\n" + timed, "hang", false, metadata.Session, "same call 25 times in a row, and was ended: Read", false},
		{"claude", init + "\n" + strings.Repeat("x", process.MaxLine+1), "0", false, metadata.Refused, "only the beginning", false},
	} {
		b := newBench(t)
		b.write(filepath.Join(b.dir, "stream"), tt.stream+"\n")
		if b.task.Resume = tt.resume; tt.exit == "hang" {
			b.install(tt.agent, "play then hang", filepath.Join(b.dir, "stream"))
		} else {
			b.install(tt.agent, "play", filepath.Join(b.dir, "stream"), tt.exit)
		}
		_, fault := b.run(tt.agent)
		if fault == nil || fault.Class != tt.class || !strings.Contains(fault.Error(), tt.why) || (fault.RetryAfter > 0) != tt.wait || tt.class == metadata.Auth && fault.Hint == "" {
			t.Errorf("%s %.200s: %+v, want %s", tt.agent, tt.stream, fault, tt.class)
		}
	}
}

// A login that was renewed while the service refused the one before is tried, once more.
func TestLoginRenewedMeanwhile(t *testing.T) {
	for renewed, want := range map[bool]metadata.Class{false: metadata.Auth, true: metadata.Network} {
		b := newBench(t)
		file := filepath.Join(process.Lookup(b.opts.Environ, "HOME"), ".codex", "auth.json")
		b.write(file, `{"tokens":{"access_token":"old"}}`)
		b.install("codex", "play then hang", recording(t, "codex-auth-failure"))
		b.opts.Transcript = func(engine.Task, []byte) {
			if renewed {
				b.write(file, `{"tokens":{"access_token":"new"}}`)
			}
		}
		if _, fault := b.run("codex"); fault == nil || fault.Class != want {
			t.Errorf("renewed %v: %+v, want %s", renewed, fault, want)
		}
	}
}

// What nobody has told and no gate has seen is not free.
func TestUntoldUsageIsUnknown(t *testing.T) {
	for result, want := range map[string]bool{
		`{"type":"result","subtype":"success","result":"x","usage":null,"total_cost_usd":-5}`:              true,
		`{"type":"result","subtype":"success","result":"x","usage":{"input_tokens":1},"total_cost_usd":0}`: false,
	} {
		b := newBench(t)
		b.write(filepath.Join(b.dir, "stream"), result+"\n")
		b.install("claude", "play", filepath.Join(b.dir, "stream"), "0")
		r, fault := b.run("claude")
		if fault != nil || r.Usage.Unknown != want {
			t.Errorf("%s: %+v, %v", result, r.Usage, fault)
		}
	}
}

// A session that is gone is told as such, so that the caller can start afresh.
func TestSessionGone(t *testing.T) {
	for agent, how := range map[string][]string{
		"claude": {"claude-resume-unknown", "1"},
		"codex":  {"", "1"},
	} {
		b := newBench(t)
		file := filepath.Join(b.dir, "nothing")
		b.write(file, "")
		if how[0] != "" {
			file = recording(t, how[0])
		}
		b.install(agent, "play", file, how[1])
		b.task.Resume = true
		_, fault := b.run(agent)
		if fault == nil || fault.Class != metadata.Session || !strings.Contains(fault.Error(), b.task.Session) {
			t.Errorf("%s: %v, want it to say that the session is gone", agent, fault)
		}
	}
}

// The prices of a pipeline come first; a model nobody knows is not free.
func TestPrices(t *testing.T) {
	million := metadata.Usage{InputTokens: 1e6, CachedTokens: 1e6, OutputTokens: 1e6}
	own := map[string]pipelines.Price{"mine": {Input: 1, Cached: 2, Output: 3}, "gpt-5": {Input: 100}}
	for _, tt := range []struct {
		agent, model string
		usd          float64
		known        bool
	}{
		{"codex", "gpt-5-codex", 11.375, true},
		{"codex", "gpt-5-codex-2025-11-01", 11.375, true},
		{"codex", "gpt-5", 100, true},
		{"codex", "mine", 6, true},
		{"codex", "gpt-99", 10 + 1 + 50, false},
		{"codex", "gpt-99-pro", 30 + 30 + 180, false},
		{"codex", "", 10 + 1 + 50, false},
		{"claude", "claude-opus-4-8[1m]", 30.5, true},
		{"claude", "claude-sonnet-5", 12.2, true},
		{"claude", "claude-haiku-4-5-20251001", 6.1, true},
		{"claude", "haiku", 6.1, true},
		{"claude", "opus[1m]", 15 + 1.5 + 75, true},
		{"claude", "claude-fable-5-2", 48.2, true},
		{"codex", "mini", 1.1 + 0.275 + 4.5, true},
		{"gemini", "gemini-3.8-flash", 9.15, true},
		{"claude", "claude-unheard-of", 15 + 1.5 + 75, false},
		{"command", "", 15 + 1.5 + 75, false},
	} {
		usd, known := newCLI(tt.agent, pipelines.Agent{Command: []string{"x"}}, Options{Prices: own}).price(tt.model, million, 0)
		if usd != tt.usd || known != tt.known {
			t.Errorf("%s %s: %v (known %v), want %v (%v)", tt.agent, tt.model, usd, known, tt.usd, tt.known)
		}
	}
}

// Some models cost more for a request that is long, and so does one that nobody knows.
func TestPricesOfLongPrompts(t *testing.T) {
	million := metadata.Usage{InputTokens: 1e6, CachedTokens: 1e6, OutputTokens: 1e6}
	own := map[string]pipelines.Price{"gpt-5.5": {Input: 1}}
	for _, tt := range []struct {
		agent, model string
		prompt       int64
		usd          float64
	}{
		{"claude", "claude-haiku-5-5", 100_000, 0.61},
		{"claude", "claude-haiku-5-5", 100_001, 3.05},
		{"codex", "gpt-5.4", 272_000, 17.75},
		{"codex", "gpt-5.4-2026-03-05", 272_001, 28},
		{"codex", "gpt-5.5", 1e6, 1}, // as the pipeline says
		{"codex", "gpt-99", 1e6, 97},
		{"gemini", "gemini-2.5-pro", 200_001, 17.75},
		{"claude", "claude-opus-5-5", 900_000, 24.2},
	} {
		if usd, _ := newCLI(tt.agent, pipelines.Agent{}, Options{Prices: own}).price(tt.model, million, tt.prompt); math.Abs(usd-tt.usd) > 1e-9 {
			t.Errorf("%s, a prompt of %d: %v, want %v", tt.model, tt.prompt, usd, tt.usd)
		}
	}
}

// Each kind of work an agent does is counted and told.
func TestCodexItems(t *testing.T) {
	b := newBench(t)
	b.write(filepath.Join(b.dir, "stream"), `{"type":"thread.started","thread_id":"s"}
not an event
{"type":"item.started","item":{"type":"command_execution","command":"go test ./...","status":"in_progress"}}
{"type":"item.completed","item":{"type":"command_execution","command":"go test ./...","status":"completed"}}
{"type":"item.started","item":{"type":"file_change","changes":[{"path":"`+b.dir+`/a.go","kind":"add"},{"path":"b.go","kind":"update"}]}}
{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a.go","kind":"add"}],"status":"completed"}}
{"type":"item.started","item":{"type":"mcp_tool_call","server":"docs","tool":"find"}}
{"type":"item.completed","item":{"type":"mcp_tool_call","server":"docs","tool":"find","status":"completed"}}
{"type":"item.completed","item":{"type":"command_execution","command":"sudo x","status":"declined"}}
{"type":"item.completed","item":{"type":"reasoning","text":"Hm."}}
{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
`)
	b.install("codex", "play", filepath.Join(b.dir, "stream"), "0")
	var texts []string
	b.task.Notify = func(a engine.Activity) { texts = append(texts, a.Session+": "+a.Text) }
	r, fault := b.run("codex")
	if fault != nil || r.ToolCalls != 4 || r.Text != "Done." || !cmp.Equal(r.Denials, []string{"command_execution"}) {
		t.Errorf("result %+v, error %v", r, fault)
	}
	if diff := cmp.Diff([]string{"s: ", "s: go test ./...", "s: edit a.go b.go", "s: docs find", "s: Done."}, texts); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
}

func TestGeminiActivities(t *testing.T) {
	b := newBench(t)
	var texts []string
	b.task.Notify = func(a engine.Activity) { texts = append(texts, a.Text) }
	b.task.Dir = "/home/runner/demo"
	s := geminiStream{said: said{cli: newCLI("gemini", pipelines.Agent{}, b.opts), task: b.task}}
	for line := range strings.Lines(b.read(recording(t, "gemini-write"))) {
		s.line([]byte(line))
	}
	if diff := cmp.Diff([]string{"", "write_file art/g.md", "Done."}, texts); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
}
