package githubtest

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Fault is one answer that goes wrong. The zero value is an empty 200.
type Fault struct {
	Status int         // 0: 200
	Header http.Header // these besides the usual ones
	Body   string      // as it is
	Cut    bool        // the connection ends in the middle of the body
	Drop   bool        // the connection ends without an answer
	Reset  bool        // the connection is reset without an answer
	Hang   bool        // no answer, until the client gives up
	Twice  bool        // the same answer once more, which nobody has asked for

	// After lets the server do what was asked for, and then goes wrong. With Cut
	// and without a Body, the connection ends in the middle of the real answer.
	After bool
}

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

// status is what the client gets to see; 0 if it gets no answer.
func (f Fault) status() int {
	switch {
	case f.Hang, f.Drop, f.Reset:
		return 0
	case f.Status == 0:
		return http.StatusOK
	}
	return f.Status
}

// fail answers with a fault. Real is the answer that would have been given,
// if the work was done.
func (s *Server) fail(f Fault, real []byte, w http.ResponseWriter, r *http.Request) {
	switch {
	case f.Hang:
		s.mu.Lock()
		s.hung++
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		panic(http.ErrAbortHandler)
	case f.Reset:
		reset(w)
		return
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Twice:
		f.twice(w)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	maps.Copy(h, f.Header)
	if f.Cut {
		if f.Body == "" {
			f.Body = string(real[:len(real)/2])
		}
		h.Set("Content-Length", strconv.Itoa(len(f.Body)+100))
	}
	w.WriteHeader(f.status())
	_, _ = w.Write([]byte(f.Body)) // the client may be gone
	if f.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// twice answers two times at once, and ends the connection.
func (f Fault) twice(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the next best
	}
	answer := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", f.status(), http.StatusText(f.status()), len(f.Body), f.Body)
	_, _ = io.WriteString(conn, answer+answer) // the client may be gone
	_ = conn.Close()
}

// reset ends a connection so that the other side sees an error instead of an
// end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the next best
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it, it is an end like others
	}
	_ = conn.Close() // nobody waits for it
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
