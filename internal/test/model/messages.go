package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// messages is the Anthropic Messages API.
type messages struct{}

type messagesBody struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
}

// block is a piece of content in either direction.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	UseID   string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
	Source  struct {
		Data []byte `json:"data"`
	} `json:"source"` // of an image
	URL string `json:"image_url"` // of an image in the other protocol
}

func (messages) read(body []byte, h http.Header) (Request, error) {
	var b messagesBody
	if err := json.Unmarshal(body, &b); err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	r := Request{API: Messages, Stream: b.Stream, Model: b.Model, Session: h.Get("X-Claude-Code-Session-Id"), System: textOf(b.System)}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Name)
		if t.Name == submit().name() {
			r.Schema = t.Schema
		}
	}
	for _, m := range b.Messages {
		for _, p := range blocks(m.Content) {
			switch p.Type {
			case "text":
				r.Messages = append(r.Messages, Message{Kind: Words, Role: m.Role, Text: p.Text})
			case "tool_use":
				r.Messages = append(r.Messages, Message{Kind: Use, Role: m.Role, Text: string(p.Input), Tool: p.Name, ID: p.ID})
			case "tool_result":
				r.Messages = append(r.Messages, Message{Kind: Result, Role: m.Role, Text: textOf(p.Content), ID: p.UseID, Bad: p.IsError, Images: imagesOf(p.Content)})
			}
		}
	}
	return r, nil
}

// check refuses what the service refuses: a tool call without its result.
func (messages) check(r Request) string {
	done := map[string]bool{}
	for _, m := range r.Messages {
		done[m.ID] = done[m.ID] || m.Kind == Result
	}
	for _, m := range r.Messages {
		if m.Kind == Use && !done[m.ID] {
			return fmt.Sprintf("tool_use %s has no tool_result", m.ID)
		}
	}
	return ""
}

func (p messages) events(r Request, reply Reply) []event {
	m := p.whole(r, reply).(map[string]any)
	content, output := m["content"].([]map[string]any), m["usage"].(map[string]int)["output_tokens"]
	begin := maps.Clone(m)
	begin["content"], begin["stop_reason"] = []any{}, nil
	begin["usage"] = usage(reply.usage(), 1) // as far as it is known when an answer begins
	events := []event{{"type": "message_start", "message": begin}}
	for i, c := range content {
		events = append(events, blockEvents(i, c)...)
	}
	return append(events,
		event{
			"type": "message_delta", "delta": map[string]any{"stop_reason": m["stop_reason"], "stop_sequence": nil},
			"usage": map[string]int{"output_tokens": output},
		},
		event{"type": "message_stop"})
}

func (messages) whole(r Request, reply Reply) any {
	text, uses := reply.Text, []map[string]any{}
	for i, c := range reply.Calls {
		name, input := c.claude(r)
		if name == "" {
			text += string(input)
			continue
		}
		// Unique through a session, also one that goes on at another server.
		id := fmt.Sprintf("toolu_%d_%d", len(r.Messages), i)
		uses = append(uses, map[string]any{"type": "tool_use", "id": id, "name": name, "input": input})
	}
	content, stop := []map[string]any{}, "end_turn"
	if text != "" {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	if len(uses) > 0 {
		content, stop = append(content, uses...), "tool_use"
	}
	return map[string]any{
		"id": fmt.Sprintf("msg_%d", len(r.Messages)), "type": "message", "role": "assistant",
		"model": r.Model, "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": usage(reply.usage(), reply.usage().Output),
	}
}

func usage(u Usage, output int) map[string]int {
	return map[string]int{
		"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead,
		"cache_creation_input_tokens": u.CacheWrite, "output_tokens": output,
	}
}

// blockEvents streams a block of content.
func blockEvents(index int, c map[string]any) []event {
	start := maps.Clone(c)
	var deltas []map[string]any
	if c["type"] == "text" {
		start["text"] = ""
		for _, part := range halves(c["text"].(string)) { // so that a cut falls in the middle of the text
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": part})
		}
	} else {
		start["input"] = map[string]any{}
		deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": string(c["input"].(json.RawMessage))})
	}
	events := []event{{"type": "content_block_start", "index": index, "content_block": start}}
	for _, d := range deltas {
		events = append(events, event{"type": "content_block_delta", "index": index, "delta": d})
	}
	return append(events, event{"type": "content_block_stop", "index": index})
}

func halves(text string) [2]string {
	runes := []rune(text)
	return [2]string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}

// claude is the call as one of Claude Code's tools; no name means plain words.
func (c Call) claude(r Request) (string, json.RawMessage) {
	switch {
	case c.Tool != "":
		return c.Tool, compact(c.Input)
	case c.write != nil:
		return "Write", compact(map[string]string{"file_path": c.write.path, "content": c.write.content})
	case c.edit != nil:
		return "Edit", compact(map[string]string{"file_path": c.edit.path, "old_string": c.edit.old, "new_string": c.edit.new})
	case c.run != "" && r.Offers(hands().name()):
		return hands().name(), compact(map[string]string{"command": c.run})
	case c.served != nil:
		return c.served.name(), compact(c.served.input)
	case c.run != "":
		return "Bash", compact(map[string]string{"command": c.run, "description": "as the script says"})
	case r.Offers(submit().name()):
		return submit().name(), compact(c.answer)
	}
	return "", compact(c.answer)
}

func (messages) failure(status int, message string) any {
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	return map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}}
}

// blocks reads content, which is a list of blocks or plain text.
func blocks(raw json.RawMessage) []block {
	var all []block
	if json.Unmarshal(raw, &all) == nil {
		return all
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

// imagesOf gives the bytes of the images in content.
func imagesOf(raw json.RawMessage) (all [][]byte) {
	for _, b := range blocks(raw) {
		data := b.Source.Data
		if _, inline, ok := strings.Cut(b.URL, ";base64,"); ok {
			data, _ = base64.StdEncoding.DecodeString(inline) // else it has no bytes, as whoever looks will see
		}
		if b.Type == "image" || b.Type == "input_image" {
			all = append(all, data)
		}
	}
	return all
}

// textOf joins the text of content.
func textOf(raw json.RawMessage) string {
	var parts []string
	for _, b := range blocks(raw) {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n\n")
}
