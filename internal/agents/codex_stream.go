package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/gate"
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
	if !Decode(data, &e) {
		return process.GoOn
	}
	switch e.Type {
	case "thread.started":
		s.thread = sessionOf(e.Thread, s.thread)
		s.result.Session = s.thread
		s.notify("")
	case "item.started", "item.completed":
		s.item(e)
	case "error":
		return s.fault(e.Message)
	case "turn.failed":
		s.fault(e.Error.Message)
		s.failed = s.trouble
		return process.Done
	case "turn.completed":
		s.total, s.done, s.trouble = &e.Usage, true, nil
		s.answer()
		return process.Done
	}
	return process.GoOn
}

func (s *codexStream) item(e CodexEvent) {
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
			did += " " + Within(c.Path, s.task.Dir)
		}
	case "mcp_tool_call":
		did = e.Item.Server + " " + e.Item.Tool
	case "web_search":
		did = "search " + e.Item.Query
	default:
		return
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
	}
}

// statusIn finds the HTTP status in the message of an error event, the only
// place where the program says it.
var statusIn = regexp.MustCompile(`(?:unexpected status|last status:) (\d{3})\b`)

// maxSilent is how often in a row the program may report that there is no
// network. It would wait for it for ever.
const maxSilent = 4

// fault hears of an error that the program may yet get over.
func (s *codexStream) fault(message string) process.Reaction {
	status, word := 0, "unknown"
	if m := statusIn.FindStringSubmatch(message); m != nil {
		status, _ = strconv.Atoi(m[1])
	}
	if refused := serviceRefusal(message); refused != "" {
		status, word = 400, ""
		message = refused
	}
	class := gate.ClassOf(status, word)
	s.trouble = s.cli.fail(class, errors.New(process.OneLine(message, 300)))
	switch {
	case class == metadata.Auth:
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

// serviceRefusal gives the reason in a message that is the service's answer as
// it came, for a request it will never take.
func serviceRefusal(message string) string {
	var answer struct {
		Error struct{ Type, Message string }
	}
	if !strings.HasPrefix(message, "{") || !Decode([]byte(message), &answer) || answer.Error.Type == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s", answer.Error.Type, answer.Error.Message)
}

// answer takes the last words for the structured answer, if they are one.
func (s *codexStream) answer() {
	if s.schema != nil && json.Valid([]byte(s.result.Text)) {
		s.result.Structured = RelaxAnswer(s.schema, json.RawMessage(s.result.Text))
	}
}
