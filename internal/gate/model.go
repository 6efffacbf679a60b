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
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

// upstream is a provider with the way there.
type upstream struct {
	Provider
	proxy *httputil.ReverseProxy
}

func newUpstream(g *gate, p Provider, way http.RoundTripper) *upstream {
	u, base := &upstream{Provider: p}, *p.Base
	base.Path = cmp.Or(base.Path, "/") // else what is joined would have no slash before it
	u.Base = &base
	u.proxy = &httputil.ReverseProxy{
		Transport: way, Rewrite: u.rewrite, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(res *http.Response) error { return g.answered(exchangeOf(res.Request), res) },
		ErrorHandler:   func(w http.ResponseWriter, r *http.Request, err error) { g.unanswered(w, exchangeOf(r), err) },
	}
	return u
}

// model passes on a request to a model.
func (g *gate) model(w http.ResponseWriter, r *http.Request) {
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
	if below, ok := strings.CutPrefix(at, "/v1/"); ok && u.API == openAI { // some clients add a version that is in the base already
		at = "/" + below
	}
	what, model := u.API.purposeOf(r.Method, at)
	if what == unknownTo {
		u.API.fail(w, http.StatusNotFound, "not_found", fmt.Sprintf("reprise: agents may ask models and list them, and not %s %s", r.Method, at))
		return
	}
	to, query := u.Base.JoinPath(at), r.URL.Query()
	maps.DeleteFunc(query, func(name string, values []string) bool {
		return !u.API.takes(name, values) || model != "" && u.API != gemini
	})
	to.RawQuery = query.Encode()
	g.pass(w, r, &exchange{gate: g, provider: u, purpose: what, at: at, to: to, asked: request{model: model}, began: time.Now()})
}

