// Package githubtest is a GitHub in memory that speaks HTTP: repositories,
// issues, comments, pull requests and rights that keep their state, answers
// with the fields that GitHub really sends, and faults on demand.
//
// Every request and every answer is held against GitHub's own description of
// its API: what a client gets wrong fails the test that it runs in.
package githubtest

import (
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/api"
	"github.com/reprise-ci/reprise/internal/github/githubtest/openapi"
	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Server is one GitHub. Its methods may be called while it serves. Those that
// name what is not there report it to the host, and give nothing.
//
// It also answers under URL + "/api/v3", as GitHub Enterprise does.
type Server struct {
	URL string // of the API; GITHUB_API_URL takes it

	accounts
	repositories
	issues
	comments
	pulls
	jobs
	payloads
	*requests
	*faults

	world *world
	api   *api.API

	// Beside answers requests that are not for the API, and reports whether it did. Shown
	// gives the HTML in which people see a text. Both are set before the first request. If
	// Beside is nil nothing else is answered; if Shown is nil texts are shown unchanged.
	Beside func(w http.ResponseWriter, r *http.Request) bool
	Shown  func(text string) (html string)
}

// New starts a server that ends with the test.
func New(host Host) *Server {
	host.Helper()
	d, err := described()
	if err != nil {
		host.Errorf("githubtest: %v", err)
		d = &openapi.Description{}
	}
	s := &Server{world: &world{state.New(), host}, requests: &requests{}}
	s.faults = newFaults(s.requests)
	listening := httptest.NewUnstartedServer(s)
	s.URL = "http://" + listening.Listener.Addr().String()
	show := shape.Objects{State: s.world.State, API: s.URL, Web: "https://github.com"} // where people would see it
	s.api = api.New(show, d, host)
	s.accounts, s.repositories = accounts{s.world}, repositories{s.world}
	s.issues, s.comments, s.pulls, s.jobs = issues{s.world}, comments{s.world}, pulls{s.world}, jobs{s.world}
	s.payloads = payloads{s.world, shape.Events{Objects: show}}
	listening.Start()
	host.Cleanup(func() {
		s.end()
		listening.Close()
	})
	return s
}

// SetClock makes the server tell the time by a clock. Without one, it begins
// in March 2026, and a second passes with every change.
func (s *Server) SetClock(clock func() time.Time) {
	s.world.Lock()
	defer s.world.Unlock()
	s.world.SetClock(clock)
}

// LimitContent lets most requests that create content pass within a window of
// the server's clock; further ones are refused as GitHub does it, and have no
// effect. 0: no limit. See Counts for which ones they are.
func (s *Server) LimitContent(most int, window time.Duration) {
	s.world.Lock()
	defer s.world.Unlock()
	s.world.Content = state.Limit{Most: most, Window: window}
}

// Desk is a repository while the server is locked, for a package that keeps a
// part of GitHub which is not kept here, such as reviews.
type Desk = api.Desk

// Result is what becomes of a request.
type Result = api.Result

// Extend has requests answered by another package. The operation is one of
// Routes; it is held against GitHub's description as all others are.
func (s *Server) Extend(method, path string, do func(*Desk) Result) { s.api.Extend(method, path, do) }

// With looks at a repository, or changes what belongs to it.
func (s *Server) With(repo string, do func(*Desk)) {
	s.world.Lock()
	defer s.world.Unlock()
	do(s.api.Desk(s.world.repository(repo)))
}

// Routes lists all operations that there are, such as "GET /repos/{owner}/{repo}".
func Routes() []string { return api.Routes() }
