package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// Reply is one turn of the model. The zero value is an empty answer.
type Reply struct {
	Text  string
	Calls []Call // tools to use, after the text
	Usage Usage  // zero means 1000 input, 500 and 200 cached, 50 output tokens

	Delay time.Duration // before anything is sent
	Takes time.Duration // from the first piece of a stream to the last
	Hang  bool          // begin the answer and never go on
	Stops bool          // go on half way, and no further
	Cut   bool          // drop the connection half way through the answer

	Status     int    // an HTTP error instead of an answer; 0 means none
	Message    string // of the error; empty means a usual one
	RetryAfter string // the header that goes with it, in seconds
}

// Usage is what a turn costs, in tokens.
type Usage struct {
	Input      int // neither read from nor written to a cache
	CacheRead  int
	CacheWrite int
	Output     int
}

// Call is the use of a tool. The calls that the functions below make fit
// whatever the request offers; one with a Tool goes out under that name.
type Call struct {
	Tool  string
	Input any // a value with a JSON form; a string is sent as free text to a tool that takes that

	write  *file
	edit   *edit
	run    string
	served *served
	answer any
}

type file struct{ path, content string }

// served is a tool of a server.
type served struct {
	server, tool string
	input        any
}

// hands is the tool by which reviewers run commands.
func hands() served { return served{server: "reprise", tool: "run"} }

// submit is the tool by which programs give their answers.
func submit() served { return served{server: "reprise", tool: "submit"} }

// name is what programs call the tool.
func (s served) name() string { return "mcp__" + s.server + "__" + s.tool }

type edit struct{ path, old, new string }

// Say answers in words, which ends the agent's turn.
func Say(text string) Reply { return Reply{Text: text} }

// Tool calls a tool by the name it has in the request.
func Tool(name string, input any) Reply { return Reply{Calls: []Call{{Tool: name, Input: input}}} }

// Write writes a whole file, with claude's Write tool or codex's shell. The
// path is absolute.
func Write(path, content string) Reply {
	return Reply{Calls: []Call{{write: &file{path, content}}}}
}

// Edit replaces the only occurrence of old in a file, with claude's Edit tool or
// codex's apply_patch.
func Edit(path, old, new string) Reply {
	return Reply{Calls: []Call{{edit: &edit{path, old, new}}}}
}

// Run runs a shell command.
func Run(command string) Reply { return Reply{Calls: []Call{{run: command}}} }

// Served uses a tool that the program has from a server by MCP.
func Served(server, tool string, input any) Reply {
	return Reply{Calls: []Call{{served: &served{server, tool, input}}}}
}

// Answer gives the structured answer: through the tool that claude offers for
// it, and as the only words elsewhere. v has a JSON form.
func Answer(v any) Reply { return Reply{Calls: []Call{{answer: v}}} }

// Fail answers with an HTTP error, such as 401, 429, 500 or 529.
func Fail(status int) Reply { return Reply{Status: status} }

// RateLimit answers 429 and asks to come back after some seconds.
func RateLimit(seconds int) Reply {
	return Reply{Status: http.StatusTooManyRequests, RetryAfter: fmt.Sprint(seconds)}
}

// Hang begins an answer and never goes on, until the agent leaves.
func Hang() Reply { return Reply{Hang: true} }

// Cut begins to say the text and drops the connection.
func Cut(text string) Reply { return Reply{Text: text, Cut: true} }

// Costing returns the reply with that usage.
func (r Reply) Costing(u Usage) Reply { r.Usage = u; return r }

// After returns the reply with that delay.
func (r Reply) After(d time.Duration) Reply { r.Delay = d; return r }

// Over returns the reply as a stream that takes that long, one event after the other.
func (r Reply) Over(d time.Duration) Reply { r.Takes = d; return r }

// ThenHang returns the reply as a stream that goes no further than its middle, until the
// agent leaves.
func (r Reply) ThenHang() Reply { r.Stops = true; return r }

// And returns the reply with the words and calls of another one added, to be
// sent in one turn.
func (r Reply) And(more Reply) Reply {
	r.Text += more.Text
	r.Calls = append(r.Calls[:len(r.Calls):len(r.Calls)], more.Calls...)
	return r
}

func (r Reply) usage() Usage {
	if r.Usage == (Usage{}) {
		return Usage{Input: 1000, CacheRead: 500, CacheWrite: 200, Output: 50}
	}
	return r.Usage
}

func (r Reply) message() string {
	if r.Message != "" {
		return r.Message
	}
	switch r.Status {
	case http.StatusUnauthorized:
		return "invalid x-api-key"
	case http.StatusTooManyRequests:
		return "This request would exceed your rate limit"
	case 529:
		return "Overloaded"
	}
	return "Internal server error"
}

// shell is the call as a shell command, for agents whose only tool is one.
func (c Call) shell() string {
	switch {
	case c.write != nil:
		return fmt.Sprintf("mkdir -p %s && cat > %s <<'END_OF_FILE'\n%s\nEND_OF_FILE",
			quote(path.Dir(c.write.path)), quote(c.write.path), strings.TrimSuffix(c.write.content, "\n"))
	case c.edit != nil:
		return "apply_patch <<'END_OF_PATCH'\n" + c.patch() + "END_OF_PATCH"
	}
	return c.run
}

// patch is an edit in the form of codex's apply_patch.
func (c Call) patch() string {
	mark := func(sign, text string) string {
		return sign + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+sign) + "\n"
	}
	return "*** Begin Patch\n*** Update File: " + c.edit.path + "\n@@\n" +
		mark("-", c.edit.old) + mark("+", c.edit.new) + "*** End Patch\n"
}

// quote makes one word of s for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// compact is the JSON form of a value that may be JSON text already.
func compact(v any) json.RawMessage {
	if raw, ok := v.(string); ok && json.Valid([]byte(raw)) {
		return json.RawMessage(raw)
	}
	return json.RawMessage(mustJSON(v))
}
