package agents

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
)

// codexStream reads the events of Codex.
type codexStream struct {
	said
	home   string
	schema json.RawMessage // as it was asked for; nil if none was
	thread string          // its session
	before CodexUsage      // what the session had used before this call
	total  *CodexUsage     // what it has used now
	silent int             // times in a row that the network was not there
}

// line takes one line of the stream. What is no event is left out.
func (s *codexStream) line(data []byte) process.Reaction {
	var e CodexEvent
	if !decode(data, &e) {
		return process.GoOn
	}
	switch e.Type {
	case "thread.started":
		s.thread = sessionOf(e.Thread, s.thread)
		s.result.Session = s.thread
		s.notify("")
	case "item.started", "item.completed":
		return s.item(e)
	case "error":
		return s.fault(e.Message)
	case "turn.failed":
		s.fault(e.Error.Message)
		s.failed = s.trouble
		return process.Done
	case "turn.completed":
		s.total, s.done, s.trouble = &e.Usage, true, nil
		if s.schema != nil && json.Valid([]byte(s.result.Text)) { // the last words are the structured answer
			s.result.Structured = relaxAnswer(s.schema, json.RawMessage(s.result.Text))
		}
		return process.Done
	}
	return process.GoOn
}

func (s *codexStream) item(e CodexEvent) process.Reaction {
	did := ""
	switch e.Item.Type {
	case "agent_message":
		did = e.Item.Text
		s.result.Text = e.Item.Text
	case "command_execution":
		did, s.ran = e.Item.Command, true
	case "file_change":
		did = "edit"
		for _, c := range e.Item.Changes {
			did += " " + within(c.Path, s.task.Dir)
		}
	case "mcp_tool_call":
		did = e.Item.Server + " " + e.Item.Tool
	case "web_search":
		did = "search " + e.Item.Query
	default:
		return process.GoOn
	}
	s.trouble, s.silent = nil, 0 // it got over it
	switch {
	case e.Type == "item.started":
		s.notify(did)
	case e.Item.Type == "agent_message":
		s.notify(did)
	default:
		s.result.ToolCalls++
		if e.Item.Status == "declined" {
			s.deny(e.Item.Type)
		}
		if e.Item.Type != "file_change" { // whose text it does not tell
			return max(s.came(e.Item.Output), s.uses(did+" "+string(e.Item.Arguments)))
		}
	}
	return process.GoOn
}

// maxSilent is how often in a row the program may report that there is no
// network. It would wait for it for ever.
const maxSilent = 4

// fault hears of an error that the program may yet get over.
func (s *codexStream) fault(message string) process.Reaction {
	s.trouble = s.cli.told(message, errors.New(process.OneLine(refusalIn(message), 300)))
	switch {
	case s.trouble.Class == metadata.Auth:
		s.failed = s.trouble
		return process.GiveUp
	case strings.HasPrefix(message, "Reconnecting... waiting for network"):
		if s.silent++; s.silent >= maxSilent {
			s.failed = s.trouble
			return process.GiveUp
		}
	}
	return process.GoOn
}
