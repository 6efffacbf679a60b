package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responses is the OpenAI Responses API.
type responses struct{}

type responsesBody struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        []responsesItem `json:"input"`
	Tools        []responsesTool `json:"tools"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Tools     []responsesTool `json:"tools"` // newer models get their tools in an item
}

type responsesTool struct {
	Type  string          `json:"type"`
	Name  string          `json:"name"`
	Tools []responsesTool `json:"tools"` // of a namespace

	Parameters json.RawMessage `json:"parameters"`
}

func (responses) read(body []byte, h http.Header) (Request, error) {
	var b responsesBody
	if err := json.Unmarshal(body, &b); err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	r := Request{
		API: Responses, Stream: b.Stream, Model: b.Model, Session: h.Get("Session-Id"), System: b.Instructions,
		Schema: schemaIn(b.Tools), Tools: toolNames(b.Tools),
	}
	for _, it := range b.Input {
		switch it.Type {
		case "additional_tools":
			r.Tools, r.Schema = append(r.Tools, toolNames(it.Tools)...), schemaIn(it.Tools)
		case "message":
			r.addWords(it)
		case "function_call", "custom_tool_call":
			r.Messages = append(r.Messages, Message{Kind: Use, Role: "assistant", Text: it.Arguments + it.Input, Tool: it.Name, ID: it.CallID})
		case "function_call_output", "custom_tool_call_output":
			r.Messages = append(r.Messages, Message{Kind: Result, Role: "user", Text: textOf(it.Output), ID: it.CallID, Images: imagesOf(it.Output)})
		}
	}
	return r, nil
}

func (r *Request) addWords(it responsesItem) {
	text := textOf(it.Content)
	if it.Role == "developer" || it.Role == "system" {
		r.System = strings.TrimPrefix(r.System+"\n\n"+text, "\n\n")
		return
	}
	r.Messages = append(r.Messages, Message{Kind: Words, Role: it.Role, Text: text, Images: imagesOf(it.Content)})
}

// schemaIn is the schema of an answer, as the tool for it takes it.
func schemaIn(tools []responsesTool) (schema json.RawMessage) {
	for _, t := range tools {
		if schema == nil && t.Name == submit().tool {
			schema = t.Parameters
		} else if schema == nil {
			schema = schemaIn(t.Tools)
		}
	}
	return schema
}

func toolNames(tools []responsesTool) []string {
	var names []string
	for _, t := range tools {
		switch {
		case t.Type == "namespace":
			for _, name := range toolNames(t.Tools) {
				if strings.HasPrefix(t.Name, "mcp__") {
					name = t.Name + "__" + name
				}
				names = append(names, name)
			}
		case t.Name != "":
			names = append(names, t.Name)
		default:
			names = append(names, t.Type)
		}
	}
	return names
}

// check refuses nothing.
func (responses) check(Request) string { return "" }

func (p responses) events(r Request, reply Reply) []event {
	whole := p.whole(r, reply).(map[string]any)
	events := []event{{"type": "response.created", "response": map[string]any{"id": whole["id"]}}}
	for i, item := range whole["output"].([]event) {
		if item["type"] == "message" {
			events = append(events,
				event{"type": "response.output_item.added", "output_index": i, "item": item},
				event{"type": "response.output_text.delta", "output_index": i, "item_id": item["id"], "delta": reply.Text})
		}
		events = append(events, event{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	return append(events, event{"type": "response.completed", "response": whole})
}

func (responses) whole(r Request, reply Reply) any {
	text, calls := reply.Text, []event{}
	for i, c := range reply.Calls {
		// Unique through a session, also one that goes on at another server.
		if item := c.codex(r, fmt.Sprintf("call_%d_%d", len(r.Messages), i)); item != nil {
			calls = append(calls, item)
			continue
		}
		text += string(compact(c.answer))
	}
	output := []event{}
	if text != "" {
		output = append(output, event{
			"type": "message", "id": fmt.Sprintf("msg_%d", len(r.Messages)), "role": "assistant",
			"content": []any{map[string]any{"type": "output_text", "text": text}},
		})
	}
	u := reply.usage()
	input := u.Input + u.CacheRead + u.CacheWrite // this protocol counts cached tokens as input, too
	return map[string]any{"id": fmt.Sprintf("resp_%d", len(r.Messages)), "output": append(output, calls...), "usage": map[string]any{
		"input_tokens": input, "input_tokens_details": map[string]int{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		"total_tokens": input + u.Output,
	}}
}

// codex is the call as one of the tools that codex offers, which differ by
// model; nil means plain words.
func (c Call) codex(r Request, id string) event {
	function := func(name string, args any) event {
		return event{"type": "function_call", "call_id": id, "name": name, "arguments": string(compact(args))}
	}
	custom := func(name, input string) event {
		return event{"type": "custom_tool_call", "call_id": id, "name": name, "input": input}
	}
	if text, ok := c.Input.(string); ok && c.Tool != "" {
		return custom(c.Tool, text)
	}
	switch {
	case c.Tool != "":
		return function(c.Tool, c.Input)
	case c.answer != nil && !r.Offers(submit().name()):
		return nil
	case c.answer != nil:
		return event{"type": "function_call", "call_id": id, "namespace": "mcp__reprise", "name": submit().tool, "arguments": string(compact(c.answer))}
	case r.Offers(hands().name()): // without a shell
		return event{"type": "function_call", "call_id": id, "namespace": "mcp__reprise", "name": hands().tool, "arguments": string(compact(map[string]string{"command": c.shell()}))}
	case c.edit != nil && r.Offers("apply_patch"):
		return custom("apply_patch", c.patch())
	case c.served != nil && r.Offers("exec"):
		return custom("exec", "text(await tools."+strings.ReplaceAll(c.served.name(), "-", "_")+"("+string(compact(c.served.input))+"))")
	case c.served != nil:
		return function(c.served.name(), c.served.input)
	case c.edit != nil && r.Offers("exec"):
		return custom("exec", "text(await tools.apply_patch("+mustJSON(c.patch())+"))")
	case r.Offers("exec"): // JavaScript that calls the tools
		return custom("exec", fmt.Sprintf("// @exec: {\"yield_time_ms\": %[2]d}\ntext((await tools.exec_command({cmd: %[1]s, yield_time_ms: %[2]d})).output)", mustJSON(c.shell()), patience))
	case r.Offers("shell"):
		return function("shell", map[string]any{"command": []string{"bash", "-c", c.shell()}})
	case r.Offers("shell_command"):
		return function("shell_command", map[string]string{"command": c.shell()})
	}
	return function("exec_command", map[string]any{"cmd": c.shell(), "yield_time_ms": patience})
}

// patience is how long Codex waits for a command, in milliseconds, before it goes on without
// it: as long as it may. Unless it is told, it waits 10 s, which a busy machine may exceed.
const patience = 30_000

func (responses) failure(status int, message string) any {
	kind := map[int]string{400: "invalid_request_error", 401: "invalid_request_error", 429: "rate_limit_error"}[status]
	code := map[int]string{401: "invalid_api_key", 429: "rate_limit_exceeded"}[status]
	if kind == "" {
		kind = "server_error"
	}
	return map[string]any{"error": map[string]string{"type": kind, "code": code, "message": message}}
}
