package github

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// send posts a comment that meets a fault, on a connection of its own. Where
// no answer comes it gives up, once the server is as far as it gets.
func send(t *testing.T, s *Server, f Fault) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f.Hang {
		go func() {
			for len(s.Requests()) == 0 || s.Requests()[0].Effect != f.After {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
	}
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL+issue+"/comments", strings.NewReader(`{"body":"x"}`))
	testenv.Must(t, err)
	req.Header.Set("Authorization", "Bearer ann")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // read
	return io.ReadAll(resp.Body)
}

// A fault that comes afterwards leaves the work done, and says something else.
func TestAfter(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fault  Fault
		status int
		wrong  func(error) bool
	}{
		{"page", Page(502), 502, nil},
		{"reset", Fault{Reset: true}, 0, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		{"drop", Fault{Drop: true}, 0, func(err error) bool { return errors.Is(err, io.EOF) }},
		{"hang", Fault{Hang: true}, 0, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"cut", Fault{Cut: true, Status: 201}, 201, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
	} {
		for _, after := range []bool{false, true} {
			s := people(t)
			want := 0
			if after {
				tt.fault, want = After(tt.fault), 1
			}
			s.FaultAt(1, tt.fault)
			body, err := send(t, s, tt.fault)
			if tt.wrong == nil && err != nil || tt.wrong != nil && (err == nil || !tt.wrong(err)) {
				t.Errorf("%s, after %v: %v", tt.name, after, err)
			}
			if n := len(s.Comments("acme/widget", 7)); n != want {
				t.Errorf("%s, after %v: %d comments", tt.name, after, n)
			}
			if tt.fault.Cut && after && !bytes.HasPrefix(body, []byte(`{"author_association"`)) {
				t.Errorf("%s: the half of the answer is %q", tt.name, body)
			}
			if r := s.Requests()[0]; r.Status != tt.status || r.Effect != after || string(r.Body) != `{"body":"x"}` {
				t.Errorf("%s, after %v: it is noted as %d, effect %v, %s", tt.name, after, r.Status, r.Effect, r.Body)
			}
		}
	}
}
