package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"
)

// upstream is a provider with the way there.
type upstream struct {
	Provider
	proxy *httputil.ReverseProxy
}

func newUpstream(g *Gate, p Provider, way http.RoundTripper) *upstream {
	u, base := &upstream{Provider: p}, *p.Base
	if base.Path == "" {
		base.Path = "/" // else what is joined would have no slash before it
	}
	u.Base = &base
	u.proxy = &httputil.ReverseProxy{
		Transport: way, Rewrite: u.rewrite, FlushInterval: -1, BufferPool: buffers, ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(res *http.Response) error { g.answered(exchangeOf(res.Request), res); return nil },
		ErrorHandler:   func(w http.ResponseWriter, r *http.Request, err error) { g.unanswered(w, exchangeOf(r), err) },
	}
	return u
}

// model passes on a request to a model.
func (g *Gate) model(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	at := "/" + rest
	u, ok := g.providers[name]
	switch {
	case !ok:
		http.Error(w, "reprise: there is no provider here", http.StatusNotFound)
		return
	case r.Method == http.MethodHead && rest == "":
		return // a sign of life
	case !g.knowsClient(r):
		u.API.fail(w, http.StatusUnauthorized, "invalid_api_key", "reprise: this is not the key of this call")
		return
	case r.Header.Get("Upgrade") != "":
		w.WriteHeader(http.StatusUpgradeRequired) // the client goes on over plain HTTP, which can be counted
		return
	}
	at = u.trim(at)
	what, model := u.API.purposeOf(r.Method, at)
	if what == unknownTo {
		u.API.fail(w, http.StatusNotFound, "not_found", fmt.Sprintf("reprise: agents may ask models and list them, and not %s %s", r.Method, at))
		return
	}
	x := &exchange{gate: g, provider: u, purpose: what, at: at, requested: model, began: time.Now()}
	g.pass(w, r, x)
}

// trim gives the path below the base address. Some clients add a version to the
// base that is in it already.
func (u *upstream) trim(at string) string {
	if rest, ok := strings.CutPrefix(at, "/v1/"); ok && u.API == OpenAI {
		return "/" + rest
	}
	return at
}

// pass sends a request on, unless it is refused or a limit is reached.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request, x *exchange) {
	// A provider may answer before it has the whole request.
	_ = http.NewResponseController(w).EnableFullDuplex() // every connection of the server can
	body, length := x.body(r)
	first := make([]byte, 32<<10) // none that is used again: it may be read after the answer
	// The name of the model comes early: a request for a wrong one is refused
	// before the provider hears of it.
	n, err := body.Read(first)
	g.admit(r, x)
	asked := r.Body
	if x.refused() != nil {
		x.fail(w)
		hearOut(w, asked)
		return
	}
	if r.ContentLength != 0 {
		r.Body, r.ContentLength = &joined{first[:n], err, body, length}, length
	}
	g.askProvider(w, r, x)
	hearOut(w, asked)
}

