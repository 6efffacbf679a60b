package githubtest

import (
	"net/http"
	"slices"
	"sync"
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

// requests are those that have come so far.
type requests struct {
	mu  sync.Mutex
	all []Request
}

// Requests lists what has come so far, in order.
func (r *requests) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
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

// Counts counts the requests so far.
func (r *requests) Counts() Counts {
	var c Counts
	for _, one := range r.Requests() {
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
func (r *requests) add(one Request) (nth int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
	return len(r.all)
}

// answered notes what became of a request.
func (r *requests) answered(nth, status int, effect bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[nth-1].Status, r.all[nth-1].Effect = status, effect
}

// nth gives the request of a number, and count how many have come.
func (r *requests) nth(n int) Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[n-1]
}

func (r *requests) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}
