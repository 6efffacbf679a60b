package model

import (
	"fmt"
	"net/http"
	"time"
)

// event is one server-sent event: a JSON object with its type.
type event map[string]any

func sendEvents(w http.ResponseWriter, events []event) {
	if w.Header().Get("Content-Type") == "" { // this is the first of them
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusOK)
	}
	for _, e := range events {
		if kind, ok := e["type"]; ok { // Gemini's have none
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", mustJSON(e))
	}
	w.(http.Flusher).Flush()
}

// sendSlowly sends events one after the other, in that time, and says whether the client is
// still there.
func (s *Server) sendSlowly(w http.ResponseWriter, r *http.Request, events []event, d time.Duration) bool {
	for i := range events {
		if i > 0 && !s.pause(r, d/time.Duration(len(events)-1)) {
			return false
		}
		sendEvents(w, events[i:i+1])
	}
	return true
}

// hold returns when the client has gone or the server is closed.
func (s *Server) hold(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// pause lets d pass, and says whether the client is still there.
func (s *Server) pause(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}
