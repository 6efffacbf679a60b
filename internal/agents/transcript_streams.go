package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

func entry(kind EntryKind, text string, bad bool) Entry {
	return Entry{Kind: kind, Text: text, Bad: bad}
}

func uses(tool, text string) Entry { return Entry{Kind: Used, Tool: tool, Text: text} }

// line reads a line by the program that printed it. One that says nothing to a person
// gives nothing; one that is no event is a note.
func (r *TranscriptReader) line(line string) []Entry {
	read := map[string]func(string) ([]Entry, bool){"claude": r.claude, "codex": r.codex, "gemini": r.gemini}[r.call.Use]
	if read != nil {
		if all, ok := read(line); ok {
			return all
		}
	}
	return append(r.flush(), entry(Note, line, false))
}

func (r *TranscriptReader) claude(line string) ([]Entry, bool) {
	var e ClaudeEvent
	if !decode([]byte(line), &e) {
		return nil, false
	}
	var all []Entry
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
		case b.Type == "tool_use" && b.Name == "StructuredOutput": // its way to give an answer that has fields
			r.answered = b.ID
			all = append(all, entry(Said, answerText(b.Input), false))
		case b.Type == "tool_use":
			all = append(all, uses(b.Name, r.target(b.Input)))
		case b.Type == "tool_result" && b.Of != "" && b.Of == r.answered && !b.IsError: // says no more than that it came
		case b.Type == "tool_result":
			all = append(all, entry(Back, r.shorter(textOfParts(b.Content)), b.IsError))
		}
	}
	return all, true
}

// textOfParts reads a text, or the texts of a list of parts.
func textOfParts(raw json.RawMessage) string {
	var text string
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
	var e CodexEvent
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
func (r *TranscriptReader) codexItem(i CodexItem, begins bool) (all []Entry) {
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
		if begins {
			return []Entry{uses(i.Server, i.Tool)}
		}
		return []Entry{entry(Back, i.Status, bad)}
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
var wrapped = regexp.MustCompile(`(?s)^/bin/bash -l?c (['"]?)(.*)$`)

// unwrapped gives a command without that shell.
func unwrapped(command string) string {
	m := wrapped.FindStringSubmatch(command)
	if m == nil {
		return command
	}
	return strings.TrimSuffix(m[2], m[1])
}

func (r *TranscriptReader) gemini(line string) ([]Entry, bool) {
	var e GeminiEvent
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
