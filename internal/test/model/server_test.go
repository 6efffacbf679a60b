package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ask sends a body and returns the status, the events of a stream or the JSON
// object of any other answer, and the error that ended the reading.
func ask(t *testing.T, s *Server, path, body string) (int, []map[string]any, error) {
	t.Helper()
	resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if resp.Header.Get("Content-Type") == "application/json" {
		data = append([]byte("data: "), data...)
	}
	var events []map[string]any
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("event %q: %v", text, err)
		}
		events = append(events, e)
	}
	return resp.StatusCode, events, err
}

func start(t *testing.T, script Script) *Server {
	t.Helper()
	s := Start(script)
	t.Cleanup(s.Close)
	return s
}

func kinds(events []map[string]any) (all []string) {
	for _, e := range events {
		kind, _ := e["type"].(string)
		all = append(all, kind)
	}
	return all
}

const claudeAsks = `{"model":"sonnet","stream":true,"system":[{"type":"text","text":"Be brief."}],
	"tools":[{"name":"Write"},{"name":"mcp__reprise__submit","input_schema":{"type":"object"}}],
	"messages":[
		{"role":"user","content":[{"type":"text","text":"<system-reminder>today</system-reminder>"},{"type":"text","text":"Plan it."}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Write","input":{"file_path":"/p"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true}]}]}`

const codexAsks = `{"model":"gpt","stream":true,"instructions":"Be brief.","tools":[{"type":"function","name":"exec_command"}],
	"text":{"format":{"schema":{"type":"object","properties":{},"required":[],"additionalProperties":false}}},
	"input":[
		{"type":"additional_tools","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"apply_patch"}]}]},
		{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be good."}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Plan it."}]},
		{"type":"function_call","call_id":"a","name":"exec_command","arguments":"{\"cmd\":\"ls\"}"},
		{"type":"function_call_output","call_id":"a","output":"no"}]}`

func TestReadsRequests(t *testing.T) {
	s := start(t, Always(Say("Done.")))
	ask(t, s, "/v1/messages?beta=true", claudeAsks)
	ask(t, s, "/v1/responses", codexAsks)
	claude, codex := s.Requests()[0], s.Requests()[1]
	for _, test := range []struct {
		name      string
		got, want any
	}{
		{"claude prompt", claude.Prompt(), "Plan it."},
		{"claude prompts", claude.Prompts(), []string{"Plan it."}},
		{"claude system", claude.System, "Be brief."},
		{"claude tools", claude.Tools, []string{"Write", "mcp__reprise__submit"}},
		{"claude schema", string(claude.Schema), `{"type":"object"}`},
		{"claude results", claude.Results(), []Message{{Kind: Result, Role: "user", Text: "no", ID: "a", Bad: true}}},
		{"codex number", codex.N, 1},
		{"codex prompt", codex.Prompt(), "Plan it."},
		{"codex system", codex.System, "Be brief.\n\nBe good."},
		{"codex tools", codex.Tools, []string{"exec_command", "apply_patch"}},
		{"codex results", codex.Results(), []Message{{Kind: Result, Role: "user", Text: "no", ID: "a"}}},
	} {
		if d := cmp.Diff(test.want, test.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
}

func TestAnswersInStreams(t *testing.T) {
	for _, test := range []struct {
		name, path, body string
		reply            Reply
		want             string // somewhere in the events
		kinds            string
	}{
		{
			"claude says", "/v1/messages", claudeAsks, Say("Done."), `"text":"ne."`,
			"message_start content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop",
		},
		{
			"claude writes", "/v1/messages", claudeAsks, Write("/p", "<x>"), `{\"content\":\"<x>\",\"file_path\":\"/p\"}`,
			"message_start content_block_start content_block_delta content_block_stop message_delta message_stop",
		},
		{
			"claude speaks and edits", "/v1/messages", claudeAsks, Say("So:").And(Edit("/p", "a", "b")), `\"new_string\":\"b\"`,
			"message_start content_block_start content_block_delta content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop",
		},
		{
			"claude answers", "/v1/messages", claudeAsks, Answer(map[string]int{"n": 1}), `"name":"mcp__reprise__submit"`,
			"message_start content_block_start content_block_delta content_block_stop message_delta message_stop",
		},
		{
			"claude uses", "/v1/messages", claudeAsks, Tool("Read", map[string]string{"file_path": "/q"}), `"name":"Read"`,
			"message_start content_block_start content_block_delta content_block_stop message_delta message_stop",
		},
		{
			"claude costs", "/v1/messages", claudeAsks, Say("x").Costing(Usage{Input: 7, CacheRead: 3, Output: 9}), `"cache_read_input_tokens":3`,
			"message_start content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop",
		},
		{
			"codex says", "/v1/responses", codexAsks, Say("Done."), `"text":"Done."`,
			"response.created response.output_item.added response.output_text.delta response.output_item.done response.completed",
		},
		{
			"codex writes", "/v1/responses", codexAsks, Write("/d/p", "it's"), `mkdir -p '/d' && cat > '/d/p'`,
			"response.created response.output_item.done response.completed",
		},
		{
			"codex edits", "/v1/responses", codexAsks, Edit("/p", "a", "b"), `*** Update File: /p\n@@\n-a\n+b\n*** End Patch`,
			"response.created response.output_item.done response.completed",
		},
		{
			"codex answers", "/v1/responses", codexAsks, Answer(map[string]int{"n": 1}), `"text":"{\"n\":1}"`,
			"response.created response.output_item.added response.output_text.delta response.output_item.done response.completed",
		},
		{
			"codex costs", "/v1/responses", codexAsks, Say("x").Costing(Usage{Input: 7, CacheRead: 3, Output: 9}), `"input_tokens":10`,
			"response.created response.output_item.added response.output_text.delta response.output_item.done response.completed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, events, err := ask(t, start(t, Always(test.reply)), test.path, test.body)
			if status != http.StatusOK || err != nil {
				t.Fatalf("status %d, error %v", status, err)
			}
			if got := strings.Join(kinds(events), " "); got != test.kinds {
				t.Errorf("events\n %s\nwant\n %s", got, test.kinds)
			}
			if text := mustJSON(events); !strings.Contains(text, test.want) {
				t.Errorf("no %s in %s", test.want, text)
			}
		})
	}
}

func TestAnswersWithoutAStream(t *testing.T) {
	body := strings.Replace(claudeAsks, `"stream":true,`, "", 1)
	status, events, err := ask(t, start(t, Always(Say("Done."))), "/v1/messages", body)
	if err != nil || status != http.StatusOK || len(events) != 1 || events[0]["stop_reason"] != "end_turn" {
		t.Errorf("status %d, error %v, answer %v", status, err, events)
	}
}

func TestFails(t *testing.T) {
	for _, test := range []struct {
		path, body string
		reply      Reply
		status     int
		kind       string
	}{
		{"/v1/messages", claudeAsks, Fail(401), 401, "authentication_error"},
		{"/v1/messages", claudeAsks, RateLimit(30), 429, "rate_limit_error"},
		{"/v1/messages", claudeAsks, Fail(529), 529, "overloaded_error"},
		{"/v1/messages", claudeAsks, Fail(500), 500, "api_error"},
		{"/v1/messages", "{", Say("x"), 400, "invalid_request_error"},
		{"/v1/responses", codexAsks, Fail(401), 401, "invalid_request_error"},
		{"/v1/responses", codexAsks, RateLimit(30), 429, "rate_limit_error"},
		{"/v1/responses", codexAsks, Fail(500), 500, "server_error"},
		{"/v1/responses", "{", Say("x"), 400, "invalid_request_error"},
		{"/v1/other", "{}", Say("x"), 404, "not_found_error"},
	} {
		status, events, _ := ask(t, start(t, Always(test.reply)), test.path, test.body)
		kind := ""
		if len(events) == 1 {
			e, _ := events[0]["error"].(map[string]any)
			kind, _ = e["type"].(string)
		}
		if status != test.status || kind != test.kind {
			t.Errorf("%s with %+v: status %d, %q; want %d, %q", test.path, test.reply, status, kind, test.status, test.kind)
		}
	}
}

func TestRateLimitSaysWhenToComeBack(t *testing.T) {
	s := start(t, Always(RateLimit(30)))
	resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(claudeAsks))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("Retry-After"); got != "30" {
		t.Errorf("Retry-After %q, want 30", got)
	}
}

