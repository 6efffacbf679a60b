package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini is the Gemini API. The address of a request names the model, and whether
// the answer is wanted as a stream.
type gemini struct {
	model  string
	stream bool
}

// serveGemini takes requests whose last part of the path is MODEL:ACTION.
func (s *Server) serveGemini(w http.ResponseWriter, r *http.Request) {
	model, action, _ := strings.Cut(r.PathValue("call"), ":")
	switch action {
	case "generateContent", "streamGenerateContent":
		s.serve(gemini{model, action == "streamGenerateContent"})(w, r)
	case "countTokens":
		sendJSON(w, http.StatusOK, map[string]int{"totalTokens": 100})
	default:
		s.refuse(w, r)
	}
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text string `json:"text"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID       string `json:"id"`
		Response struct {
			Output string `json:"output"`
			Error  string `json:"error"`
		} `json:"response"`
	} `json:"functionResponse"`
	Image struct {
		Data []byte `json:"data"`
	} `json:"inlineData"`
}

type geminiBody struct {
	Contents []geminiContent `json:"contents"`
	System   geminiContent   `json:"systemInstruction"`
	Tools    []struct {
		Functions []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Schema json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

func (p gemini) read(body []byte, _ http.Header) (Request, error) {
	var b geminiBody
	if err := json.Unmarshal(body, &b); err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	r := Request{API: Gemini, Stream: p.stream, Model: p.model, Schema: b.Config.Schema}
	for _, part := range b.System.Parts {
		r.System = strings.TrimPrefix(r.System+"\n\n"+part.Text, "\n\n")
	}
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			if r.Tools = append(r.Tools, f.Name); f.Name == "mcp_reprise_submit" {
				r.Schema = f.Schema
			}
		}
	}
	for _, c := range b.Contents {
		role := map[string]string{"user": "user", "model": "assistant"}[c.Role]
		for _, part := range c.Parts {
			r.Messages = append(r.Messages, part.message(role))
		}
	}
	return r, nil
}

func (p geminiPart) message(role string) Message {
	switch {
	case p.Call != nil:
		return Message{Kind: Use, Role: role, Text: string(p.Call.Args), Tool: p.Call.Name, ID: p.Call.ID}
	case p.Result != nil:
		got := p.Result.Response
		return Message{Kind: Result, Role: role, Text: got.Output + got.Error, ID: p.Result.ID, Bad: got.Error != ""}
	}
	m := Message{Kind: Words, Role: role, Text: p.Text}
	if len(p.Image.Data) > 0 {
		m.Images = [][]byte{p.Image.Data}
	}
	return m
}

// check refuses what the service refuses: a call without its result.
func (gemini) check(r Request) string { return messages{}.check(r) }

// events is the answer in two pieces.
func (p gemini) events(r Request, reply Reply) []event {
	begin := reply.usage()
	begin.Output = 1 // as far as it is known when an answer begins
	return []event{
		p.piece([]any{map[string]any{"text": halves(reply.Text)[0]}}, "", begin),
		p.piece(p.parts(r, reply, halves(reply.Text)[1]), "STOP", reply.usage()),
	}
}

func (p gemini) whole(r Request, reply Reply) any {
	return p.piece(p.parts(r, reply, reply.Text), "STOP", reply.usage())
}

// parts are words and the calls of a reply.
func (p gemini) parts(r Request, reply Reply, text string) (parts []any) {
	var calls []any
	for i, c := range reply.Calls {
		name, args := c.gemini(r)
		if name == "" {
			text += string(args)
			continue
		}
		calls = append(calls, map[string]any{"functionCall": map[string]any{"id": fmt.Sprintf("%s__%d_%d", name, len(r.Messages), i), "name": name, "args": args}})
	}
	if text != "" {
		parts = append(parts, map[string]any{"text": text})
	}
	return append(parts, calls...)
}

func (p gemini) piece(parts []any, finish string, u Usage) event {
	prompt := u.Input + u.CacheRead + u.CacheWrite // this protocol counts cached tokens as input, too
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return event{"candidates": []any{candidate}, "modelVersion": p.model, "usageMetadata": map[string]int{
		"promptTokenCount": prompt, "cachedContentTokenCount": u.CacheRead, "candidatesTokenCount": u.Output, "totalTokenCount": prompt + u.Output,
	}}
}

// gemini is the call as one of Gemini CLI's tools; no name means plain words.
func (c Call) gemini(r Request) (string, json.RawMessage) {
	switch {
	case c.Tool != "":
		return c.Tool, compact(c.Input)
	case c.write != nil:
		return "write_file", compact(map[string]string{"file_path": c.write.path, "content": c.write.content})
	case c.edit != nil:
		return "replace", compact(map[string]string{"file_path": c.edit.path, "old_string": c.edit.old, "new_string": c.edit.new, "instruction": "as the script says"})
	case c.answer != nil && r.Offers("mcp_reprise_submit"):
		return "mcp_reprise_submit", compact(c.answer)
	case c.run != "" && r.Offers("mcp_reprise_run"):
		return "mcp_reprise_run", compact(map[string]string{"command": c.run})
	case c.run != "":
		return "run_shell_command", compact(map[string]string{"command": c.run, "description": "as the script says"})
	}
	return "", compact(c.answer)
}

func (gemini) failure(status int, message string) any {
	word := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
	if word == "" {
		word = "INTERNAL"
	}
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": word}}
}
