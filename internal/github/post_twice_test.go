package github

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// meanwhile lets something happen once, before a comment is made.
type meanwhile struct {
	once sync.Once
	do   func()
}

// RoundTrip sends the request after that.
func (m *meanwhile) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments") {
		m.once.Do(m.do)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Two processes look for a comment when there is none, and both make it: one
// is left, and both know which.
func TestPostByTwoAtOnce(t *testing.T) {
	s := newStand(t, quick)
	var first Comment
	between := &meanwhile{do: func() {
		var err error
		if first, err = s.thread.Post(t.Context(), marker, "one", time.Time{}); err != nil {
			t.Error(err)
		}
	}}
	gh, err := New(Options{Token: canary, APIURL: s.URL, Now: s.clock.now, Sleep: s.clock.sleep, HTTP: &http.Client{Transport: between}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := gh.Thread("acme", "widget", 7).Post(t.Context(), marker, "two", time.Time{})
	if err != nil || first.ID == 0 || second.ID != first.ID {
		t.Errorf("one has comment %d, the other %d (%v)", first.ID, second.ID, err)
	}
	if n := s.ours(); n != 1 {
		t.Errorf("%d comments", n)
	}
}