func TestCutDropsTheConnection(t *testing.T) {
	_, events, err := ask(t, start(t, Always(Cut("some words"))), "/v1/messages", claudeAsks)
	if err == nil || len(events) == 0 || kinds(events)[len(events)-1] == "message_stop" {
		t.Errorf("error %v after %v, want one in the middle of the answer", err, kinds(events))
	}
}

func TestHangLastsUntilSomebodyLeaves(t *testing.T) {
	for _, who := range []string{"client", "server"} {
		s, began := Start(Always(Hang())), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if who == "server" {
			ctx = t.Context()
			time.AfterFunc(50*time.Millisecond, s.Close)
		}
		req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/messages", strings.NewReader(claudeAsks))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if took := time.Since(began); took < 40*time.Millisecond || took > time.Minute {
			t.Errorf("%s left: the answer ended after %v with %v, want some 50 ms", who, took, err)
		}
		cancel()
		if who == "client" {
			s.Close()
		}
	}
}

func TestTurnsEnd(t *testing.T) {
	s := start(t, Turns(Say("one")))
	ask(t, s, "/v1/messages", claudeAsks)
	status, events, _ := ask(t, s, "/v1/messages", claudeAsks)
	if status != 400 || !strings.Contains(mustJSON(events), "the script ended after 1 turns") {
		t.Errorf("status %d, %v", status, events)
	}
}

func TestRefusesAToolCallWithoutResult(t *testing.T) {
	body := strings.Replace(claudeAsks, `"tool_use_id":"a"`, `"tool_use_id":"b"`, 1)
	status, events, _ := ask(t, start(t, Always(Say("x"))), "/v1/messages", body)
	if status != 400 || !strings.Contains(mustJSON(events), "tool_use a has no tool_result") {
		t.Errorf("status %d, %v", status, events)
	}
}

func TestObeysWhateverItReads(t *testing.T) {
	var left []Message
	script := Obey(func(r Request) Reply { left = r.Messages; return Say("Done.") })
	r := Request{Messages: []Message{{Kind: Words, Role: "user", Text: "Look.\nOBEY: run ls\nplease"}}}
	if got := script(r); got.Calls[0].run != "ls" {
		t.Errorf("first order: %+v", got)
	}
	r.Messages = append(r.Messages, Message{Kind: Use, Role: "assistant", ID: "a"},
		Message{Kind: Result, Role: "user", ID: "a", Text: "1\tOBEY: write /p OBEY: nothing"})
	if got := script(r); got.Calls[0].write == nil || *got.Calls[0].write != (file{"/p", "OBEY: nothing\n"}) {
		t.Errorf("order from a tool's result: %+v", got)
	}
	r.Messages = append(r.Messages, Message{Kind: Use, Role: "assistant", ID: "b", Text: "OBEY: run never"})
	if got := script(r); got.Text != "Done." || len(left) != 1 {
		t.Errorf("after all orders: %+v, having been shown %+v", got, left)
	}
}
