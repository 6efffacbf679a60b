package githubtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/api"
)

const mostInput = 16 << 20

// ServeHTTP answers one request, and lets a fault answer before or after what it
// does. Tests in which time must not depend on a connection call it without
// one. Faults that break a connection panic with http.ErrAbortHandler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Beside != nil && s.Beside(w, r) {
		return
	}
	in, nth, err := s.receive(w, r)
	if err != nil {
		return // the client is gone
	}
	fault := s.faults.next(nth, in.Method+" "+in.Path)
	w.Header().Set("X-GitHub-Media-Type", "github.v3; format=json")
	w.Header().Set("X-GitHub-Request-Id", fmt.Sprintf("C0DE:%d", nth))
	if fault != nil && !fault.After {
		s.answered(nth, fault.Seen(), false)
		s.fail(*fault, nil, w, r)
		return
	}
	a := s.api.Answer(in)
	if fault != nil {
		s.answered(nth, fault.Seen(), a.Done())
		s.fail(*fault, a.Body, w, r)
		return
	}
	s.answered(nth, a.Status, a.Done())
	a.Send(w)
}

// receive reads and notes a request.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (in *api.Incoming, nth int, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostInput))
	if err != nil {
		return nil, 0, err
	}
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	in = &api.Incoming{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Token: token, Tag: r.Header.Get("If-None-Match"), Body: body}
	if strings.Contains(r.Header.Get("Accept"), ".full+json") {
		in.Shown = s.Shown
	}
	s.api.Understand(in)
	path := in.Path
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	nth = s.add(Request{
		Method: r.Method, Route: in.Route(), Path: path, Token: token, Header: r.Header.Clone(), Body: body, content: in.Creates(), write: in.Writes(),
	})
	return in, nth, nil
}
