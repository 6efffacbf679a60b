package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// API is a protocol.
type API string

// The protocols.
const (
	Messages  API = "messages"  // Anthropic, spoken by claude
	Responses API = "responses" // OpenAI, spoken by codex
	Chat      API = "chat"      // OpenAI, spoken by opencode, qwen and copilot
	Gemini    API = "gemini"    // Google, spoken by gemini
)

// Request is what an agent program asks the model.
type Request struct {
	N        int    // model calls on this server before this one, repeated ones counted
	API      API    //
	Stream   bool   // false when the whole answer is wanted at once, as claude does after a stream broke off
	Model    string // as asked for
	Session  string // the program's own id of the conversation
	System   string // all instructions, joined by blank lines
	Messages []Message
	Tools    []string        // names of the tools on offer, in order
	Schema   json.RawMessage // of the structured answer; nil if none is asked for
	Header   http.Header
	Body     []byte
}

// Message is one piece of the conversation: words, a tool call, or its result.
type Message struct {
	Kind Kind
	Role string // user, assistant, or system (developer counts as system)
	Text string // the words, the input of the call as JSON, or the result
	Tool string // name, of a call
	ID   string // joins a result to its call
	// Images are the bytes of those in it.
	Images [][]byte
	Bad    bool // of a result: the tool was refused or failed, where the protocol says so
}

// Kind says what a message is.
type Kind string

// The kinds of messages.
const (
	Words  Kind = "words"
	Use    Kind = "call"
	Result Kind = "result"
)

// Prompt is the newest thing the user said, without what the program itself
// adds to it.
func (r Request) Prompt() string {
	if i := r.prompt(); i >= 0 {
		return r.Messages[i].Text
	}
	return ""
}

// Prompts is everything the user said, oldest first. More than one means that
// a session goes on.
func (r Request) Prompts() []string {
	var all []string
	for _, m := range r.Messages {
		if m.isPrompt() {
			all = append(all, m.Text)
		}
	}
	return all
}

// Results are the results of the tools used since the newest prompt.
func (r Request) Results() []Message {
	var all []Message
	for _, m := range r.Messages[r.prompt()+1:] {
		if m.Kind == Result {
			all = append(all, m)
		}
	}
	return all
}

// Offers says whether the model may use the tool.
func (r Request) Offers(tool string) bool {
	for _, t := range r.Tools {
		if t == tool {
			return true
		}
	}
	return false
}

// submitted gives the answer that was submitted last, as JSON, and what was said of it; nothing if something came after it.
func (r Request) submitted() (answer, said string) {
	for i := len(r.Messages) - 1; i > 0 && r.Messages[i].Kind == Result; i-- {
		for _, use := range r.Messages[:i] {
			if use.Kind == Use && use.ID == r.Messages[i].ID && strings.HasSuffix(use.Tool, submit().tool) {
				return sortedJSON([]byte(use.Text)), r.Messages[i].Text
			}
		}
	}
	return "", ""
}

// sortedJSON gives a value with its fields in order.
func sortedJSON(raw []byte) string {
	var v any
	_ = json.Unmarshal(raw, &v) // what is none is no answer of a script
	return mustJSON(v)
}

// prompt is the index of the newest prompt, or -1.
func (r Request) prompt() int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].isPrompt() {
			return i
		}
	}
	return -1
}

// isPrompt tells the user's words from what the programs say in the user's
// name: context, wrapped in tags, and reminders.
func (m Message) isPrompt() bool {
	if m.Role != "user" || m.Kind != Words {
		return false
	}
	for _, tag := range []string{"<system-reminder>", "<environment_context>", "<skills_instructions>", "# AGENTS.md instructions", "[structured-output-enforce]", "Continue from where you left off."} {
		if strings.HasPrefix(strings.TrimSpace(m.Text), tag) {
			return false
		}
	}
	return true
}
