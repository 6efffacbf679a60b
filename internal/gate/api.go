package gate

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
)

// API is a protocol in which programs speak with models.
type API string

// The protocols. OpenAI has two, Responses and Chat Completions, at one address.
const (
	Anthropic API = "anthropic"
	OpenAI    API = "openai"
	Gemini    API = "gemini"
)

const chatCompletions = "/chat/completions"

// purpose is what a request to a provider is for.
type purpose int

const (
	unknownTo purpose = iota // the gate: a key may do much that no agent needs
	free                     // it costs nothing
	asksModel
)

// purposeOf tells what a request is for by its method and the path below the base
// address. Of a Gemini model the path also has the name.
func (a API) purposeOf(method, at string) (what purpose, model string) {
	if at != path.Clean(at) || strings.ContainsAny(at, `%\\`) {
		return unknownTo, ""
	}
	if a == Gemini { // the colon is before what a model is to do
		colons := strings.Count(at, ":")
		if colons > 1 || (colons == 1) != (method == http.MethodPost) {
			return unknownTo, ""
		}
		model, _, _ = strings.Cut(path.Base(at), ":")
	}
	fits := func(pattern string) bool {
		ok, _ := path.Match(pattern, method+" "+at) // the patterns are ours
		return ok
	}
	switch p := protocols()[a]; {
	case slices.ContainsFunc(p.Asks, fits):
		return asksModel, model
	case slices.ContainsFunc(p.Free, fits):
		return free, ""
	}
	return unknownTo, ""
}

// takes reports whether a parameter of an address is passed on: no key, and nothing that has Google answer in a form
// that cannot be read.
func (a API) takes(name string, values []string) bool {
	if a == Gemini && name == "alt" {
		return len(values) == 1 && (values[0] == "sse" || values[0] == "json")
	}
	return name != "key" && (a != Gemini || !strings.HasPrefix(name, "$") && name != "access_token")
}

// fail answers a request with an error as the provider would write it, which clients do not try again.
func (a API) fail(w http.ResponseWriter, status int, code, message string) {
	word, ok := protocols()[a].Statuses[status]
	if !ok {
		word = protocols()[a].Otherwise
	}
	var body map[string]any
	switch a {
	case Anthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": word, "message": message}}
	case Gemini:
		body = map[string]any{"error": map[string]any{"code": status, "message": message, "status": word}}
	default:
		body = map[string]any{"error": map[string]any{"message": message, "type": word, "param": nil, "code": code}}
	}
	data, _ := json.Marshal(body) // strings and numbers only
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_, _ = w.Write(data) // whoever asked may be gone
}
