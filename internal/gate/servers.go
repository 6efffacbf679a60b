package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Server is a server of tools that a client asks over HTTP, as MCP (the Model Context
// Protocol) has it. Nothing but its one address can be asked for.
type Server struct {
	Name   string // no other server of the gate has it
	URL    *url.URL
	Header http.Header // what it knows the user by; clients never see it

	Handler http.Handler // if not nil, it is the server itself, in place of URL
}

// serverUse is what a server of tools was asked.
type serverUse struct {
	Server string
	Count  int
	Failed int    // of Count, those without a good answer
	Why    string // the newest of those failed
}

// toolServer is one with the way there.
type toolServer struct {
	Server
	proxy *httputil.ReverseProxy

	mu  sync.Mutex
	use serverUse
}

func newToolServer(s Server, way http.RoundTripper) (*toolServer, error) {
	if s.Handler != nil {
		return &toolServer{Server: s, use: serverUse{Server: s.Name}}, nil
	}
	if s.URL == nil || s.URL.Host == "" || s.Name == "" || strings.Contains(s.Name, "/") {
		return nil, fmt.Errorf("the server of tools %q has no address", s.Name)
	}
	t := &toolServer{Server: s, use: serverUse{Server: s.Name}}
	t.proxy = &httputil.ReverseProxy{
		Transport: way, Rewrite: t.rewrite, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: t.answered, ErrorHandler: t.unanswered,
	}
	return t, nil
}

// ServeHTTP passes on a request of a client that may ask.
func (t *toolServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if t.Handler != nil {
		t.Handler.ServeHTTP(w, r)
		return
	}
	if !slices.Contains([]string{http.MethodPost, http.MethodGet, http.MethodDelete}, r.Method) || r.Header.Get("Upgrade") != "" {
		http.Error(w, "reprise: a server of tools is asked by POST, GET and DELETE", http.StatusMethodNotAllowed)
		return
	}
	_ = http.NewResponseController(w).EnableFullDuplex() // every connection of the server can
	t.proxy.ServeHTTP(w, r)
}

// soFar gives what it was asked.
func (t *toolServer) soFar() serverUse {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.use
}

// rewrite addresses a request to the server, with what it knows the user by.
func (t *toolServer) rewrite(pr *httputil.ProxyRequest) {
	at, out := *t.URL, pr.Out
	out.URL, out.Host = &at, at.Host
	keepKnown(out.Header)
	out.Header.Set("Accept-Encoding", "identity") // else a key could come back in a form in which mask does not find it
	for name, values := range t.Header {
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
}

// answered takes the head of an answer.
func (t *toolServer) answered(res *http.Response) error {
	why := ""
	if none := res.Request.Method != http.MethodPost && res.StatusCode == http.StatusMethodNotAllowed; !none && res.StatusCode >= 300 {
		why = fmt.Sprintf("HTTP %d", res.StatusCode)
		mask(res, t.Header)
	} else if keys := keysIn(t.Header); len(keys) > 0 && res.Body != nil { // some servers repeat what they were asked
		res.Body, res.ContentLength = &masked{ReadCloser: res.Body, keys: keys}, -1
		res.Header.Del("Content-Length")
	}
	t.note(why)
	return nil
}

// unanswered tells the client that there is no answer.
func (t *toolServer) unanswered(w http.ResponseWriter, _ *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		t.note("")
		return // nobody is left to read it
	}
	t.note(err.Error())
	http.Error(w, fmt.Sprintf("reprise: %s gave no answer: %v", t.URL.Host, err), http.StatusBadGateway)
}

// note counts a request, and why it failed; "" if it did not.
func (t *toolServer) note(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.use.Count++
	if why != "" {
		t.use.Failed++
		t.use.Why = why[:min(len(why), 300)]
	}
}
