package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// acp is any program that speaks the Agent Client Protocol, https://agentclientprotocol.com: JSON-RPC over standard input and
// output, a message a line. It carries prompts and sessions alone. What the program may do, its sandbox says and its
// settings; what it used, why it failed and when it is to stop, its gate: each program tells of that in its own way, and
// some call every failure the end of their turn.
type acp struct{ cli }

// Run carries out one task.
func (a acp) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	s := &acpTalk{said: said{cli: a.cli, task: t, stays: true}, more: make(chan string, acpAhead), tools: map[string]acpUpdate{}}
	s.cancel, s.proves, s.longest = s.stop, true, process.MaxMessage
	defer s.hangUp()
	return a.run(ctx, t, &s.said, s.prepare, s.line)
}

// protocolACP is how a program is started that speaks ACP, see programs.yaml.
type protocolACP struct {
	Arguments             []string
	Model                 string
	Listens               bool // a part of it is a server for the rest
	Environment, Settings map[string]string
	Access                map[pipelines.Access]struct {
		Arguments   []string
		Environment map[string]string
	}
}

const (
	acpVersion  = 1
	acpSession  = "2"       // the request by which a session begins: what was told before is of earlier calls
	acpAhead    = 1 << 10   // messages that a program may leave unread
	maxMessages = 1_000_000 // of a program in one call
	maxUnknown  = 10_000    // of those, requests for what it may not have
	maxOpen     = 1000      // tools that it uses at a time
)

// acpTalk is one call of such a program.
type acpTalk struct {
	said
	servers servers
	dir     string // where it works

	asked    string // what it was asked last, and has not answered
	n        int    // requests to it
	messages int    // that it has sent
	unknown  int    // of those, requests for what it may not have
	closes   bool   // it can close a session
	reminded bool   // that it has given no answer
	tools    map[string]acpUpdate
	words    agentWords // since the last tool

	mu       sync.Mutex  // guards the rest, as a limit may be reached at any moment
	more     chan string // what it reads
	gone     bool        // more is closed
	prompted bool        // it is at work
	stopped  bool        // it was told to end that
}

// acpMessage is what a program sends.
type acpMessage struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Error          *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// prepare gives the program its settings, and begins to talk.
func (s *acpTalk) prepare(c *Call) (string, error) {
	if why := s.cli.unkeyed(); why != "" {
		return "", s.cli.fail(metadata.Auth, errors.New(why))
	}
	row := s.cli.ACP
	model := cmp.Or(s.task.Model, process.Lookup(c.Env, "OPENAI_MODEL"), row.Model)
	c.Env = process.SetVar(c.Env, "REPRISE_MODEL", model)
	expand := func(text string) string {
		return os.Expand(text, func(name string) string { return process.Lookup(c.Env, name) })
	}
	for name, content := range row.Settings {
		if err := os.WriteFile(filepath.Join(c.Temp, name), []byte(expand(content)), 0o600); err != nil {
			return "", err
		}
	}
	of := row.Access[c.Access]
	for _, vars := range []map[string]string{row.Environment, of.Environment} {
		for name, value := range vars {
			c.Env = process.SetVar(c.Env, name, expand(value))
		}
	}
	for _, argument := range slices.Concat(row.Arguments, of.Arguments) {
		c.Argv = append(c.Argv, expand(argument))
	}
	c.more, s.servers, s.dir = s.more, c.servers, c.Dir
	return "", s.ask("initialize", map[string]any{
		"protocolVersion":    acpVersion,
		"clientCapabilities": map[string]any{"fs": map[string]bool{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         map[string]string{"name": "reprise", "version": "1"},
	})
}

// ask sends a request. What comes back is the answer to it.
func (s *acpTalk) ask(method string, params any) error {
	s.asked, s.n = method, s.n+1
	return s.send(message{ID: json.RawMessage(strconv.Itoa(s.n)), Method: method, Params: params})
}

// send writes a message, unless nobody reads them.
func (s *acpTalk) send(m message) error {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil
	}
	select {
	case s.more <- string(data) + "\n":
		return nil
	default:
		return fmt.Errorf("it does not read what it is told: %d messages wait", acpAhead)
	}
}

// hangUp says that nothing more is sent.
func (s *acpTalk) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.gone {
		s.gone = true
		close(s.more)
	}
}

