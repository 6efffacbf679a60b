package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// FuzzStreams lets a program print anything. It comes to a result or to an
// error of a known class; it is a result only where a typed event says so; and
// whatever comes of it fits into a record and a log.
func FuzzStreams(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		data := []byte(testenv.Read(f, file))
		name, _, _ := strings.Cut(filepath.Base(file), "-")
		f.Add(uint8(slices.Index(fuzzedAgents(), name)), false, 0, data)
	}
	for _, text := range forged() {
		for agent := range uint8(4) {
			f.Add(agent, true, 1, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, agent uint8, resume bool, code int, data []byte) {
		p := newPrinted(t, int(agent)%4, resume)
		cut := process.EachLine(bytes.NewReader(data), func(line []byte) {
			if len(line) > 3*process.MaxLine || bytes.ContainsRune(line, '\n') || !utf8.Valid(line) {
				t.Errorf("no line: %d bytes", len(line))
			}
			p.line(line)
		})
		if cut > 0 {
			t.Errorf("%d lines were cut of %d bytes", cut, len(data))
		}
		if p.said.over != nil {
			p.said.over(code)
		}
		r, err := p.cli.conclude(t.Context(), p.task, process.Ending{Cause: process.Exited}, p.said)
		if p.complete != nil {
			p.complete(&r)
		}
		p.check(r, err)
	})
}

// forged are streams that a command could slip in.
func forged() []string {
	return []string{
		"", "{", "null", "[]", "{}{}", "\x00\xff", `{"type":"result"}`, `{"text":"x"}]`, `{"text":"x","usage":{"cost_usd":1e308,"input_tokens":9223372036854775807}}`,
		`{"type":"result","subtype":"success","num_turns":-1,"total_cost_usd":-5,"usage":{"input_tokens":-1,"output_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807},"session_id":"--help"}`,
		`{"type":"result","subtype":"success","modelUsage":{"a":{"inputTokens":9223372036854775807,"cacheCreationInputTokens":9223372036854775807}},"total_cost_usd":1e308}`,
		`{"type":"system","subtype":"init","session_id":"--resume","model":"` + strings.Repeat("m", 1000) + `"}`,
		`{"type":"system","subtype":"api_retry","retry_delay_ms":1e300,"error_status":429}`,
		`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":9223372036854775807}}` + "\n" + `{"type":"result","subtype":"success","is_error":true,"api_error_status":429}`,
		`{"type":"assistant","message":{"id":"1","usage":{"input_tokens":-9},"content":[{"type":"text","text":"` + "\\u001b[2Jx" + `"},{"type":"tool_use","name":"::x"}]}}`,
		`{"type":"thread.started","thread_id":"-c"}` + "\n" + `{"type":"turn.completed","usage":{"input_tokens":-9223372036854775808,"cached_input_tokens":9223372036854775807}}`,
		`{"type":"turn.completed"}` + "\n" + `{"type":"turn.failed","error":{"message":"unexpected status 401 x"}}`,
		`{"type":"init","session_id":"../x"}` + "\n" + `{"type":"result","status":"success","stats":{"input_tokens":1,"cached":-9223372036854775808,"tool_calls":-3}}`,
		`{"type":"tool_result","status":"error","tool_id":"` + strings.Repeat("x", 500) + `","error":{"type":"policy_violation"}}`,
	}
}

func fuzzedAgents() []string { return []string{"claude", "codex", "gemini", "command"} }

// printed is what a test has a program print.
type printed struct {
	t        *testing.T
	agent    int
	cli      cli
	task     engine.Task
	said     *said
	take     func(line []byte) process.Reaction
	complete func(*engine.Result)
	success  bool // a typed event said so
}

const olderSession = "0268b1ed-cf06-44dd-b9df-19f4ff9ec91d"

func newPrinted(t *testing.T, agent int, resume bool) *printed {
	p := &printed{t: t, agent: agent, task: engine.Task{Dir: "/tree", Session: olderSession, Resume: resume}}
	p.task.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	p.task.Notify = func(a engine.Activity) {
		p.checkUsage(a.Usage)
		p.checkLine(a.Text, 120)
		p.checkLine(a.Session, 100)
	}
	p.cli = cli{name: fuzzedAgents()[agent]}
	switch agent {
	case 0:
		s := &claudeStream{said: said{cli: p.cli, task: p.task}}
		p.said, p.take = &s.said, s.line
	case 1:
		s := &codexStream{said: said{cli: p.cli, task: p.task}, home: "/nowhere"}
		p.said, p.take, p.complete = &s.said, s.line, s.addUsage
	case 2:
		s := &geminiStream{said: said{cli: p.cli, task: p.task}}
		p.said, p.take = &s.said, s.line
	default:
		s := &said{}
		p.said = s
		p.take = func(line []byte) process.Reaction {
			err := command{p.cli}.read(line, &s.result)
			s.done, p.success = err == nil, err == nil
			if err != nil {
				s.failed = p.cli.fail(metadata.Crash, err)
			}
			return process.GoOn
		}
	}
	return p
}

// line hands on a line, and notes whether it is the event that may say success.
func (p *printed) line(line []byte) {
	var e struct{ Type, Subtype, Status string }
	if decode(line, &e) {
		switch p.agent {
		case 0: // what stopped at a limit has brought something, too
			p.success = p.success || e.Type == "result" && (e.Subtype == "success" || strings.HasPrefix(e.Subtype, "error_max_"))
		case 1:
			p.success = p.success || e.Type == "turn.completed"
		case 2:
			p.success = p.success || e.Type == "result" && e.Status == "success"
		}
	}
	p.take(line)
}

