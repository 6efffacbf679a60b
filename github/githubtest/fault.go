package githubtest

import (
	"maps"
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
	Hang   bool        // no answer, until the client gives up
}

// Fault makes a route go wrong once for every fault given, in their order;
// after them it works again. A route is "GET /repos/acme/widget/issues/7".
func (s *Server) Fault(route string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[route] = append(s.faults[route], faults...)
}

// serve answers with a fault.
func (s *Server) serve(f Fault, w http.ResponseWriter, r *http.Request) {
	switch {
	case f.Hang:
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		panic(http.ErrAbortHandler)
	case f.Drop:
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	maps.Copy(h, f.Header)
	if f.Cut {
		h.Set("Content-Length", strconv.Itoa(len(f.Body)+100))
	}
	if f.Status == 0 {
		f.Status = http.StatusOK
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(f.Body)) // the client may be gone
	if f.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
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
