// Package githubtest is a GitHub in memory that speaks HTTP: repositories,
// issues and rights that keep their state, answers with the fields that
// GitHub really sends, and faults on demand.
package githubtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is one GitHub. Its methods may be called while it serves.
type Server struct {
	URL string // of the API; GITHUB_API_URL takes it

	t    testing.TB
	web  string // where people would see it
	http *httptest.Server
	done chan struct{} // closed when the test ends

	mu       sync.Mutex
	repos    map[string]*repository // by name in small letters
	tokens   map[string]string      // token to login
	faults   map[string][]Fault     // by route
	requests []Request
	now      time.Time
	nextID   int64
}

// Request is one that came, whatever became of it.
type Request struct {
	Method string
	Path   string // with the query
	Token  string // without its scheme; empty if it had none
	Header http.Header
}

// repository has what people see under one owner/name.
type repository struct {
	owner, name string
	id          int64
	private     bool
	issues      map[int]*Issue
	roles       map[string]string // login to role
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		t: t, web: "https://github.com", done: make(chan struct{}), repos: map[string]*repository{}, tokens: map[string]string{},
		faults: map[string][]Fault{}, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), nextID: 1000,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /repos/{owner}/{repo}/issues/{number}", s.inRepository(s.getIssue))
	mux.HandleFunc("GET /repos/{owner}/{repo}/collaborators/{user}/permission", s.inRepository(s.getPermission))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { notFound(w) })
	s.http = httptest.NewServer(s.record(mux))
	s.URL = s.http.URL
	t.Cleanup(func() {
		close(s.done)
		s.http.Close()
	})
	return s
}

// AddToken makes a token known, and whose it is. One that is not known is
// refused, and no token sees what is public.
func (s *Server) AddToken(token, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = login
}

// AddRepository adds owner/name, or makes it private if it is there.
func (s *Server) AddRepository(name string, private bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(name).private = private
}

// Permit gives somebody a role in a repository: read, triage, write, maintain,
// admin, or none.
func (s *Server) Permit(name, login, role string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(name).roles[login] = role
}

// Requests lists what has come so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// repository finds owner/name, or adds it. The caller holds the lock.
func (s *Server) repository(fullName string) *repository {
	key := strings.ToLower(fullName)
	if r := s.repos[key]; r != nil {
		return r
	}
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok {
		s.t.Fatalf("githubtest: %q is not owner/name", fullName)
	}
	r := &repository{owner: owner, name: name, id: s.id(), issues: map[int]*Issue{}, roles: map[string]string{owner: "admin"}}
	s.repos[key] = r
	return r
}

// id gives a number that nothing else has. The caller holds the lock.
func (s *Server) id() int64 {
	s.nextID++
	return s.nextID
}

// record notes every request, and lets a fault answer it first.
func (s *Server) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		route := r.Method + " " + r.URL.Path
		s.mu.Lock()
		s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.RequestURI(), Token: token, Header: r.Header.Clone()})
		login, known := s.tokens[token]
		var fault *Fault
		if queue := s.faults[route]; len(queue) > 0 {
			fault, s.faults[route] = &queue[0], queue[1:]
		}
		s.mu.Unlock()
		h := w.Header()
		h.Set("X-GitHub-Media-Type", "github.v3; format=json")
		h.Set("X-GitHub-Request-Id", fmt.Sprintf("C0DE:%d", len(s.Requests())))
		switch {
		case fault != nil:
			s.serve(*fault, w, r)
		case token != "" && !known:
			fail(w, http.StatusUnauthorized, "Bad credentials")
		default:
			limits(h, login, s.now)
			next.ServeHTTP(w, r)
		}
	})
}

// limits are the headers that count requests. They never run out by themselves.
func limits(h http.Header, login string, now time.Time) {
	limit := "60"
	if login != "" {
		limit = "5000"
	}
	h.Set("X-RateLimit-Limit", limit)
	h.Set("X-RateLimit-Remaining", limit)
	h.Set("X-RateLimit-Used", "0")
	h.Set("X-RateLimit-Resource", "core")
	h.Set("X-RateLimit-Reset", fmt.Sprint(now.Add(time.Hour).Unix()))
}

// inRepository finds the repository of a request, and hides a private one
// from who has no role in it.
func (s *Server) inRepository(handle func(http.ResponseWriter, *http.Request, *repository)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		s.mu.Lock()
		defer s.mu.Unlock()
		repo := s.repos[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("repo"))]
		if repo == nil || repo.private && rank(repo.roles[s.tokens[token]]) < rank("read") {
			notFound(w)
			return
		}
		handle(w, r, repo)
	}
}
