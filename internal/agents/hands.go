package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// hands are a server of tools that the gate of a call has, as MCP has it
// (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports). By submit, a program gives its answer. By run,
// one that is to judge work runs commands, and has no shell of its own: each in the sandbox of a check, as what an agent has
// written must not meet the program, its key, or what it keeps of the session.
type hands struct {
	opts Options
	task engine.Task

	shell bool          // run is among its tools
	runs  bool          // the program is to run something
	most  time.Duration // that a command may take

	one    sync.Mutex // the copy of the work is as it was for each command
	ran    int        // commands
	dir    string     // the copy; "": it is to be made
	state  string     // of it
	broken error      // it could not be made

	submits sync.Mutex      // no answer waits for a command
	answer  json.RawMessage // the last one that was submitted
}

// The names of its tools. No other server is called as it is, see pipelines.Hands.
const handsRun, handsSubmit = "run", "submit"

// handsTaken is what a program is told of an answer that is as it is to be.
const handsTaken = "Taken. End now, without another word."

// What of a command's output its caller gets, in bytes: Claude Code takes about 50,000.
const handsHead, handsTail = 8_000, 12_000

// handsFor gives hands for a task, and leaves a program that may run commands no more than to read; nil: it needs none, or
// cannot be told of them. Codex reads by commands alone, and Gemini is told in a home of its own alone.
func (c cli) handsFor(t *engine.Task) *hands {
	if c.unknown() || c.name == "gemini" && c.opts.box == nil {
		return nil
	}
	h := &hands{opts: c.opts, runs: t.Access == pipelines.AccessRun, most: t.Timeout}
	own := c.agent.Tools.And(t.Tools).Own([]string{"Bash"})
	h.shell = t.Fresh != nil && (h.runs || c.name == "codex" && t.Access == pipelines.AccessRead) && (c.name != "claude" || len(own) > 0)
	h.runs = h.runs && h.shell
	if t.Access == pipelines.AccessRun {
		t.Access = pipelines.AccessRead
	}
	if !h.shell && t.Schema == nil {
		return nil
	}
	if h.task = *t; t.Idle > 0 {
		h.most = time.Duration((&Call{Task: *t}).patience()) * time.Millisecond * 9 / 10 // before the program gives it up
	}
	return h
}

// tools lists those that the program has.
func (h *hands) tools() (names []string) {
	if h.shell {
		names = append(names, handsRun)
	}
	if h.task.Schema != nil {
		names = append(names, handsSubmit)
	}
	return names
}

// described is what the program is told of its tools.
func (h *hands) described() (all []any) {
	for _, name := range h.tools() {
		says, takes := "Gives your answer. If something is wrong with it, you are told what: mend that, and submit it again.", any(h.task.Schema)
		if name == handsRun {
			says = fmt.Sprintf("Runs a shell command in a copy of %s, such as tests, git, or reading and searching files, and gives its output and exit status. What it changes there is taken back when it ends. Characters that a terminal would obey are shown as marks, such as ␛ and <U+202E>. It may take %v.", h.task.Dir, h.most)
			takes = map[string]any{
				"type": "object", "required": []string{"command"},
				"properties": map[string]any{"command": map[string]string{"type": "string", "description": "for /bin/sh"}},
			}
		}
		all = append(all, map[string]any{"name": name, "description": says, "inputSchema": takes})
	}
	return all
}