// askProvider has the provider answer.
func (g *Gate) askProvider(w http.ResponseWriter, r *http.Request, x *exchange) {
	// Also when the client leaves in the middle, by which the proxy ends with a panic.
	defer x.end(context.Canceled)
	ctx := httptrace.WithClientTrace(context.WithValue(r.Context(), exchangeKey{}, x), &httptrace.ClientTrace{WroteRequest: x.wrote})
	x.provider.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// hearOut reads what is left of a request that is answered already. A connection that is closed
// with something unread in it is reset, and then a client that is still sending loses the answer.
func hearOut(w http.ResponseWriter, request io.Reader) {
	connection := http.NewResponseController(w)
	_ = connection.Flush() // for those who wait for it before they send more
	_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.CopyN(io.Discard, request, maxRequest)
}

// admit refuses a request that cannot be read, or that a limit forbids.
func (g *Gate) admit(r *http.Request, x *exchange) {
	x.inspect(r)
	if x.purpose != asksModel || x.refused() != nil {
		return
	}
	entry, reached := g.ledger.admit(r.Context(), x.provider.Name)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entry = entry
	x.claim()
	switch {
	case reached == TurnLimit:
		x.refuse(http.StatusBadRequest, "the step has used all of its turns; end here")
	case reached == BudgetLimit:
		x.refuse(http.StatusBadRequest, "the step has used all of its budget; end here")
	case entry == nil:
		x.refuse(http.StatusServiceUnavailable, "the call is over") // there is nobody left to read it
	}
}

// inspect refuses a request that cannot be read, or whose address asks for a wrong model.
func (x *exchange) inspect(r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		x.refuse(http.StatusUnsupportedMediaType, "the proxy has to read requests, and this one is compressed with "+strconv.Quote(enc))
	}
	if x.provider.API != Gemini {
		return
	}
	if kind := r.Header.Get("Content-Type"); kind != "" && !strings.HasPrefix(strings.ToLower(kind), "application/json") {
		x.refuse(http.StatusUnsupportedMediaType, "the proxy has to read requests, and this one is "+strconv.Quote(kind)+" in place of application/json")
	}
	if x.purpose == asksModel && !x.gate.ledger.allows(x.provider.Name, x.requested) {
		x.refuseModel(x.requested)
	}
}

// rewrite addresses a request to the provider, with the key that is known there.
func (u *upstream) rewrite(pr *httputil.ProxyRequest) {
	x, out := exchangeOf(pr.In), pr.Out
	base := u.Base.JoinPath(x.at)
	query := out.URL.Query()
	maps.DeleteFunc(query, func(name string, values []string) bool { return !u.API.takes(name, values) })
	base.RawQuery = query.Encode()
	out.URL, out.Host = base, u.Base.Host
	maps.DeleteFunc(out.Header, func(name string, _ []string) bool { return leads(name) })
	encoding := "identity"
	if strings.Contains(out.Header.Get("Accept-Encoding"), "gzip") {
		encoding = "gzip" // no other one can be read here
	}
	out.Header.Set("Accept-Encoding", encoding)
	for name, values := range u.Header {
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
}

// answered takes the head of an answer.
func (g *Gate) answered(x *exchange, res *http.Response) {
	x.status = res.StatusCode
	good := res.StatusCode >= 200 && res.StatusCode < 300
	event := Event{Kind: Answered, Provider: x.provider.Name, Status: res.StatusCode, RetryAfter: retryAfter(res.Header)}
	switch {
	case good && x.purpose == asksModel:
		g.ledger.say(event)
	case res.StatusCode == http.StatusUnauthorized:
		g.ledger.deny(x.provider.Name)
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == 529, res.StatusCode == http.StatusServiceUnavailable && event.RetryAfter > 0:
		event.Kind = Throttled
		g.ledger.say(event)
	}
	if !good {
		g.ledger.drop(x.entry)
	}
	if !good {
		mask(res, x.provider.Header)
	}
	res.Body = x.watch(res, good && x.purpose == asksModel)
}

// unanswered tells the client that there is no answer.
func (g *Gate) unanswered(w http.ResponseWriter, x *exchange, err error) {
	if x.refused() != nil {
		x.fail(w)
		return
	}
	_, arrived := x.request()
	left := errors.Is(err, context.Canceled)
	switch {
	case !arrived:
		g.ledger.drop(x.entry) // no model has seen it
	case !left: // who leaves has had a turn all the same, or leaving would be a way to have no end of them
		g.ledger.lose(x.entry) // it may have cost something all the same
	}
	x.end(err)
	if left {
		return
	}
	x.provider.API.fail(w, http.StatusBadGateway, "upstream_error", fmt.Sprintf("reprise: %s gave no answer: %v", x.provider.Base.Host, err))
	x.status = http.StatusBadGateway
}

// retryAfter gives how long the provider asks to wait.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	said := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(said, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