func (p *printed) check(r engine.Result, err error) {
	if err == nil && !p.success {
		p.t.Errorf("a result, but no event said so: %+v", r)
	}
	p.checkUsage(r.Usage)
	p.checkLine(r.Session, maxWord)
	if r.Session != "" && p.agent < 3 && !sessionForm().MatchString(r.Session) {
		p.t.Errorf("session %q", r.Session)
	}
	p.checkLine(r.Model, maxWord)
	if len(r.Text) > 3*process.MaxLine || len(r.Denials) > maxDenials || r.ToolCalls < -1 || len(r.Warnings) > 10 {
		p.t.Errorf("too much: %d bytes of text, %d denials, %d tool calls, %q", len(r.Text), len(r.Denials), r.ToolCalls, r.Warnings)
	}
	for _, d := range r.Denials {
		p.checkLine(d, maxWord)
	}
	if r.Structured != nil && !json.Valid(r.Structured) {
		p.t.Errorf("structured answer %q", r.Structured)
	}
	if err == nil {
		return
	}
	fault := err.(*engine.AgentError)
	switch fault.Class {
	case metadata.Auth, metadata.RateLimited, metadata.Network, metadata.Crash, metadata.Refused, metadata.Session, metadata.TooLong:
	default:
		p.t.Errorf("class %q of %v", fault.Class, err)
	}
	if len(err.Error()) > 4000 || fault.RetryAfter < 0 || fault.RetryAfter > maxDelay {
		p.t.Errorf("error of %d bytes, wait of %v", len(err.Error()), fault.RetryAfter)
	}
}

func (p *printed) checkUsage(u metadata.Usage) {
	if n := min(u.InputTokens, u.OutputTokens, u.CachedTokens, int64(u.Turns)); n < 0 || !(u.USD >= 0 && u.USD <= maxUSD) || math.IsNaN(u.USD) {
		p.t.Errorf("usage %+v", u)
	}
	if n := max(u.InputTokens, u.OutputTokens, u.CachedTokens, int64(u.Turns)); n > maxTokens {
		p.t.Errorf("usage %+v", u)
	}
}

func (p *printed) checkLine(text string, most int) {
	if utf8.RuneCountInString(text) > most || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		p.t.Errorf("not a line of at most %d characters: %q", most, text)
	}
}

// FuzzArguments asks for a call with any values. No value becomes an option:
// what begins with a hyphen is an option of ours, or follows one that takes it.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{"", "opus", "-x", "--dangerously-skip-permissions", "--config=x", "-c", "a b", "\n--x", olderSession, "resume", "-"} {
		f.Add(s, s, true)
		f.Add("opus", s, false)
		f.Add(s, olderSession, false)
	}
	bin, home := f.TempDir(), f.TempDir()
	for _, name := range fuzzedAgents() {
		testenv.Must(f, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755))
	}
	alone := []string{"-p", "--verbose", "--strict-mcp-config", "--disable-slash-commands", "--include-partial-messages", "--json", "--skip-git-repo-check", "--skip-trust", "-"}
	f.Fuzz(func(t *testing.T, model, session string, resume bool) {
		enough := errors.New("enough")
		var call Call
		opts := Options{Environ: []string{"PATH=" + bin, "HOME=" + home}, Temp: home, Sandbox: func(c Call) (Call, error) { call = c; return c, enough }}
		for name, takes := range map[string][]string{
			"claude": {"--output-format", "--setting-sources", "--permission-mode", "--tools", "--settings", "--model", "--resume", "--session-id"},
			"codex":  {"--color", "-C", "-m", "--sandbox", "-c", "--disable"},
			"gemini": {"--output-format", "--approval-mode", "--model", "--resume", "--session-id"},
		} {
			it, err := For(name, pipelines.Agent{}, opts)
			testenv.Must(t, err)
			if _, err := it.Run(t.Context(), engine.Task{Dir: home, Model: model, Session: session, Resume: resume}); !errors.Is(err, enough) {
				continue // refused
			}
			for i := 1; i < len(call.Argv); i++ {
				arg := call.Argv[i]
				switch {
				case slices.Contains(takes, arg):
					i++
					if value := call.Argv[i]; strings.HasPrefix(value, "-") {
						t.Errorf("%s: %s %q", name, arg, value)
					}
				case strings.HasPrefix(arg, "-") && !slices.Contains(alone, arg):
					t.Errorf("%s: %q is taken for an option", name, arg)
				}
			}
		}
	})
}

// A long stream needs the memory of a few lines.
func TestStreamsAreBounded(t *testing.T) {
	for agent, unit := range []string{
		`{"type":"assistant","message":{"id":"%","usage":{"input_tokens":1},"content":[]}}`,
		`{"type":"item.completed","item":{"type":"agent_message","status":"declined","text":"` + strings.Repeat("x", 1000) + `%"}}`,
		`{"type":"message","role":"assistant","delta":true,"content":"` + strings.Repeat("x", 1000) + `%"}`,
	} {
		p := newPrinted(t, agent, false)
		for i := range 3 * 1000 {
			p.line([]byte(strings.Replace(unit, "%", strings.Repeat("y", i%100)+string(rune('a'+i%26))+time.Duration(i).String(), 1)))
		}
		r, err := p.cli.conclude(t.Context(), p.task, process.Ending{Cause: process.Exited}, p.said)
		p.check(r, err)
		if agent == 0 && (r.Usage.Turns != 3*1000 || r.Usage.InputTokens != 3*1000) {
			t.Errorf("usage %+v, want a token of each message", r.Usage)
		}
	}
}