// message is one of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// ServeHTTP takes one message of the client.
func (h *hands) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Version   string `json:"protocolVersion"`
			Name      string
			Arguments json.RawMessage
			Meta      struct {
				Progress json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
	}
	if r.Method != http.MethodPost {
		http.Error(w, "reprise: this server has nothing to say unasked", http.StatusMethodNotAllowed)
		return
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&asked); err != nil {
		http.Error(w, fmt.Sprintf("reprise: expected one message of JSON-RPC: %v", err), http.StatusBadRequest)
		return
	}
	answer := message{Version: "2.0", ID: asked.ID}
	switch asked.Method {
	case "initialize":
		answer.Result = map[string]any{
			"protocolVersion": asked.Params.Version, "capabilities": map[string]any{"tools": struct{}{}},
			"serverInfo": map[string]string{"name": pipelines.Hands, "version": "1"},
		}
	case "ping":
		answer.Result = struct{}{}
	case "tools/list":
		answer.Result = map[string]any{"tools": h.described()}
	case "tools/call":
		var given struct{ Command string }
		switch is := asked.Params.Name; {
		case is == handsRun && h.shell && json.Unmarshal(asked.Params.Arguments, &given) == nil:
			h.call(r.Context(), w, answer, given.Command, asked.Params.Meta.Progress)
			return
		case is == handsSubmit && h.task.Schema != nil:
			answer.Result = h.submit(asked.Params.Arguments)
		default:
			answer.Error = map[string]any{"code": -32602, "message": "there is no such tool, or it takes other arguments"}
		}
	default:
		answer.Error = map[string]any{"code": -32601, "message": "there is no such method"}
	}
	if asked.ID == nil { // it wants no answer
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

// call answers with a stream that says at once that there will be an answer, and then that it still comes: Claude Code and
// Gemini wait a minute for its beginning, and Claude Code five for a sign of life.
func (h *hands) call(ctx context.Context, w http.ResponseWriter, answer message, command string, progress json.RawMessage) {
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(m message) {
		data, _ := json.Marshal(m)                                  // it is made of texts and numbers
		_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", data) // the client may be gone
		_ = http.NewResponseController(w).Flush()                   // as above
	}
	_ = http.NewResponseController(w).Flush() // as above
	done := make(chan string)
	go func() { done <- h.run(ctx, command) }()
	beat := time.NewTicker(5 * time.Second)
	defer beat.Stop()
	for n := 1; ; n++ {
		select {
		case text := <-done:
			answer.Result = toolResult(text, false)
			say(answer)
			return
		case <-beat.C:
			if progress != nil {
				say(message{Version: "2.0", Method: "notifications/progress", Params: map[string]any{"progressToken": progress, "progress": n}})
			} else {
				_, _ = io.WriteString(w, ": at work\n\n") // as above
				_ = http.NewResponseController(w).Flush() // as above
			}
		}
	}
}

// toolResult is what a tool gives back; wrong says that the program is to try again.
func toolResult(text string, wrong bool) any {
	return map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": wrong}
}

// submit takes an answer, and says what is wrong with it.
func (h *hands) submit(answer json.RawMessage) any {
	h.submits.Lock()
	defer h.submits.Unlock()
	h.answer = bytes.Clone(answer)
	if h.task.Wrong != nil {
		if why := h.task.Wrong(h.answer); why != "" {
			return toolResult("Not taken: "+why, true)
		}
	}
	return toolResult(handsTaken, false)
}

// run runs a command, and says what came of it.
func (h *hands) run(ctx context.Context, command string) string {
	h.one.Lock()
	defer h.one.Unlock()
	if strings.TrimSpace(command) == "" {
		return "There is no command. Give one as `command`."
	}
	if now, unknown := sandbox.StateOf(h.dir); unknown != nil || now != h.state {
		if h.dir, h.broken = h.task.Fresh(ctx); h.broken == nil {
			h.state, h.broken = sandbox.StateOf(h.dir)
			time.Sleep(20 * time.Millisecond) // some systems count so coarsely that a change at once would not be seen
		}
	}
	switch {
	case ctx.Err() != nil: // nobody waits for it any more, but for others
		h.broken = nil
		return ctx.Err().Error()
	case h.broken != nil:
		return fmt.Sprintf("No command can be run: %v", h.broken)
	}
	out := &process.Excerpt{HeadMax: handsHead, TailMax: handsTail, Show: func(printed string) string { // it may be a file under review
		return text.Visible(colours().ReplaceAllString(printed, ""))
	}}
	command = strings.ReplaceAll(command, h.task.Dir, h.dir) // so the program knows one folder alone
	r, err := h.opts.runCheck(ctx, h.dir, pipelines.Check{Name: handsRun, Run: command, Network: h.task.Network, Timeout: pipelines.Duration(h.most)}, out)
	if err != nil {
		return err.Error()
	}
	h.ran++
	output := strings.ReplaceAll(r.Output, h.dir, h.task.Dir)
	end := fmt.Sprintf("[exit status %d after %v]", r.ExitCode, time.Duration(r.DurationMS)*time.Millisecond)
	return strings.Join(slices.DeleteFunc([]string{output, end}, func(s string) bool { return s == "" }), "\n")
}

// owed reports whether an answer is awaited that the program has not tried to give.
func (h *hands) owed() bool {
	if h == nil || h.task.Schema == nil {
		return false
	}
	h.submits.Lock()
	defer h.submits.Unlock()
	return h.answer == nil
}

// conclude adds to the result of a call what it came to by its hands. Of who judges work no answer counts but one that was
// submitted: what a message quotes is none. Its gate is closed by then.
func (h *hands) conclude(r *engine.Result) error {
	r.RanNothing, r.Structured = h.runs && h.ran == 0, h.answer
	if h.answer == nil && h.task.Schema != nil && h.task.Fresh != nil {
		r.Structured = json.RawMessage("null")
	}
	return h.broken
}
