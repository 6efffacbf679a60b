package github

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
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
	s := newStand(t)
	var first Comment
	between := &meanwhile{do: func() {
		var err error
		if first, err = s.thread.Post(t.Context(), marker, "one", time.Time{}); err != nil {
			t.Error(err)
		}
	}}
	gh := clientOf(t, Options{Token: canary, APIURL: s.URL, Now: s.clock.now, Sleep: s.clock.sleep, HTTP: &http.Client{Transport: between}})
	second, err := gh.In("acme/widget").Thread(7).Post(t.Context(), marker, "two", time.Time{})
	if err != nil || first.ID == 0 || second.ID != first.ID {
		t.Errorf("one has comment %d, the other %d (%v)", first.ID, second.ID, err)
	}
	if n := s.ours(); n != 1 {
		t.Errorf("%d comments", n)
	}
}

// A process that is cut off right after it made a second comment takes it away
// when it comes back.
func TestPostCutOffBetween(t *testing.T) {
	s := newStand(t)
	first, err := s.thread.Post(t.Context(), marker, "one", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	// What another process made meanwhile, and did not look after.
	s.AddComment(widget, 7, githubtest.Comment{Author: first.Author.Login, Body: marker + "\ntwo"})
	if n := s.ours(); n != 2 {
		t.Fatalf("%d comments before", n)
	}
	again, err := s.thread.Post(t.Context(), marker, "two", time.Time{})
	if err != nil || again.ID != first.ID {
		t.Errorf("found comment %d (%v), want %d", again.ID, err, first.ID)
	}
	if n := s.ours(); n != 1 {
		t.Errorf("%d comments after", n)
	}
}
