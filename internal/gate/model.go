package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
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
	base.Path = cmp.Or(base.Path, "/") // else what is joined would have no slash before it
	u.Base = &base
	u.proxy = &httputil.ReverseProxy{
		Transport: way, Rewrite: u.rewrite, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
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
	if below, ok := strings.CutPrefix(at, "/v1/"); ok && u.API == OpenAI { // some clients add a version that is in the base already
		at = "/" + below
	}
	what, model := u.API.purposeOf(r.Method, at)
	if what == unknownTo {
		u.API.fail(w, http.StatusNotFound, "not_found", fmt.Sprintf("reprise: agents may ask models and list them, and not %s %s", r.Method, at))
		return
	}
	g.pass(w, r, &exchange{gate: g, provider: u, purpose: what, at: at, asked: request{model: model}, began: time.Now()})
}

// pass sends a request on, unless it is refused or a limit is reached.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request, x *exchange) {
	body, done := x.read(r, http.NewResponseController(w))
	defer done()
	g.admit(r.Context(), x)
	if x.refusal != nil {
		x.fail(w)
		return
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	// Also when the client leaves in the middle, by which the proxy ends with a panic.
	defer x.end(context.Canceled)
	wrote := func(how httptrace.WroteRequestInfo) { x.arrived.Store(how.Err == nil) }
	ctx := httptrace.WithClientTrace(context.WithValue(r.Context(), exchangeKey{}, x), &httptrace.ClientTrace{WroteRequest: wrote})
	x.provider.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// admit refuses a request that a limit forbids.
func (g *Gate) admit(ctx context.Context, x *exchange) {
	if x.purpose != asksModel || x.refusal != nil {
		return
	}
	entry, reached := g.ledger.admit(ctx, x.provider.Name, x.most())
	x.entry = entry
	switch {
	case reached == TurnLimit:
		x.refuse(http.StatusBadRequest, "the step has used all of its turns; end here")
	case reached == BudgetLimit:
		x.refuse(http.StatusBadRequest, "the step has used all of its budget; end here")
	case entry == nil:
		x.refuse(http.StatusServiceUnavailable, "the call is over") // there is nobody left to read it
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
	out.Header.Del("Accept-Encoding") // the transport asks for what it reads itself
	for name, values := range u.Header {
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
}

// answered takes the head of an answer.
func (g *Gate) answered(x *exchange, res *http.Response) {
	x.status = res.StatusCode
	good := res.StatusCode >= 200 && res.StatusCode < 300
	event := Event{Kind: Answered, Provider: x.provider.Name, Status: res.StatusCode}
	if !good {
		g.ledger.drop(x.entry)
		said := mask(res, x.provider.Header)
		var head strings.Builder
		_ = res.Header.Write(&head) // to memory
		event.RetryAfter = min(waitIn(head.String()+said, time.Now()), 1e6*time.Second)
		event.Said = said[:min(len(said), maxSaid)]
	}
	switch {
	case good && x.purpose == asksModel:
		g.ledger.say(event)
	case res.StatusCode == http.StatusUnauthorized:
		g.ledger.say(Event{Kind: Unknown, Provider: x.provider.Name, Status: res.StatusCode, Said: event.Said})
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == 529, res.StatusCode == http.StatusServiceUnavailable && event.RetryAfter > 0:
		event.Kind = Throttled
		g.ledger.say(event)
	}
	res.Body = x.watch(res, good && x.purpose == asksModel)
}

// unanswered tells the client that there is no answer.
func (g *Gate) unanswered(w http.ResponseWriter, x *exchange, err error) {
	left := errors.Is(err, context.Canceled)
	switch {
	case !x.arrived.Load():
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

// maxSaid is how much of a refusal is remembered, in bytes.
const maxSaid = 2000
