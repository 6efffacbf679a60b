package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// claudeEvent is a line that Claude Code prints; each kind fills some of it.
type claudeEvent struct {
	Type, Subtype string
	Session       string `json:"session_id"`
	Model         string
	Message       struct {
		ID, Model string
		Content   []claudeBlock
		Usage     claudeUsage
	}
	Word json.RawMessage `json:"error"`

	// Of init.
	Servers []struct{ Name, Status string } `json:"mcp_servers"`

	// Of api_retry.
	Status  int     `json:"error_status"`
	DelayMS float64 `json:"retry_delay_ms"`

	// Of result.
	IsError    bool `json:"is_error"`
	APIStatus  int  `json:"api_error_status"`
	Turns      int  `json:"num_turns"`
	Result     string
	USD        float64 `json:"total_cost_usd"`
	Usage      claudeUsage
	ModelUsage map[string]struct {
		Input         int64 `json:"inputTokens"`
		Output        int64 `json:"outputTokens"`
		CacheRead     int64 `json:"cacheReadInputTokens"`
		CacheCreation int64 `json:"cacheCreationInputTokens"`
	}
	Denials []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
	Errors []string
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type, Text, Thinking, Name, ID string
	Input, Content                 json.RawMessage
	Of                             string `json:"tool_use_id"`
	IsError                        bool   `json:"is_error"`
}

// claudeUsage is what a message, or a call, used.
type claudeUsage struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// codexEvent is a line that Codex prints.
type codexEvent struct {
	Type    string
	Thread  string `json:"thread_id"`
	Message string
	Error   struct{ Message string }
	Usage   codexUsage
	Item    codexItem
}

// codexItem is what Codex says or does.
type codexItem struct {
	Type, Text, Command, Tool, Server, Query, Status, Message string
	Output                                                    string `json:"aggregated_output"`
	ExitCode                                                  *int   `json:"exit_code"`
	Arguments                                                 json.RawMessage
	Changes                                                   []struct{ Path, Kind string }
	Result                                                    struct{ Content json.RawMessage } // of a server's tool
}

// codexUsage is what a session of Codex has used since it began, so also in
// the calls before this one.
type codexUsage struct {
	Input  int64 `json:"input_tokens"` // cached ones are among them
	Cached int64 `json:"cached_input_tokens"`
	Output int64 `json:"output_tokens"` // reasoning is among them
}

// geminiEvent is a line that Gemini prints.
type geminiEvent struct {
	Type, Role, Content, Status, Output, Message string
	Session                                      string `json:"session_id"`
	Model                                        string
	Delta                                        bool
	Tool                                         string          `json:"tool_name"`
	ToolID                                       string          `json:"tool_id"`
	Parameters                                   json.RawMessage `json:"parameters"`
	Error                                        struct{ Type, Message string }
	Stats                                        struct {
		Input  int64 `json:"input_tokens"` // cached ones are among them
		Output int64 `json:"output_tokens"`
		Cached int64
	}
}

// decode reads JSON from a program into v, and says whether it was JSON. What does not fit is left out.
func decode(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	return err == nil || errors.As(err, new(*json.UnmarshalTypeError))
}

// target says on what a tool is used: the argument that says most, with paths seen from
// dir; "" if none does.
func target(input json.RawMessage, dir string) string {
	var given map[string]any
	decode(input, &given)
	for _, key := range []string{"file_path", "notebook_path", "absolute_path", "path", "dir_path", "command", "pattern", "url", "query", "description", "prompt"} {
		if text, is := given[key].(string); is && text != "" {
			return within(text, dir)
		}
	}
	return ""
}