// stop tells the program to end its work, as a limit is reached.
func (s *acpTalk) stop() {
	s.mu.Lock()
	works := s.prompted && !s.stopped
	s.stopped = true
	s.mu.Unlock()
	if works {
		_ = s.send(message{Method: "session/cancel", Params: map[string]string{"sessionId": s.result.Session}}) // else it is ended without
	}
}

// line takes one message.
func (s *acpTalk) line(data []byte) process.Reaction {
	var m acpMessage
	s.messages++
	switch ok := decode(data, &m); {
	case s.garbled != nil:
		return process.GoOn // it is being ended
	case s.messages > maxMessages:
		return s.wrong("it sent more than %d messages", maxMessages)
	case len(data) >= process.MaxMessage:
		return s.wrong("it sent a message of more than %d MiB", process.MaxMessage>>20)
	case !ok || m.Method == "" && m.ID == nil:
		then := s.wrong("it printed what is no message of the Agent Client Protocol, or only a part of one: %s", process.OneLine(string(data), 100))
		if !ok && len(data) > 0 && data[0] == '{' { // it may have been killed in the middle
			s.garbled.Class = metadata.Crash
		}
		return then
	case m.Method != "" && m.ID != nil:
		return s.sent(s.answer(m))
	case m.Method == "session/update":
		return s.update(m.Params)
	case m.Method == "" && string(m.ID) == strconv.Itoa(s.n) && s.asked != "":
		return s.answered(m)
	}
	return process.GoOn // other notices, and answers that nobody waits for
}

// wrong ends a program that speaks otherwise than it may.
func (s *acpTalk) wrong(format string, values ...any) process.Reaction {
	s.garbled = s.cli.fail(metadata.Refused, fmt.Errorf(format, values...))
	return process.GiveUp
}

func (s *acpTalk) sent(err error) process.Reaction {
	if err != nil {
		return s.wrong("%w", err)
	}
	return process.GoOn
}

