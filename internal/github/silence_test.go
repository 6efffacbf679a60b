package github

import (
	"context"
	"net/http"
	"testing"
	"time"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

// impatient takes a server that hangs for one that has not answered in time, as
// soon as it hangs. A limit of time cannot tell it from a machine that is busy.
// It takes one request after the other.
type impatient struct{ s *githubtest.Server }

// silence is the error of a request that took too long.
type silence struct{}

func (silence) Error() string   { return "no answer in time" }
func (silence) Timeout() bool   { return true }
func (silence) Temporary() bool { return true }

func (i impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	before := i.s.Hung()
	ctx, cancel := context.WithCancelCause(req.Context())
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		for i.s.Hung() == before {
			select {
			case <-answered:
				return
			case <-time.After(time.Millisecond):
			}
		}
		cancel(silence{})
	}()
	resp, err := http.DefaultTransport.RoundTrip(req.WithContext(ctx))
	if err != nil && req.Context().Err() == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return resp, err
}

// The time for an answer is limited.
func TestSilence(t *testing.T) {
	s := githubtest.New(t)
	s.Fault(route, times(9, githubtest.Fault{Hang: true})...)
	c := newClock()
	gh := clientOf(t, Options{APIURL: s.URL, Now: c.now, Sleep: c.sleep, HTTP: &http.Client{Timeout: 200 * time.Millisecond}})
	_, err := gh.In("acme/widget").Issue(t.Context(), 7)
	checkError(t, err, Silent, "did not answer within 200ms (tried 2 times)")
}