// pass sends a request on, unless it is refused or a limit is reached.
func (g *gate) pass(w http.ResponseWriter, r *http.Request, x *exchange) {
	body, done := x.read(r, http.NewResponseController(w))
	defer done()
	if wait := g.config.Known.await(r.Context(), x); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		x.refuse(http.StatusTooManyRequests, "the service has told another run that it has no room")
		g.ledger.say(event{throttled, Trouble{Status: http.StatusTooManyRequests, Said: x.refusal.message, RetryAfter: wait}})
	}
	g.admit(r.Context(), x)
	if x.refusal != nil {
		x.fail(w)
		return
	}
	var err error
	if x.shown, err = x.provider.shows(r.Method, x.to, body); err != nil {
		g.unanswered(w, x, err)
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
func (g *gate) admit(ctx context.Context, x *exchange) {
	if x.purpose != asksModel || x.refusal != nil {
		return
	}
	entry, reached := g.ledger.admit(ctx, x.most())
	x.entry = entry
	switch {
	case reached == turnLimit:
		x.refuse(http.StatusBadRequest, "the step has used all of its turns; end here")
	case reached == budgetLimit:
		x.refuse(http.StatusBadRequest, "the step has used all of its budget; end here")
	case entry == nil:
		x.refuse(http.StatusServiceUnavailable, "the call is over") // there is nobody left to read it
	}
}

// rewrite addresses a request to the provider, with the key that is known there.
func (u *upstream) rewrite(pr *httputil.ProxyRequest) {
	x, out := exchangeOf(pr.In), pr.Out
	out.URL, out.Host = x.to, x.to.Host
	keepKnown(out.Header)
	out.Header.Del("Accept-Encoding") // the transport asks for what it reads itself
	for name, values := range x.shown {
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
	if u.Beta != "" {
		out.Header.Set("Anthropic-Beta", text.Join(",", out.Header.Get("Anthropic-Beta"), u.Beta))
	}
}

// shows gives the headers by which the provider knows the user, for a request.
func (p Provider) shows(method string, to *url.URL, body []byte) (http.Header, error) {
	if p.Show == nil {
		return p.Header, nil
	}
	shown := p.Header.Clone()
	made, err := p.Show(method, to, body)
	maps.Copy(shown, made)
	return shown, err
}

// answered takes the head of an answer.
func (g *gate) answered(x *exchange, res *http.Response) error {
	x.status = res.StatusCode
	good := res.StatusCode >= 200 && res.StatusCode < 300
	if kind := res.Header.Get("Content-Type"); good && !answerKinds().MatchString(kind) {
		return fmt.Errorf("it sent %.100q, and models answer with JSON", kind) // such as a page to log in
	}
	e := event{answered, Trouble{Status: res.StatusCode}}
	if !good {
		g.ledger.drop(x.entry)
		said := mask(res, x.shown)
		var head strings.Builder
		_ = res.Header.Write(&head) // to memory
		e.RetryAfter = min(waitIn(head.String()+said, time.Now()), 1e6*time.Second)
		e.Said = said[:min(len(said), maxSaid)]
	}
	switch {
	case good:
	case res.StatusCode == http.StatusUnauthorized:
		e.Kind, e.RetryAfter = unknown, 0
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == 529, res.StatusCode == http.StatusServiceUnavailable && e.RetryAfter > 0:
		e.Kind = throttled
	default:
		e.Kind = failed
	}
	if x.purpose == asksModel || e.Kind == throttled || e.Kind == unknown {
		g.ledger.say(e)
	}
	switch {
	case e.Kind == throttled:
		g.config.Known.refused(x, e.RetryAfter)
	case res.StatusCode < http.StatusInternalServerError:
		g.config.Known.answered(x)
	}
	res.Body = x.watch(res, good && x.purpose == asksModel)
	return nil
}

// unanswered tells the client that there is no answer.
func (g *gate) unanswered(w http.ResponseWriter, x *exchange, err error) {
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
	why := fmt.Sprintf("reprise: %s gave no answer: %v", x.provider.Base.Host, err)
	x.provider.API.fail(w, http.StatusBadGateway, "upstream_error", why)
	x.status = http.StatusBadGateway
	x.failed(why)
}

// maxSaid is how much of a refusal is remembered, in bytes.
const maxSaid = 2000

// exchange is a request to a provider and its answer.
type exchange struct {
	gate     *gate
	provider *upstream
	purpose  purpose
	at       string // path below the base address
	to       *url.URL
	began    time.Time
	sent     int64 // when it was let through, as Known has it
	asked    request
	refusal  *refusal    // nil: it is passed on
	shown    http.Header // to the provider, with the key
	arrived  atomic.Bool // all of the request was sent on
	status   int         // of the answer; 0: there is none

	entry *entry // nil: no model is asked
	meter *meter // nil: nothing is counted
	last  tokens
	used  int64 // what tools cost so far
	ended sync.Once
}

// refusal is why a request is not passed on.
type refusal struct {
	status  int
	message string
}

// longestAnswer is how many tokens an answer has at most where the request does not say.
const longestAnswer = 128_000

// most is what the request may cost at most.
func (x *exchange) most() float64 {
	most := x.input()
	most.Output = x.allowed()
	return x.bill(x.model(), most, 0).usd
}

// unsaid is what services put before what they were asked, in tokens.
const unsaid = 1000

// input is the most that may be read for the request: a token for each byte, what each of its images may come to, or
// all that a model can read where its sender chose something whose size nobody knows. All of it may be kept in a cache for an hour.
func (x *exchange) input() tokens {
	asked := x.asked
	p := protocols()[x.provider.API]
	n := cmp.Or(p.Windows[plain(x.model())], p.Window)
	if !asked.open && !asked.unnamed {
		n = min(n, asked.size-asked.data+asked.images+unsaid)
	}
	return tokens{CacheWrite: n, CacheHour: n}
}

// allowed is how many tokens all that is answered may have.
func (x *exchange) allowed() int64 {
	return cmp.Or(x.asked.longest, longestAnswer) * max(1, x.asked.answers)
}

// fastestModel is how many tokens no model makes in a second.
const fastestModel = 1000

// unseen is how many tokens an answer may have come to that ended before it said so: as much as time allowed, or all
// where it may be made to its end for a client that left.
func (x *exchange) unseen(end error) int64 {
	stream := x.asked.streams || x.meter != nil && x.meter.stream
	if !stream && errors.Is(end, context.Canceled) || x.meter != nil && x.meter.lost {
		return x.allowed()
	}
	return min(x.allowed(), 1+time.Since(x.began).Milliseconds()*fastestModel/1000)
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// fail tells the client why its request is not passed on.
func (x *exchange) fail(w http.ResponseWriter) {
	x.gate.ledger.drop(x.entry)
	x.status = x.refusal.status
	x.provider.API.fail(w, x.status, "refused", x.refusal.message)
	x.failed(x.refusal.message)
	x.end(context.Canceled)
}

// failed tells that a model has given no good answer.
func (x *exchange) failed(why string) {
	if x.purpose == asksModel && x.status != http.StatusTooManyRequests { // that is told as Throttled
		x.gate.ledger.say(event{failed, Trouble{Status: x.status, Said: why}})
	}
}

// end counts what the answer used. It ended with io.EOF if it
// is whole, and with context.Canceled if the client left. Only the first time counts.
func (x *exchange) end(how error) {
	x.ended.Do(func() {
		m := x.meter
		if m == nil { // no answer began; a provider that has the whole request may work on it
			m = newMeter(x.provider.API, false, x.gate.room)
		}
		whole, unseen := m.end() && how == io.EOF, int64(0)
		if how != io.EOF && !errors.Is(how, context.Canceled) && x.meter != nil {
			x.status = http.StatusBadGateway
			x.failed("its answer broke off")
		}
		if !whole {
			unseen = x.unseen(how)
		}
		likely := tokens{Input: (x.asked.size-x.asked.data)/bytesPerToken + x.asked.images}
		if errors.Is(how, context.Canceled) || !whole && (x.asked.open || x.asked.unnamed) {
			likely = x.input()
		}
		t, estimated := m.total(likely, whole, unseen)
		x.gate.ledger.remember(x.entry, m.said)
		x.gate.ledger.charge(x.entry, usage{1, t, estimated}, x.model(), x.bill(x.model(), t, m.toolsUsed()))
	})
}

// model is the name of the model that answers, or else the one that was asked.
func (x *exchange) model() string {
	if x.meter != nil && x.meter.model != "" {
		return x.meter.model
	}
	return x.asked.model
}

// see takes a piece of the answer.
func (x *exchange) see(p []byte) {
	if x.meter == nil {
		return
	}
	x.gate.hear()
	x.meter.write(p)
	if t, tools := x.meter.tokens(), x.meter.toolsUsed(); t != x.last || tools != x.used {
		x.last, x.used = t, tools
		x.gate.ledger.update(x.entry, x.bill(x.model(), t, tools).usd)
	}
}

// bill gives what the exchange costs with tokens of a model, and with tools that cost
// so many millionths of a US dollar.
func (x *exchange) bill(model string, t tokens, tools int64) bill {
	if x.gate.config.Limits.Price == nil {
		return bill{}
	}
	usual := max(0, x.gate.config.Limits.Price(model, t))
	factor := max(1, x.asked.factor)
	if x.provider.API == Anthropic && factor == fastest && (strings.Contains(model, "opus-4-8") || strings.Contains(model, "opus-5")) {
		factor = 2
	}
	usd := usual*factor + float64(tools+x.asked.tools)/1e6
	return bill{usd, usd - usual}
}

// fastest is what the first Claude models that answered faster cost. Those of today
// cost twice as much as usual.
const fastest = 6

// answerKinds are those of what may be an answer; some gateways name none, or any text.
var answerKinds = text.Pattern(`(?i)^$|^text/plain|^text/event-stream|^` + awsStream + `|json`)

// watch gives the body of an answer so that what passes is seen.
func (x *exchange) watch(res *http.Response, counted bool) io.ReadCloser {
	if counted {
		kind := res.Header.Get("Content-Type")
		x.meter = newMeter(x.provider.API, strings.HasPrefix(kind, "text/event-stream"), x.gate.room)
		if strings.HasPrefix(kind, awsStream) {
			x.meter.stream, x.meter.frames = true, true
		}
		x.meter.lost = res.Header.Get("Content-Encoding") != "" // which nobody asked for
	}
	return &tap{ReadCloser: res.Body, x: x}
}

// tap shows what is read from the answer of an exchange.
type tap struct {
	io.ReadCloser
	x *exchange
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.x.see(p[:n])
	}
	if err != nil {
		t.x.end(err)
	}
	return n, err
}

func (t *tap) Close() error {
	t.x.end(context.Canceled)
	return t.ReadCloser.Close()
}
