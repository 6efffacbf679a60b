package githubtest

import (
	"net/http"
	"slices"
)

// Request is one that came, whatever became of it.
type Request struct {
	Method string
	Route  string // as Routes has it; "" if there is none
	Path   string // with the query, without the prefix of GitHub Enterprise
	Token  string // without its scheme; empty if it had none
	Header http.Header
	Body   []byte

	Status int  // as the client got it; 0 if it got none, or has none yet
	Effect bool // what it asked for was done, whatever the client was told

	content, write bool
}

// Requests lists what has come so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Counts says how many requests have come.
type Counts struct {
	Calls int // all of them
	// Writes are those that ask for a change: every method besides GET and HEAD,
	// and in GraphQL the mutations.
	Writes int
	// Content are those that count towards the secondary limit on creating
	// content: POST and PATCH of issues, comments, reactions, labels of an issue,
	// sub-issues and pull requests. Refused ones count; deleting, dispatching and
	// marking a pull request as ready do not.
	Content int
	Free    int // answered with 304: they do not count towards the rate limit
}

// Counts counts the requests so far.
func (s *Server) Counts() Counts {
	var c Counts
	for _, r := range s.Requests() {
		c.Calls++
		if r.write {
			c.Writes++
		}
		if r.content {
			c.Content++
		}
		if r.Status == http.StatusNotModified {
			c.Free++
		}
	}
	return c
}

// answered notes what became of a request.
func (s *Server) answered(in *incoming, status int, effect bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.requests[in.nth-1]
	r.Status, r.Effect = status, effect
	if in.route != nil {
		r.content, r.write = in.route.content, in.route.writes() || in.route.path == "/graphql" && isMutation(in.input)
	}
}
