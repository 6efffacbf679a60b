package githubtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// incoming is a request that has come, and what is known of it before anybody
// looks into the state.
type incoming struct {
	nth          int // from 1
	method, path string
	query        url.Values
	token        string
	tag          string // of If-None-Match
	full         bool   // bodies are asked for as HTML, too
	body         []byte
	input        any // the body as JSON; nil if there is none
	route        *route
	params       map[string]string
	wrong        []string // in what it is not as GitHub describes it
}

const mostInput = 16 << 20

// receive reads and notes a request, and reports one that GitHub does not
// know.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (*incoming, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostInput))
	if err != nil {
		return nil, err
	}
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	in := &incoming{method: r.Method, query: r.URL.Query(), token: token, tag: r.Header.Get("If-None-Match"), body: body, full: strings.Contains(r.Header.Get("Accept"), ".full+json")}
	s.mu.Lock()
	defer s.mu.Unlock()
	in.path = s.place(r.URL.EscapedPath())
	s.requests = append(s.requests, Request{
		Method: r.Method, Path: withQuery(in.path, r.URL.RawQuery), Token: token, Header: r.Header.Clone(), Body: body,
	})
	in.nth = len(s.requests)
	s.understand(in)
	if len(in.wrong) > 0 {
		s.host.Errorf("githubtest: GitHub's API has no request %s %s: %s", in.method, withQuery(in.path, r.URL.RawQuery), strings.Join(in.wrong, "; "))
	}
	return in, nil
}

// place is the path under which a request is known: without the prefix of
// GitHub Enterprise, and with the name of a repository that is given by id.
func (s *Server) place(path string) string {
	if path == "/api/graphql" {
		return "/graphql"
	}
	path = strings.TrimPrefix(path, "/api/v3")
	rest, ok := strings.CutPrefix(path, "/repositories/")
	if !ok {
		return path
	}
	id, rest, _ := strings.Cut(rest, "/")
	for _, repo := range s.repos {
		if text(repo.id) == id {
			return strings.TrimSuffix("/repos/"+repo.fullName()+"/"+rest, "/")
		}
	}
	return path
}

func withQuery(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

// understand finds the route of a request, and holds it against GitHub's
// description.
func (s *Server) understand(in *incoming) {
	in.route, in.params = find(s.routes, in.method, in.path)
	if in.route == nil {
		in.wrong = []string{"there is no such route"}
		return
	}
	s.requests[in.nth-1].Route = in.method + " " + in.route.path
	if len(in.body) > 0 && json.Unmarshal(in.body, &in.input) != nil {
		in.wrong = []string{"its body is no JSON"}
		return
	}
	if in.route.path != "/graphql" { // it has no description here; see graphQL
		in.wrong = s.api.CheckRequest(in.route.method, in.route.path, in.params, in.query, in.input)
	}
}
