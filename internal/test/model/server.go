// Package model is a model on loopback that says what a script tells it
// to. It speaks the protocols that coding agents speak, the Anthropic Messages
// API, the OpenAI Responses and Chat Completions APIs and the Gemini API, all as
// server-sent events, so that the real agent programs can be driven without a key, a network or a
// bill.
//
// A Script sees each request and answers with a Reply: words, a tool call, a
// structured answer, an error, a stream that hangs or breaks off. The server
// keeps every request for assertions.
package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Script decides what the model says to a request. It is never called twice at
// the same time, so it may keep state without a lock.
type Script func(Request) Reply

// Server is a running model. It is safe for concurrent use.
type Server struct {
	URL string // such as http://127.0.0.1:41234, without a slash at the end

	http   *httptest.Server
	script Script
	closed chan struct{} // lets hanging answers go

	mu       sync.Mutex // guards requests and serializes script
	requests []Request
	refused  []string
}

// Start begins to listen on a free port of loopback. The caller calls Close.
func Start(script Script) *Server {
	s := &Server{script: script, closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.serve(messages{}))
	mux.HandleFunc("POST /v1/responses", s.serve(responses{}))
	mux.HandleFunc("POST /v1/chat/completions", s.serve(chat{}))
	mux.HandleFunc("POST /v1beta/models/{call}", s.serveGemini)
	mux.HandleFunc("POST /v1/messages/count_tokens", countTokens)
	mux.HandleFunc("HEAD /{$}", func(http.ResponseWriter, *http.Request) {})
	// Codex asks for a web socket first, and goes on over HTTP at once when told to.
	mux.HandleFunc("GET /v1/responses", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUpgradeRequired)
	})
	mux.HandleFunc("/", s.refuse)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends every answer that still hangs and stops the server.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns what the model was asked so far, in order. Counting tokens
// and signs of life are not among them.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refused returns the method and path of every request that no protocol
// knows, each of which was answered with 404.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// protocol is one of the languages.
type protocol interface {
	// read takes apart a request; the server fills in N, Header and Body.
	read(body []byte, h http.Header) (Request, error)
	// check says why the real service would refuse the request; empty if it
	// would not.
	check(Request) string
	// events is the answer as a stream, whole the answer in one piece.
	events(Request, Reply) []event
	whole(Request, Reply) any
	// failure is the body of an error.
	failure(status int, message string) any
}

func (s *Server) serve(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		body, err := io.ReadAll(hr.Body)
		if err != nil {
			return // unreachable in practice: the client went away, nobody is left to tell
		}
		r, err := p.read(body, hr.Header)
		if err != nil {
			sendJSON(w, http.StatusBadRequest, p.failure(http.StatusBadRequest, err.Error()))
			return
		}
		r.Header, r.Body = hr.Header.Clone(), body
		s.answer(w, hr, p, r, s.ask(p, &r))
	}
}

// answer sends the reply. One that hangs stops after its first event and stays
// open; one that is cut loses its connection half way.
func (s *Server) answer(w http.ResponseWriter, hr *http.Request, p protocol, r Request, reply Reply) {
	if reply.Delay > 0 && !s.pause(hr, reply.Delay) {
		return
	}
	if reply.Status != 0 {
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		sendJSON(w, reply.Status, p.failure(reply.Status, reply.message()))
		return
	}
	events := p.events(r, reply)
	switch {
	case reply.Hang:
		sendEvents(w, events[:1])
		s.hold(hr)
	case reply.Cut:
		sendEvents(w, events[:len(events)/2])
		panic(http.ErrAbortHandler) // net/http's way to drop a connection in mid-answer
	case reply.Stops:
		if s.sendSlowly(w, hr, events[:len(events)/2+1], reply.Takes) {
			s.hold(hr)
		}
	case r.Stream && reply.Takes > 0:
		s.sendSlowly(w, hr, events, reply.Takes)
	case r.Stream:
		sendEvents(w, events)
	default:
		sendJSON(w, http.StatusOK, p.whole(r, reply))
	}
}

// ask records the request and gets the script's answer to it.
func (s *Server) ask(p protocol, r *Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests)
	s.requests = append(s.requests, *r)
	if why := p.check(*r); why != "" {
		return Reply{Status: http.StatusBadRequest, Message: why}
	}
	given, said := r.submitted()
	if strings.Contains(said, "Taken. End now") {
		return Say("Done.")
	}
	reply := s.script(*r)
	if strings.Contains(said, "Not taken: ") && len(reply.Calls) > 0 && sortedJSON(compact(reply.Calls[0].answer)) == given {
		return Say("I have no other answer.")
	}
	return reply
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, r.Method+" "+r.URL.Path)
	sendJSON(w, http.StatusNotFound, map[string]any{"error": map[string]string{
		"type": "not_found_error", "message": fmt.Sprintf("no %s %s here", r.Method, r.URL.Path),
	}})
}

func countTokens(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // unreachable in practice: the client went away, nobody is left to tell
	}
	sendJSON(w, http.StatusOK, map[string]int{"input_tokens": len(body) / 4})
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write([]byte(mustJSON(v)))
}

// mustJSON is for values made of maps, slices and strings, which always have a
// JSON form, and for what a script hands in, where a panic names the mistake.
func mustJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("modelserver: a script's value has no JSON form: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