// within makes a path short that lies in a work tree.
func within(file, dir string) string {
	if rel, err := filepath.Rel(dir, file); dir != "" && filepath.IsAbs(file) && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

func (r *TranscriptReader) claude(line string) (all []Entry, _ bool) {
	var e claudeEvent
	if !decode([]byte(line), &e) {
		return nil, false
	}
	if e.Type == "system" && e.Subtype == "api_retry" {
		all = append(all, entry(Note, fmt.Sprintf("the model's service refused (%d); it is asked again", e.Status), true))
	}
	if e.Type != "assistant" && e.Type != "user" {
		return all, true
	}
	for _, b := range e.Message.Content {
		switch {
		case b.Type == "text" && e.Type == "assistant":
			all = append(all, entry(Said, b.Text, false))
		case b.Type == "text":
			all = append(all, entry(Note, b.Text, false))
		case b.Type == "thinking" && b.Thinking != "":
			all = append(all, entry(Thought, b.Thinking, false))
		case b.Type == "tool_use":
			all = append(all, uses(b.Name, r.target(b.Input)))
		case b.Type == "tool_result":
			all = append(all, entry(Back, r.shorter(textOfParts(b.Content)), b.IsError))
		}
	}
	return all, true
}

// textOfParts reads a text, or the texts of a list of parts.
func textOfParts(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	decode(raw, &parts) // what does not fit is left out
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

func (r *TranscriptReader) codex(line string) ([]Entry, bool) {
	var e codexEvent
	if !decode([]byte(line), &e) {
		return nil, false
	}
	switch e.Type {
	case "error", "turn.failed":
		return []Entry{entry(Note, cmp.Or(e.Message, e.Error.Message), true)}, true
	case "item.started", "item.completed":
		return r.codexItem(e.Item, e.Type == "item.started"), true
	}
	return nil, true
}

// codexItem gives what an item says: as it begins, of what has an end of its own, else as it ends.
func (r *TranscriptReader) codexItem(i codexItem, begins bool) (all []Entry) {
	bad := i.Status == "failed" || i.Status == "declined"
	switch i.Type {
	case "command_execution":
		if begins {
			return []Entry{uses("shell", r.shorter(unwrapped(i.Command)))}
		}
		text := r.shorter(i.Output)
		if i.ExitCode != nil && *i.ExitCode != 0 {
			text, bad = fmt.Sprintf("exit code %d: %s", *i.ExitCode, text), true
		}
		return []Entry{entry(Back, text, bad)}
	case "mcp_tool_call":
		if begins && i.Server == pipelines.Hands {
			return []Entry{uses(i.Tool, r.target(i.Arguments))}
		} else if begins {
			return []Entry{uses(i.Server, i.Tool)}
		}
		return []Entry{entry(Back, r.shorter(cmp.Or(textOfParts(i.Result.Content), i.Status)), bad)}
	}
	said := map[string]Entry{
		"agent_message": entry(Said, answerText([]byte(i.Text)), false), "reasoning": entry(Thought, i.Text, false),
		"error": entry(Note, i.Message, false), "web_search": uses("search", i.Query),
	}
	if e, is := said[i.Type]; is && !begins {
		return []Entry{e}
	}
	for _, c := range i.Changes {
		if !begins {
			all = append(all, Entry{Kind: Used, Tool: cmp.Or(c.Kind, "edit"), Text: within(c.Path, r.call.Dir), Bad: bad})
		}
	}
	return all
}

// wrapped is a command in the shell that Codex starts it with.
var wrapped = text.Pattern(`(?s)^/bin/bash -l?c (['"]?)(.*)$`)

// unwrapped gives a command without that shell.
func unwrapped(command string) string {
	m := wrapped().FindStringSubmatch(command)
	if m == nil {
		return command
	}
	return strings.TrimSuffix(m[2], m[1])
}

func (r *TranscriptReader) gemini(line string) ([]Entry, bool) {
	var e geminiEvent
	if !decode([]byte(line), &e) {
		return nil, false
	}
	switch {
	case e.Type == "message" && e.Role == "assistant" && e.Delta:
		r.said.WriteString(e.Content)
		return nil, true
	case e.Type == "message" && e.Role == "assistant":
		return append(r.flush(), entry(Said, e.Content, false)), true
	case e.Type == "tool_use":
		return append(r.flush(), uses(e.Tool, r.target(e.Parameters))), true
	case e.Type == "tool_result":
		return append(r.flush(), entry(Back, cmp.Or(e.Output, e.Error.Message, e.Status), e.Status == "error")), true
	case e.Type == "error", e.Type == "result" && e.Status == "error":
		return append(r.flush(), entry(Note, e.Error.Message, true)), true
	}
	return nil, true
}

// acp reads a message of ACP. Of a tool it tells once it has ended: until then programs tell of it bit by bit.
func (r *TranscriptReader) acp(line string) ([]Entry, bool) {
	var m acpMessage
	var told struct{ Update acpUpdate }
	if !decode([]byte(line), &m) {
		return nil, false
	}
	decode(m.Params, &told)
	u := told.Update
	switch r.live = r.live || m.Method == "" && string(m.ID) == acpSession; {
	case m.Error != nil:
		return append(r.flush(), entry(Note, errorText(m.Error.Message, m.Error.Data), true)), true
	case !r.live || m.Method != "session/update":
	case u.Kind == "agent_message_chunk":
		r.said.WriteString(u.text())
	case strings.HasPrefix(u.Kind, "tool_call"):
		before := r.open[u.ID]
		now := u.after(before)
		if r.open[u.ID] = (acpUpdate{Title: now.Title, RawInput: now.RawInput}); u.Status != "completed" && u.Status != "failed" {
			return r.flush(), true
		}
		delete(r.open, u.ID)
		if now.Title = cmp.Or(before.Title, now.Title); now.answers() {
			return r.flush(), true
		}
		return append(r.flush(), uses(now.Title, r.target(now.RawInput)), entry(Back, r.shorter(cmp.Or(u.text(), u.Status)), u.Status == "failed")), true
	}
	return nil, true
}

// target says on what a tool is used: the argument that says most, or all of them.
func (r *TranscriptReader) target(input json.RawMessage) string {
	var all bytes.Buffer
	if text := target(input, r.call.Dir); text != "" {
		return r.shorter(text)
	}
	if json.Compact(&all, input) != nil || all.String() == "{}" {
		return ""
	}
	return all.String()
}

// acpUpdate is what a program tells of its work. Content is one part of a message, or a list of what a tool came to.
type acpUpdate struct {
	Kind                string `json:"sessionUpdate"`
	Content             json.RawMessage
	ID                  string `json:"toolCallId"`
	Title, Status       string
	RawInput, RawOutput json.RawMessage
}

// answers reports whether that is the tool by which answers are given, whatever the program calls it.
func (u acpUpdate) answers() bool {
	return strings.Contains(u.Title, handsSubmit) && strings.Contains(u.Title, pipelines.Hands)
}

// text is what was said, or what a tool came to, as far as it is text.
func (u acpUpdate) text() string {
	var part struct{ Text string }
	var parts []struct {
		Path    string
		Content struct{ Text string }
	}
	decode(u.Content, &part)
	decode(u.Content, &parts) // it is one of the two
	for _, p := range parts {
		part.Text += p.Content.Text + p.Path
	}
	return part.Text
}

// after completes what is told of the use of a tool with what was told before.
func (u acpUpdate) after(before acpUpdate) acpUpdate {
	u.Title = cmp.Or(u.Title, before.Title)
	if len(u.RawInput) == 0 {
		u.RawInput = before.RawInput
	} else if len(u.RawInput) > mostOfLine {
		u.RawInput = nil
	}
	return u
}
