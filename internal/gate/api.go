package gate

import (
	"encoding/json"
	"net/http"
	"path"
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
	get, post := method == http.MethodGet, method == http.MethodPost
	switch a {
	case Anthropic:
		switch {
		case post && at == "/v1/messages":
			return asksModel, ""
		case post && at == "/v1/messages/count_tokens", get && below(at, "/v1/models"):
			return free, ""
		}
	case OpenAI:
		switch {
		case post && (at == "/responses" || at == "/responses/compact" || at == chatCompletions):
			return asksModel, ""
		case get && below(at, "/models"):
			return free, ""
		}
	case Gemini:
		return geminiPurpose(get, post, at)
	}
	return unknownTo, ""
}

func geminiPurpose(get, post bool, at string) (purpose, string) {
	parts := strings.Split(at, "/") // "", version, "models", name:action
	if len(parts) < 3 || parts[2] != "models" {
		return unknownTo, ""
	}
	if get && len(parts) <= 4 && !strings.Contains(at, ":") {
		return free, ""
	}
	if !post || len(parts) != 4 {
		return unknownTo, ""
	}
	switch model, action, _ := strings.Cut(parts[3], ":"); action {
	case "generateContent", "streamGenerateContent":
		return asksModel, model
	case "countTokens":
		return free, ""
	}
	return unknownTo, ""
}

// takes reports whether a parameter of an address is passed on: no key, and at
// Google none that has the service take a request for another one, or answer in a
// form that the gate cannot read.
func (a API) takes(name string, values []string) bool {
	if a == Gemini && name == "alt" {
		return len(values) == 1 && (values[0] == "sse" || values[0] == "json")
	}
	return name != "key" && (a != Gemini || !strings.HasPrefix(name, "$") && name != "access_token")
}

// below reports whether a path is a folder or one entry of it.
func below(at, folder string) bool {
	rest, ok := strings.CutPrefix(at, folder)
	return ok && (rest == "" || rest[0] == '/' && !strings.Contains(rest[1:], "/"))
}

// words by which the protocols name a status.
var statusWords = map[API]map[int]string{
	Anthropic: {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large"},
	OpenAI:    {400: "invalid_request_error", 401: "invalid_request_error", 403: "invalid_request_error", 404: "invalid_request_error"},
	Gemini:    {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"},
}

// failure is the body of an error as the provider would write it.
func (a API) failure(status int, code, message string) []byte {
	word, ok := statusWords[a][status]
	if !ok {
		word = map[API]string{Anthropic: "api_error", OpenAI: "server_error", Gemini: "UNAVAILABLE"}[a]
	}
	var body any
	switch a {
	case Anthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": word, "message": message}}
	case Gemini:
		body = map[string]any{"error": map[string]any{"code": status, "message": message, "status": word}}
	default:
		body = map[string]any{"error": map[string]any{"message": message, "type": word, "param": nil, "code": code}}
	}
	data, _ := json.Marshal(body) // strings and numbers only
	return data
}

// fail answers a request with an error of the provider. Clients that hold to the
// header of the providers' own libraries do not try again.
func (a API) fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_, _ = w.Write(a.failure(status, code, message)) // whoever asked may be gone
}
