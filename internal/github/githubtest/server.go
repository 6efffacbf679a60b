// Package githubtest is a GitHub in memory that speaks HTTP: repositories,
// issues, comments, pull requests and rights that keep their state, answers
// with the fields that GitHub really sends, and faults on demand.
//
// Every request and every answer is held against GitHub's own description of
// its API: what a client gets wrong fails the test that it runs in.
package githubtest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/openapi"
)

// Host is what a server runs in, and where it says what is wrong: a test, or
// a program that is none.
type Host interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Server is one GitHub. Its methods may be called while it serves. Those that
// name what is not there report it to the host, and give nothing.
//
// It also answers under URL + "/api/v3", as GitHub Enterprise does.
type Server struct {
	URL string // of the API; GITHUB_API_URL takes it

	host   Host
	web    string // where people would see it
	http   *httptest.Server
	ending context.Context // is done when the test ends
	api    *openapi.Description
	routes []route

	mu        sync.Mutex
	repos     map[string]*repository // by name in small letters
	accounts  map[string]*account    // by login in small letters
	tokens    map[string]*token
	faults    map[string][]Fault // by route
	faultAt   map[int]Fault      // by the number of the request, from 1
	faultWhen func(Request) *Fault
	requests  []Request
	hung      int // requests, so far
	now       time.Time
	clock     func() time.Time // nil: now, which goes on a second with every change
	nextID    int64
	limit     secondary
	extra     map[string]func(*Desk) Result // by method and path

	// Beside answers requests that are not for the API, and reports whether it did. Shown
	// gives the HTML in which people see a text. Both are set before the first request. If
	// Beside is nil nothing else is answered; if Shown is nil texts are shown unchanged.
	Beside func(w http.ResponseWriter, r *http.Request) bool
	Shown  func(text string) (html string)
}

// New starts a server that ends with the test.
func New(host Host) *Server {
	host.Helper()
	s := &Server{
		host: host, web: "https://github.com", routes: routes(),
		repos: map[string]*repository{}, accounts: map[string]*account{}, tokens: map[string]*token{},
		faults: map[string][]Fault{}, faultAt: map[int]Fault{}, faultWhen: func(Request) *Fault { return nil }, extra: map[string]func(*Desk) Result{}, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), nextID: 1000,
	}
	ending, end := context.WithCancel(context.Background())
	s.ending = ending
	var err error
	if s.api, err = described(); err != nil {
		host.Errorf("githubtest: %v", err)
		s.api = &openapi.Description{}
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	host.Cleanup(func() {
		end()
		s.http.Close()
	})
	return s
}

// SetClock makes the server tell the time by a clock. Without one, it begins
// in March 2026, and a second passes with every change.
func (s *Server) SetClock(clock func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = clock
}

// time is the time of the server. The caller holds the lock.
func (s *Server) time() time.Time {
	if s.clock != nil {
		return s.clock().UTC().Truncate(time.Second)
	}
	return s.now
}

// tick is the time of a change. The caller holds the lock.
func (s *Server) tick() time.Time {
	s.now = s.now.Add(time.Second)
	return s.time()
}

// id gives a number that nothing else has, and that is greater than all
// before. The caller holds the lock.
func (s *Server) id() int64 {
	s.nextID++
	return s.nextID
}

// serve answers one request, and lets a fault answer before or after what it
// does.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.Beside != nil && s.Beside(w, r) {
		return
	}
	in, err := s.receive(w, r)
	if err != nil {
		return // the client is gone
	}
	fault := s.nextFault(in)
	w.Header().Set("X-GitHub-Media-Type", "github.v3; format=json")
	w.Header().Set("X-GitHub-Request-Id", fmt.Sprintf("C0DE:%d", in.nth))
	if fault != nil && !fault.After {
		s.answered(in, fault.Seen(), false)
		s.fail(*fault, nil, w, r)
		return
	}
	a := s.answer(in)
	if fault != nil {
		s.answered(in, fault.Seen(), a.status < 300)
		s.fail(*fault, a.body, w, r)
		return
	}
	s.answered(in, a.status, a.status < 300)
	a.send(w)
}

// answer does what a request asks for.
func (s *Server) answer(in *incoming) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &visit{Server: s, in: in, token: s.tokens[in.token]}
	a := v.reply(v.answer())
	if wrong := checkAnswer(s.api, in.route, a.status, a.body); len(wrong) > 0 {
		s.host.Errorf("githubtest: the answer %d to %s %s is not GitHub's: %s", a.status, in.method, in.path, strings.Join(wrong, "; "))
	}
	a.ifNew(in)
	s.count(v.token, a)
	return a
}

// Desk is a repository while the server is locked, for a package that keeps a
// part of GitHub which is not kept here, such as reviews.
type Desk struct {
	s *Server
	r *repository
	v *visit // nil: no request is answered
}

// Result is what becomes of a request.
type Result = result

// Extend has requests answered by another package. The operation is one of
// routes; it is held against GitHub's description as all others are.
func (s *Server) Extend(method, path string, do func(*Desk) Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra[method+" "+inRepo+path] = do
}

// With looks at a repository, or changes what belongs to it.
func (s *Server) With(repo string, do func(*Desk)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&Desk{s: s, r: s.repository(repo)})
}

// OK answers with a value, Created with one that was made, Found with where it is,
// Refuse with an error, and Page with a part of a list.
func (d *Desk) OK(value any) Result      { return ok(value) }
func (d *Desk) Created(value any) Result { return created(value) }
func (d *Desk) Found(to string) Result {
	return result{status: http.StatusFound, header: map[string]string{"Location": to}}
}
func (d *Desk) Refuse(status int, message string) Result { return refuse(status, message) }
func (d *Desk) Page(all []any) Result                    { return page(d.v, all, func(v any) any { return v }) }

// Param reads a number in the path, Text what stands there or in the query, Input
// what was sent under a name, and Login is who asks.
func (d *Desk) Param(name string) int64 { return d.v.number(name) }

func (d *Desk) Text(name string) string { return cmp.Or(d.v.in.params[name], d.v.in.query.Get(name)) }
func (d *Desk) Input(name string) any   { value, _ := field[any](d.v, name); return value }
func (d *Desk) Login() string           { return d.v.login() }

// ID is a new number, and Now the time of a change.
func (d *Desk) ID() int64      { return d.s.id() }
func (d *Desk) Now() time.Time { return d.s.tick() }

// User, Association and PullObject are objects as GitHub sends them; Association
// is how it calls who writes there.
func (d *Desk) User(login string) any           { return d.s.user(login) }
func (d *Desk) Association(login string) string { return d.r.association(login) }
func (d *Desk) PullObject(number int) map[string]any {
	return d.s.pullObject(d.r, d.r.pulls[number], false)
}

// RepositoryObject is the repository, Head the commit of a branch, and RunObject a
// run of a workflow there.
func (d *Desk) RepositoryObject() map[string]any  { return d.s.repositoryObject(d.r) }
func (d *Desk) Head(branch string) string         { return d.s.sha(d.r, branch) }
func (d *Desk) RunObject(run *Run) map[string]any { return d.s.runObject(d.r, run) }

// IssueObject is an issue, or a pull request as one.
func (d *Desk) IssueObject(number int) map[string]any {
	return d.s.issueObject(d.r, d.r.issues[number])
}

// Pull is a pull request.
func (d *Desk) Pull(number int) *Pull { return d.r.pulls[number] }
