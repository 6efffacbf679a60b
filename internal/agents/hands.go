package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// hands run commands for a program that is to judge work, which has no shell of its own: each in the sandbox of a check, as
// what an agent has written must not meet the program, its key, or what it keeps of the session. They are a server of tools
// as MCP has it (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports), with one tool.
type hands struct {
	opts Options
	task engine.Task
	runs bool          // it is to run something
	most time.Duration // that a command may take

	one    sync.Mutex // the copy of the work is as it was for each command
	ran    int        // commands
	state  string     // of the copy, once it is known
	broken error      // the copy could not be made again
}

// The names of the server and of its tool. No other server has that name, see pipelines.Hands.
const handsTool = "run"

// What of a command's output its caller gets, in bytes: Claude Code takes about 50,000.
const handsHead, handsTail = 8_000, 12_000

// handsFor gives hands for a task that looks at work and may run it, and leaves the program no more than to read; nil: the
// program has none. Codex reads by commands alone, and Gemini can be told of hands in a home of its own alone.
func (c cli) handsFor(t *engine.Task) *hands {
	runs := t.Access == pipelines.AccessRun
	if c.Install == "" || !runs && (c.name != "codex" || t.Access != pipelines.AccessRead) || c.name == "gemini" && c.opts.box == nil {
		return nil
	}
	t.Access = pipelines.AccessRead
	own, _, _ := c.agent.Tools.And(t.Tools).Own([]string{"Bash"})
	if t.Fresh == nil || c.name == "claude" && len(own) == 0 {
		return nil
	}
	most := t.Timeout
	if t.Idle > 0 {
		most = time.Duration((&Call{Task: *t}).patience()) * time.Millisecond * 9 / 10 // before the program gives it up
	}
	return &hands{opts: c.opts, task: *t, runs: runs, most: most}
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
			Arguments struct{ Command string }
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
		answer.Result = map[string]any{"tools": []any{map[string]any{
			"name":        handsTool,
			"description": fmt.Sprintf("Runs a shell command in %s, such as tests, git, or reading and searching files, and gives its output and exit status. Whatever it changes there is taken back when it ends. It may take %v.", h.task.Dir, h.most),
			"inputSchema": map[string]any{
				"type": "object", "required": []string{"command"},
				"properties": map[string]any{"command": map[string]string{"type": "string", "description": "for /bin/sh"}},
			},
		}}}
	case "tools/call":
		h.call(r.Context(), w, answer, asked.Params.Arguments.Command, asked.Params.Meta.Progress)
		return
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
			answer.Result = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}}
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

// run runs a command, and says what came of it.
func (h *hands) run(ctx context.Context, command string) string {
	h.one.Lock()
	defer h.one.Unlock()
	if strings.TrimSpace(command) == "" {
		return "There is no command. Give one as `command`."
	}
	if h.broken == nil && h.state == "" {
		h.state, h.broken = sandbox.StateOf(h.task.Dir)
	}
	if h.broken != nil {
		return fmt.Sprintf("No command can be run: %v", h.broken)
	}
	out := &process.Excerpt{HeadMax: handsHead, TailMax: handsTail}
	r, err := h.opts.runCheck(ctx, h.task.Dir, pipelines.Check{Name: handsTool, Run: command, Network: h.task.Network, Timeout: pipelines.Duration(h.most)}, out)
	h.ran++
	if now, unknown := sandbox.StateOf(h.task.Dir); unknown != nil || now != h.state {
		h.broken = h.task.Fresh(ctx)
		h.state = ""
	}
	if err != nil {
		return err.Error()
	}
	end := fmt.Sprintf("[exit status %d after %v]", r.ExitCode, time.Duration(r.DurationMS)*time.Millisecond)
	return strings.Join(slices.DeleteFunc([]string{r.Output, end}, func(s string) bool { return s == "" }), "\n")
}

// over gives how many commands there were, and why there could be no more.
func (h *hands) over() (ran int, err error) {
	h.one.Lock()
	defer h.one.Unlock()
	if errors.Is(h.broken, context.Canceled) { // the program was gone before the command was over
		return h.ran, nil
	}
	return h.ran, h.broken
}
