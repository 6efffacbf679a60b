package githubtest

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/api"
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

// faults says which requests go wrong, and lets them.
type faults struct {
	came   *requests
	ending context.Context // is done when the test ends
	end    func()

	mu   sync.Mutex
	on   map[string][]Fault // by method and path
	at   map[int]Fault      // by the number of the request, from 1
	when func(Request) *Fault
	hung int // requests, so far
}

func newFaults(came *requests) *faults {
	f := &faults{came: came, on: map[string][]Fault{}, at: map[int]Fault{}, when: func(Request) *Fault { return nil }}
	f.ending, f.end = context.WithCancel(context.Background())
	return f
}

// Fault makes a route go wrong once for every fault given, in their order;
// after them it works again. A route is "GET /repos/acme/widget/issues/7", with
// the path as it is sent, without a query.
func (f *faults) Fault(route string, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on[route] = append(f.on[route], faults...)
}

// FaultAt makes the nth request from now on go wrong, whatever it is. The next
// one is 1.
func (f *faults) FaultAt(n int, wrong Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[f.came.count()+n] = wrong
}

// FaultWhen has a function say of every request from now on how it goes wrong; nil: it does not.
func (f *faults) FaultWhen(wrong func(Request) *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.when = wrong
}

// next takes the fault that a request meets; nil if there is none.
func (f *faults) next(nth int, route string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if wrong := f.when(f.came.nth(nth)); wrong != nil {
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

// Hung is how many requests have met a fault that hangs, so far. A test that knows
// it need not wait until a client has waited long enough.
func (f *faults) Hung() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hung
}

// fail answers with a fault, and counts those that hang. They end with the test.
func (f *faults) fail(wrong Fault, real []byte, w http.ResponseWriter, r *http.Request) {
	if wrong.Hang {
		f.mu.Lock()
		f.hung++
		f.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(f.ending, cancel)()
	wrong.Send(w, r.WithContext(ctx), real)
}

// Status is GitHub's own answer with a status and a message.
func Status(code int, message string) Fault {
	return Fault{Status: code, Body: `{"message":` + strconv.Quote(message) + `,"documentation_url":"` + api.Docs + `","status":"` + strconv.Itoa(code) + `"}`}
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
