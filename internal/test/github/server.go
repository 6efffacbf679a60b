// Package githubtest is a GitHub in memory that speaks HTTP: repositories, issues, comments,
// pull requests, reviews, checks and rights that keep their state, and faults on demand.
//
// Every request and every answer is held against GitHub's own description of its API: what
// a client gets wrong fails the test that it runs in.
package github

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// object is a JSON object.
type object = map[string]any

//go:embed testdata/api.github.com.json
var extract []byte

// described reads GitHub's own description of its API, as far as it is used, once.
var described = sync.OnceValues(func() (*description, error) { return readDescription(extract) })

// Host is what a server runs in, and where it says what is wrong: a test, or
// a program that is none.
type Host interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// web is where people would see what is there.
const web = "https://github.com"

// Server is one GitHub. Its methods may be called while it serves. Those that
// name what is not there report it to the host, and give nothing.
//
// It also answers under URL + "/api/v3", as GitHub Enterprise does.
type Server struct {
	URL string // of the API; GITHUB_API_URL takes it

	// Beside answers requests that are not for the API, and reports whether it did. Shown
	// gives the HTML in which people see a text. Both are set before the first request. If
	// Beside is nil nothing else is answered; if Shown is nil texts are shown unchanged.
	Beside func(w http.ResponseWriter, r *http.Request) bool
	Shown  func(text string) (html string)

	*faults
	host      Host
	described *description

	mu           sync.Mutex // of all that follows
	clock        func() time.Time
	lastTime     time.Time
	lastID       int64
	accounts     map[string]*account    // that something is known of, by login in small letters
	tokens       map[string]*token      // by name
	repositories map[string]*repository // by name in small letters
	content      limit                  // on creating content
}

// New starts a server that ends with the test.
func New(host Host) *Server {
	host.Helper()
	d, err := described()
	if err != nil {
		host.Errorf("githubtest: %v", err)
		d = &description{}
	}
	s := &Server{
		host: host, described: d, faults: newFaults(), lastTime: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), lastID: 1000,
		accounts: map[string]*account{}, tokens: map[string]*token{}, repositories: map[string]*repository{},
	}
	listening := httptest.NewUnstartedServer(s)
	s.URL = "http://" + listening.Listener.Addr().String()
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = clock
}

// now is what time it is.
func (s *Server) now() time.Time {
	if s.clock != nil {
		return s.clock().UTC().Truncate(time.Second)
	}
	return s.lastTime
}

// tick is the time of a change.
func (s *Server) tick() time.Time {
	s.lastTime = s.lastTime.Add(time.Second)
	return s.now()
}

// newID gives a number that nothing else has, and that is greater than all before.
func (s *Server) newID() int64 {
	s.lastID++
	return s.lastID
}

// LimitContent lets most requests that create content pass within a window of
// the server's clock; further ones are refused as GitHub does it, and have no
// effect. 0: no limit. See Counts for which ones they are.
func (s *Server) LimitContent(most int, window time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = limit{most: most, window: window}
}

// limit is one on how much may be done within a time. The zero value is none.
type limit struct {
	most   int
	window time.Duration
	times  []time.Time
}

// take counts one more, unless that would be too many: then it says how long to wait.
func (l *limit) take(now time.Time) (wait time.Duration) {
	if l.most == 0 {
		return 0
	}
	for len(l.times) > 0 && now.Sub(l.times[0]) >= l.window {
		l.times = l.times[1:]
	}
	if len(l.times) >= l.most {
		return l.window - now.Sub(l.times[0])
	}
	l.times = append(l.times, now)
	return 0
}

// find finds owner/name; nil if it is not there.
func (s *Server) find(fullName string) *repository { return s.repositories[strings.ToLower(fullName)] }

// repository finds owner/name, or adds it.
func (s *Server) repository(fullName string) *repository {
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok {
		s.host.Helper()
		s.host.Errorf("githubtest: %q is not owner/name", fullName)
	}
	r := s.find(fullName)
	if r == nil {
		r = newRepository(s, owner, name)
		s.repositories[strings.ToLower(fullName)] = r
	}
	return r
}

// thread finds an issue or a pull request.
func (s *Server) thread(repo string, number int) *Issue {
	if is := s.repository(repo).issues[number]; is != nil {
		return is
	}
	s.host.Helper()
	s.host.Errorf("githubtest: there is no issue %d in %s", number, repo)
	return &Issue{}
}

// comment finds a comment; nil if there is none.
func (s *Server) comment(repo string, id int64) *posted {
	c := s.repository(repo).comment(id)
	if c == nil {
		s.host.Helper()
		s.host.Errorf("githubtest: there is no comment %d in %s", id, repo)
	}
	return c
}
