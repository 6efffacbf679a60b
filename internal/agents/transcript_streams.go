package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// line reads a line by the program that printed it. One that says nothing to a person
// gives nothing; one that is no event is a note.
func (r *TranscriptReader) line(line string) []Entry {
	var read func(string) ([]Entry, bool)
	switch r.call.Use {
	case "claude":
		read = r.claude
	case "codex":
		read = r.codex
	case "gemini":
		read = r.gemini
	}
	if read != nil {
		if all, ok := read(line); ok {
			return all
		}
	}
	return append(r.flush(), Entry{Kind: Note, Text: line})
}

func (r *TranscriptReader) claude(line string) ([]Entry, bool) {
	var e ClaudeEvent
	if !Decode([]byte(line), &e) {
		return nil, false
	}
	var all []Entry
	if e.Type == "system" && e.Subtype == "api_retry" {
		all = append(all, Entry{Kind: Note, Text: fmt.Sprintf("the model's service refused (%d); it is asked again", e.Status), Bad: true})
	}
	if e.Type != "assistant" && e.Type != "user" {
		return all, true
	}
	for _, b := range e.Message.Content {
		switch {
		case b.Type == "text" && e.Type == "assistant":
			all = append(all, Entry{Kind: Said, Text: b.Text})
		case b.Type == "text":
			all = append(all, Entry{Kind: Note, Text: b.Text})
		case b.Type == "thinking" && b.Thinking != "":
			all = append(all, Entry{Kind: Thought, Text: b.Thinking})
		case b.Type == "tool_use" && b.Name == "StructuredOutput": // its way to give an answer that has fields
			r.answered = b.ID
			all = append(all, Entry{Kind: Said, Text: answerTranscript(b.Input)})
		case b.Type == "tool_use":
			all = append(all, Entry{Kind: Used, Tool: b.Name, Text: r.target(b.Input)})
		case b.Type == "tool_result" && b.Of != "" && b.Of == r.answered && !b.IsError: // says no more than that it came
		case b.Type == "tool_result":
			all = append(all, Entry{Kind: Back, Text: r.shorter(textOf(b.Content)), Bad: b.IsError})
		}
	}
	return all, true
}

// textOf reads a text, or the texts of a list of parts.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	Decode(raw, &parts) // what does not fit is left out
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

func (r *TranscriptReader) codex(line string) ([]Entry, bool) {
	var e CodexEvent
	if !Decode([]byte(line), &e) {
		return nil, false
	}
	switch e.Type {
	case "error", "turn.failed":
		return []Entry{{Kind: Note, Text: cmp.Or(e.Message, e.Error.Message), Bad: true}}, true
	case "item.started":
		return r.codexUses(e.Item), true
	case "item.completed":
		return r.codexDid(e.Item), true
	}
	return nil, true
}

// codexUses gives what begins and has an end of its own.
func (r *TranscriptReader) codexUses(i CodexItem) []Entry {
	switch i.Type {
	case "command_execution":
		return []Entry{{Kind: Used, Tool: "shell", Text: r.shorter(unwrapped(i.Command))}}
	case "mcp_tool_call":
		return []Entry{{Kind: Used, Tool: i.Server, Text: i.Tool}}
	}
	return nil
}

func (r *TranscriptReader) codexDid(i CodexItem) []Entry {
	bad := i.Status == "failed" || i.Status == "declined"
	switch i.Type {
	case "agent_message":
		return []Entry{{Kind: Said, Text: answerTranscript([]byte(i.Text))}}
	case "reasoning":
		return []Entry{{Kind: Thought, Text: i.Text}}
	case "error":
		return []Entry{{Kind: Note, Text: i.Message}}
	case "command_execution":
		text := r.shorter(i.Output)
		if i.ExitCode != nil && *i.ExitCode != 0 {
			text, bad = fmt.Sprintf("exit code %d: %s", *i.ExitCode, text), true
		}
		return []Entry{{Kind: Back, Text: text, Bad: bad}}
	case "mcp_tool_call":
		return []Entry{{Kind: Back, Text: i.Status, Bad: bad}}
	case "web_search":
		return []Entry{{Kind: Used, Tool: "search", Text: i.Query}}
	case "file_change":
		var all []Entry
		for _, c := range i.Changes {
			all = append(all, Entry{Kind: Used, Tool: cmp.Or(c.Kind, "edit"), Text: Within(c.Path, r.call.Dir), Bad: bad})
		}
		return all
	}
	return nil
}

// unwrapped gives a command without the shell that Codex starts it with.
func unwrapped(command string) string {
	for _, shell := range []string{"/bin/bash -lc ", "/bin/bash -c "} {
		rest, is := strings.CutPrefix(command, shell)
		for _, quote := range []string{"'", `"`} {
			if is && strings.HasPrefix(rest, quote) {
				return strings.TrimSuffix(rest[1:], quote)
			}
		}
		if is {
			return rest
		}
	}
	return command
}

func (r *TranscriptReader) gemini(line string) ([]Entry, bool) {
	var e GeminiEvent
	if !Decode([]byte(line), &e) {
		return nil, false
	}
	switch {
	case e.Type == "message" && e.Role == "assistant" && e.Delta:
		r.said.WriteString(e.Content)
		return nil, true
	case e.Type == "message" && e.Role == "assistant":
		return append(r.flush(), Entry{Kind: Said, Text: e.Content}), true
	case e.Type == "tool_use":
		return append(r.flush(), Entry{Kind: Used, Tool: e.Tool, Text: r.target(e.Parameters)}), true
	case e.Type == "tool_result":
		return append(r.flush(), Entry{Kind: Back, Text: cmp.Or(e.Output, e.Error.Message, e.Status), Bad: e.Status == "error"}), true
	case e.Type == "error", e.Type == "result" && e.Status == "error":
		return append(r.flush(), Entry{Kind: Note, Text: e.Error.Message, Bad: true}), true
	}
	return nil, true
}

// target says on what a tool is used: the argument that says most, or all of them.
func (r *TranscriptReader) target(input json.RawMessage) string {
	var all bytes.Buffer
	if text := Target(input, r.call.Dir); text != "" {
		return r.shorter(text)
	}
	if json.Compact(&all, input) != nil || all.String() == "{}" {
		return ""
	}
	return all.String()
}
