package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chat is the OpenAI Chat Completions API.
type chat struct{}

type chatBody struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Calls   []struct {
			ID       string       `json:"id"`
			Function chatFunction `json:"function"`
		} `json:"tool_calls"`
		ID string `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function chatFunction `json:"function"`
	} `json:"tools"`
}

type chatFunction struct {
	Name       string          `json:"name"`
	Arguments  string          `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
}

func (chat) read(body []byte, _ http.Header) (Request, error) {
	var b chatBody
	if err := json.Unmarshal(body, &b); err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	r := Request{API: Chat, Stream: b.Stream, Model: b.Model}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
		if strings.HasSuffix(t.Function.Name, submit().tool) {
			r.Schema = t.Function.Parameters
		}
	}
	for _, m := range b.Messages {
		text := textOf(m.Content)
		switch {
		case m.Role == "system" || m.Role == "developer":
			r.System = strings.TrimPrefix(r.System+"\n\n"+text, "\n\n")
		case m.Role == "tool":
			r.Messages = append(r.Messages, Message{Kind: Result, Role: "user", Text: text, ID: m.ID})
		default:
			for _, b := range blocks(m.Content) {
				r.Messages = append(r.Messages, Message{Kind: Words, Role: m.Role, Text: b.Text})
			}
		}
		for _, c := range m.Calls {
			r.Messages = append(r.Messages, Message{Kind: Use, Role: m.Role, Text: c.Function.Arguments, Tool: c.Function.Name, ID: c.ID})
		}
	}
	return r, nil
}

// check refuses what the service refuses: a call without its result.
func (chat) check(r Request) string { return messages{}.check(r) }

func (p chat) events(r Request, reply Reply) []event {
	text, calls := p.parts(r, reply)
	piece := func(delta map[string]any, finish any) event {
		return event{"id": "chat", "object": "chat.completion.chunk", "model": r.Model, "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	events := []event{piece(map[string]any{"role": "assistant", "content": halves(text)[0]}, nil), piece(map[string]any{"content": halves(text)[1]}, nil)}
	for i, c := range calls {
		c["index"] = i
		events = append(events, piece(map[string]any{"tool_calls": []any{c}}, nil))
	}
	last := piece(map[string]any{}, finishOf(calls))
	last["usage"] = p.usage(reply)
	return append(events, last)
}

func (p chat) whole(r Request, reply Reply) any {
	text, calls := p.parts(r, reply)
	said := map[string]any{"role": "assistant", "content": text}
	if len(calls) > 0 {
		said["tool_calls"] = calls
	}
	return map[string]any{"id": "chat", "object": "chat.completion", "model": r.Model, "usage": p.usage(reply), "choices": []any{
		map[string]any{"index": 0, "message": said, "finish_reason": finishOf(calls)},
	}}
}

// parts are the words and the calls of a reply.
func (chat) parts(r Request, reply Reply) (text string, calls []map[string]any) {
	text = reply.Text
	for i, c := range reply.Calls {
		name, args := c.chat(r)
		if name == "" {
			text += string(args)
			continue
		}
		id := fmt.Sprintf("call_%d_%d", len(r.Messages), i) // unique through a session
		calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]string{"name": name, "arguments": string(args)}})
	}
	return text, calls
}

func finishOf(calls []map[string]any) string {
	if len(calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (chat) usage(reply Reply) any {
	u := reply.usage()
	prompt := u.Input + u.CacheRead + u.CacheWrite // this protocol counts cached tokens as input, too
	return map[string]any{"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output, "prompt_tokens_details": map[string]int{"cached_tokens": u.CacheRead}}
}

// chat is the call as one of the tools that opencode, Qwen Code or Copilot CLI offer; no name means plain words.
func (c Call) chat(r Request) (string, json.RawMessage) {
	of := func(s served) string { // each joins server and tool in its own way
		for _, name := range r.Tools {
			if strings.Contains(name, s.server) && strings.HasSuffix(name, s.tool) {
				return name
			}
		}
		return ""
	}
	if c.Tool != "" {
		return c.Tool, compact(c.Input)
	}
	if c.answer != nil {
		return of(submit()), compact(c.answer)
	}
	if name := of(hands()); c.run != "" && name != "" {
		return name, compact(map[string]string{"command": c.run})
	}
	if f := c.write; f != nil {
		for name, input := range map[string]any{
			"write": map[string]string{"filePath": f.path, "content": f.content}, "write_file": map[string]string{"file_path": f.path, "content": f.content},
			"create":      map[string]string{"path": f.path, "file_text": f.content},
			"apply_patch": map[string]string{"patchText": "*** Begin Patch\n*** Add File: " + f.path + "\n+" + strings.ReplaceAll(strings.TrimSuffix(f.content, "\n"), "\n", "\n+") + "\n*** End Patch"},
		} {
			if r.Offers(name) {
				return name, compact(input)
			}
		}
	}
	shell := map[string]any{"command": c.shell(), "description": "as the script says"}
	if r.Offers("run_shell_command") {
		shell["is_background"] = false
		return "run_shell_command", compact(shell)
	}
	return "bash", compact(shell)
}

func (chat) failure(status int, message string) any { return responses{}.failure(status, message) }
