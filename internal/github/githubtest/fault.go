package githubtest

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/broken"
)

// Fault is one answer that goes wrong. The zero value is an empty 200.
type Fault = broken.Answer

// After is a fault that comes when the work is done: the client cannot know
// that it was.
func After(f Fault) Fault {
	f.After = true
	return f
}

// Fault makes a route go wrong once for every fault given, in their order;
// after them it works again. A route is "GET /repos/acme/widget/issues/7", with
// the path as it is sent, without a query.
func (s *Server) Fault(route string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[route] = append(s.faults[route], faults...)
}

// FaultAt makes the nth request from now on go wrong, whatever it is. The next
// one is 1.
func (s *Server) FaultAt(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultAt[len(s.requests)+n] = f
}

// FaultWhen has a function say of every request from now on how it goes wrong; nil: it does not.
func (s *Server) FaultWhen(wrong func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultWhen = wrong
}

// nextFault takes the fault that a request meets; nil if there is none.
func (s *Server) nextFault(in *incoming) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.faultWhen(s.requests[in.nth-1]); f != nil {
		return f
	}
	if f, ok := s.faultAt[in.nth]; ok {
		return &f
	}
	route := in.method + " " + in.path
	queue := s.faults[route]
	if len(queue) == 0 {
		return nil
	}
	s.faults[route] = queue[1:]
	return &queue[0]
}

// Hung is how many requests have met a fault that hangs, so far. A test that knows
// it need not wait until a client has waited long enough.
func (s *Server) Hung() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hung
}

// fail answers with a fault, and counts those that hang. They end with the test.
func (s *Server) fail(f Fault, real []byte, w http.ResponseWriter, r *http.Request) {
	if f.Hang {
		s.mu.Lock()
		s.hung++
		s.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	f.Send(w, r.WithContext(ctx), real)
}

// Status is GitHub's own answer with a status and a message.
func Status(code int, message string) Fault {
	return Fault{Status: code, Body: `{"message":` + strconv.Quote(message) + `,"documentation_url":"` + docs + `","status":"` + strconv.Itoa(code) + `"}`}
}

// LimitReached is the answer to one request too many: the next ones are taken
// from reset on.
func LimitReached(reset time.Time) Fault {
	f := Status(http.StatusForbidden, "API rate limit exceeded for 192.0.2.1.")
	f.Header = http.Header{}
	for name, value := range map[string]string{
		"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Used": "60", "X-RateLimit-Resource": "core",
		"X-RateLimit-Reset": strconv.FormatInt(reset.Unix(), 10),
	} {
		f.Header.Set(name, value)
	}
	return f
}

// Page is an answer for people, as a proxy or a wrong address gives it.
func Page(code int) Fault {
	return Fault{
		Status: code, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body: "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body><p>Sorry</p></body></html>\n",
	}
}
