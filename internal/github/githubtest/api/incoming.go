package api

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/openapi"
)

// Incoming is a request that has come, and what is known of it before anybody looks into
// the state.
type Incoming struct {
	Method, Path string // the path is as it was sent, until Understand
	Query        url.Values
	Token        string
	Tag          string // of If-None-Match
	Body         []byte
	// Shown gives the HTML in which people see a text; nil if that was not asked for.
	Shown func(text string) string

	input  any // the body as JSON; nil if there is none
	route  *route
	params map[string]string
	wrong  []string // in what it is not as GitHub describes it
}

// String is its method, and its path with the query.
func (in *Incoming) String() string {
	if len(in.Query) == 0 {
		return in.Method + " " + in.Path
	}
	return in.Method + " " + in.Path + "?" + in.Query.Encode()
}

// Route is the operation that it asks for, as Routes has it; empty if there is none.
func (in *Incoming) Route() string {
	if in.route == nil {
		return ""
	}
	return in.route.method + " " + in.route.path
}

// Creates reports whether GitHub counts it as creating content.
func (in *Incoming) Creates() bool { return in.route != nil && in.route.content }

// Writes reports whether it asks for a change.
func (in *Incoming) Writes() bool {
	return in.route != nil && (in.route.writes() || in.route.path == "/graphql" && isMutation(in.input))
}

// understand finds the route of a request, and holds it against GitHub's description.
func (in *Incoming) understand(routes []route, described *openapi.Description) {
	in.route, in.params = find(routes, in.Method, in.Path)
	if in.route == nil {
		in.wrong = []string{"there is no such route"}
		return
	}
	if len(in.Body) > 0 && json.Unmarshal(in.Body, &in.input) != nil {
		in.wrong = []string{"its body is no JSON"}
		return
	}
	if in.route.path != "/graphql" { // it has no description here; see graphQL
		in.wrong = described.CheckRequest(in.route.method, in.route.path, in.params, in.Query, in.input)
	}
}

// isMutation reports whether a query of GraphQL asks for a change.
func isMutation(input any) bool {
	o, _ := input.(object)
	query, _ := o["query"].(string)
	return strings.HasPrefix(strings.TrimSpace(query), "mutation")
}
