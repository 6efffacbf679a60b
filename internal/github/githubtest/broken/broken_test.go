package broken

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// What a client gets of each answer: its status and text, and whether it ends well.
func TestSend(t *testing.T) {
	for what, tt := range map[string]struct {
		answer Answer
		status int
		text   string
		good   bool
	}{
		"as it is":   {Answer{Status: http.StatusBadGateway, Body: "no"}, http.StatusBadGateway, "no", true},
		"empty":      {Answer{}, http.StatusOK, "", true},
		"cut":        {Answer{Cut: true, Body: "half"}, http.StatusOK, "half", false},
		"cut, after": {Answer{Cut: true, After: true}, http.StatusOK, "the real ", false},
		"twice":      {Answer{Twice: true, Body: "once"}, http.StatusOK, "once", true},
		"dropped":    {Answer{Drop: true}, 0, "", false},
		"reset":      {Answer{Reset: true}, 0, "", false},
	} {
		t.Run(what, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tt.answer.Send(w, r, []byte("the real answer..."))
			}))
			defer server.Close()
			if got := tt.answer.Seen(); got != tt.status {
				t.Errorf("it is told to be seen as %d, want %d", got, tt.status)
			}
			res, err := http.Post(server.URL, "text/plain", nil)
			if err != nil {
				if tt.status != 0 {
					t.Errorf("error %v", err)
				}
				return
			}
			defer func() { _ = res.Body.Close() }()
			text, err := io.ReadAll(res.Body)
			if res.StatusCode != tt.status || string(text) != tt.text || (err == nil) != tt.good {
				t.Errorf("%d %q (%v), want %d %q", res.StatusCode, text, err, tt.status, tt.text)
			}
		})
	}
}

// An answer that hangs ends with the request.
func TestHang(t *testing.T) {
	came := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(came)
		Answer{Hang: true}.Send(w, r, nil)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-came; cancel() }()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