// answer answers a request of the program: it may do what its sandbox lets it do, and has nothing else of reprise.
func (s *acpTalk) answer(m acpMessage) error {
	if m.Method != "session/request_permission" {
		if s.unknown++; s.unknown > maxUnknown {
			return fmt.Errorf("it asked for what it may not have, such as %s, more than %d times", process.OneLine(m.Method, 100), maxUnknown)
		}
		return s.send(message{ID: m.ID, Error: map[string]any{"code": -32601, "message": "reprise does not offer " + process.OneLine(m.Method, 100)}})
	}
	var asks struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string
		}
	}
	decode(m.Params, &asks)
	for _, kind := range []string{"allow_once", "allow_always"} {
		for _, o := range asks.Options {
			if o.Kind == kind {
				return s.send(message{ID: m.ID, Result: map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": o.ID}}})
			}
		}
	}
	return s.send(message{ID: m.ID, Result: map[string]any{"outcome": map[string]string{"outcome": "cancelled"}}})
}

// answered takes the answer to what was asked last, and asks what is next.
func (s *acpTalk) answered(m acpMessage) process.Reaction {
	asked := s.asked
	s.asked = ""
	if m.Error != nil {
		return s.refused(asked, m)
	}
	var is struct {
		Version      int `json:"protocolVersion"`
		Capabilities struct {
			Loads    bool                      `json:"loadSession"`
			MCP      struct{ HTTP bool }       `json:"mcpCapabilities"`
			Sessions struct{ Close *struct{} } `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
		Session string `json:"sessionId"`
		Reason  string `json:"stopReason"`
	}
	decode(m.Result, &is)
	switch asked {
	case "initialize":
		s.closes = is.Capabilities.Sessions.Close != nil
		switch {
		case is.Version != acpVersion:
			return s.wrong("it speaks version %d of the Agent Client Protocol, and reprise version %d: install another version of it", is.Version, acpVersion)
		case len(s.servers) > 0 && !is.Capabilities.MCP.HTTP:
			return s.wrong("it takes no servers of tools over HTTP, by which it would give its answers")
		case !s.task.Resume:
			return s.sent(s.ask("session/new", map[string]any{"cwd": s.dir, "mcpServers": s.servers.acp()}))
		case !is.Capabilities.Loads || sessionOf(s.task.Session, "") == "":
			s.failed = s.cli.gone(s.task.Session)
			return process.GiveUp
		}
		s.result.Session = s.task.Session
		return s.sent(s.ask("session/load", map[string]any{"sessionId": s.task.Session, "cwd": s.dir, "mcpServers": s.servers.acp()}))
	case "session/new", "session/load":
		s.result.Session = sessionOf(is.Session, s.result.Session)
		if s.result.Session == "" {
			return s.wrong("it began a session without an id that could be used again: %s", process.OneLine(is.Session, 100))
		}
		s.notify("")
		return s.prompt(s.task.Prompt)
	case "session/prompt":
		return s.ended(is.Reason)
	}
	s.hangUp() // the session is closed
	return process.GoOn
}

// refused hears that the program cannot do what it was asked.
func (s *acpTalk) refused(asked string, m acpMessage) process.Reaction {
	why := fmt.Sprintf("%s: %s", asked, process.OneLine(refusalIn(errorText(m.Error.Message, m.Error.Data)), 300))
	switch {
	case asked == "session/close":
		s.hangUp()
		return process.GoOn
	case m.Error.Code == -32000: // as the protocol has it
		s.failed = s.cli.fail(metadata.Auth, errors.New(why))
	case asked == "session/load":
		s.failed = s.cli.gone(s.task.Session)
	default:
		s.failed = s.cli.told(errorText(m.Error.Message, m.Error.Data), errors.New(why))
	}
	return process.GiveUp
}

// errorText puts what an error says and its details together.
func errorText(message string, details json.RawMessage) string {
	if len(details) == 0 || string(details) == "null" {
		return message
	}
	return message + ": " + string(details)
}

func (s *acpTalk) prompt(text string) process.Reaction {
	s.mu.Lock()
	s.prompted = true
	s.mu.Unlock()
	return s.sent(s.ask("session/prompt", map[string]any{"sessionId": s.result.Session, "prompt": []any{map[string]string{"type": "text", "text": text}}}))
}

// reminder is said to a program that has ended its turn without its answer.
const reminder = "You have not given your answer. Give it now, by the tool `" + handsSubmit + "` of the server `" + pipelines.Hands + "`: what you only say is none."

// ended hears why the program has ended its turn.
func (s *acpTalk) ended(why string) process.Reaction {
	s.mu.Lock()
	stopped := s.stopped
	s.mu.Unlock()
	switch {
	case why == "end_turn" && !stopped && !s.reminded && s.hands.owed():
		s.reminded = true
		return s.prompt(reminder)
	case why == "end_turn" || why == "cancelled" && stopped:
		s.done = true
	case why == "max_turn_requests":
		s.done, s.result.Limit = true, "turns"
	case why == "max_tokens":
		s.failed = s.cli.fail(metadata.TooLong, errors.New("its answer was longer than it may be"))
	case why == "refusal":
		s.failed = s.cli.fail(metadata.Refused, errors.New("its model refused to go on"))
	default:
		return s.wrong("it ended its turn with %q, which is no reason that was asked for", process.OneLine(why, 100))
	}
	if !s.closes {
		s.hangUp()
	} else if s.ask("session/close", map[string]string{"sessionId": s.result.Session}) != nil {
		s.hangUp() // it has given its result, and is ended
	}
	return process.Done
}

// update hears what the program does. What it has done in earlier calls, it says before it is at work.
func (s *acpTalk) update(params json.RawMessage) process.Reaction {
	var told struct{ Update acpUpdate }
	if decode(params, &told); s.asked != "session/prompt" {
		return process.GoOn
	}
	u := told.Update
	switch u.Kind {
	case "agent_message_chunk":
		s.words.add(u.text())
		s.result.Text = s.words.String()
		s.notify(u.text())
	case "tool_call":
		s.words.Reset()
		s.result.Text = "" // last words are those after the last tool
		if !u.answers() {
			s.result.ToolCalls++
		}
		fallthrough
	case "tool_call_update":
		u = u.after(s.tools[u.ID])
		if len(s.tools) > maxOpen {
			clear(s.tools)
		}
		s.tools[u.ID] = acpUpdate{Title: u.Title, RawInput: u.RawInput}
		if u.Status != "completed" && u.Status != "failed" {
			s.notify(u.Title + " " + target(u.RawInput, s.task.Dir))
			return process.GoOn
		}
		delete(s.tools, u.ID)
		then := s.came(string(u.Content) + string(u.RawOutput))
		if len(u.RawInput) > len("null") { // without it, two uses only look the same
			then = max(then, s.uses(u.Title+" "+string(u.RawInput)))
		}
		return then
	}
	return process.GoOn
}
