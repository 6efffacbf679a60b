package github

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
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

// faults notes the requests, says which of them go wrong, and lets them.
type faults struct {
	ending context.Context // is done when the test ends
	end    func()

	mu   sync.Mutex
	all  []Request
	on   map[string][]Fault // by method and path
	at   map[int]Fault      // by the number of the request, from 1
	when func(Request) *Fault
	hung int // requests, so far
}

func newFaults() *faults {
	f := &faults{on: map[string][]Fault{}, at: map[int]Fault{}, when: func(Request) *Fault { return nil }}
	f.ending, f.end = context.WithCancel(context.Background())
	return f
}

// Requests lists what has come so far, in order.
func (f *faults) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all)
}

// Counts counts the requests so far.
func (f *faults) Counts() Counts {
	var c Counts
	for _, one := range f.Requests() {
		c.Calls++
		if one.write {
			c.Writes++
		}
		if one.content {
			c.Content++
		}
		if one.Status == http.StatusNotModified {
			c.Free++
		}
	}
	return c
}

// add notes a request, and gives its number, from 1.
func (f *faults) add(one Request) (nth int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, one)
	return len(f.all)
}

// answered notes what became of a request.
func (f *faults) answered(nth, status int, effect bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[nth-1].Status, f.all[nth-1].Effect = status, effect
}

// Fault makes a route go wrong once for every fault given, in their order;
// after them it works again. A route is "GET /repos/acme/widget/issues/7", with
// the path as it is sent, without a query.
func (f *faults) Fault(route string, wrong ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on[route] = append(f.on[route], wrong...)
}

// FaultAt makes the nth request from now on go wrong, whatever it is. The next
// one is 1.
func (f *faults) FaultAt(n int, wrong Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[len(f.all)+n] = wrong
}

// FaultWhen has a function say of every request from now on how it goes wrong; nil: it does not.
func (f *faults) FaultWhen(wrong func(Request) *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.when = wrong
}

// Hung is how many requests have met a fault that hangs, so far. A test that knows
// it need not wait until a client has waited long enough.
func (f *faults) Hung() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hung
}

// next takes the fault that a request meets; nil if there is none.
func (f *faults) next(nth int, route string) *Fault {
	f.mu.Lock()
	when, request := f.when, f.all[nth-1]
	f.mu.Unlock()
	wrong := when(request) // it may look at what has come
	f.mu.Lock()
	defer f.mu.Unlock()
	if wrong != nil {
		return wrong
	}
	if wrong, ok := f.at[nth]; ok {
		return &wrong
	}
	queue := f.on[route]
	if len(queue) == 0 {
		return nil
	}
	f.on[route] = queue[1:]
	return &queue[0]
}

// fail answers with a fault. Real is the answer that would have been given, if the work was
// done. Where there is to be no answer, it waits until the client gives up or the test ends.
func (f *faults) fail(wrong Fault, real []byte, w http.ResponseWriter, r *http.Request) {
	switch {
	case wrong.Hang:
		f.mu.Lock()
		f.hung++
		f.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-f.ending.Done():
		}
		panic(http.ErrAbortHandler)
	case wrong.Drop:
		panic(http.ErrAbortHandler)
	case wrong.Reset, wrong.Twice:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler) // the next best
		}
		if tcp, ok := conn.(*net.TCPConn); ok && wrong.Reset {
			_ = tcp.SetLinger(0) // without it, it is an end like others
		}
		if wrong.Twice {
			answer := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", wrong.seen(), http.StatusText(wrong.seen()), len(wrong.Body), wrong.Body)
			_, _ = io.WriteString(conn, answer+answer) // the client may be gone
		}
		_ = conn.Close() // nobody waits for it
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	maps.Copy(h, wrong.Header)
	if wrong.Cut {
		if wrong.Body == "" {
			wrong.Body = string(real[:len(real)/2])
		}
		h.Set("Content-Length", strconv.Itoa(len(wrong.Body)+100))
	}
	w.WriteHeader(wrong.seen())
	_, _ = w.Write([]byte(wrong.Body)) // the client may be gone
	if wrong.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// seen is the status that the client gets to see; 0 if it gets no answer.
func (a Fault) seen() int {
	switch {
	case a.Hang, a.Drop, a.Reset:
		return 0
	case a.Status == 0:
		return http.StatusOK
	}
	return a.Status
}

// After is a fault that comes when the work is done: the client cannot know
// that it was.
func After(f Fault) Fault {
	f.After = true
	return f
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
