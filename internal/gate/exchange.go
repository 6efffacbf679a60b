package gate

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// exchange is a request to a provider and its answer.
type exchange struct {
	gate     *Gate
	provider *upstream
	purpose  purpose
	at       string // path below the base address
	began    time.Time
	status   int // of the answer; 0: there is none

	entry   *entry // nil: no model is asked
	meter   *meter // nil: nothing is counted
	last    Tokens
	used    int64 // what tools cost so far
	answers excerpt
	ended   sync.Once

	// The request may still be on its way when the answer comes.
	mu        sync.Mutex
	requested string // the model, as the request names it
	sent      int64  // bytes of the request
	arrived   bool   // it has all been sent on
	refusal   *refusal
	asks      excerpt

	whole     bool  // all of the request was read
	longest   int64 // tokens that an answer may have, as the request says; 0: it does not
	answersTo int64 // the request, if it asks for several
	goesOn    bool  // from what the provider keeps, so that nobody knows how long the request is

	hosted    bool    // it may use tools of the provider that cost something
	tools     int64   // what those cost in any case, in millionths of a US dollar
	factor    float64 // how many times the usual price it costs; less than 1: once
	saysHow   bool    // it says whether it asks for events
	streams   bool    // it does
	saysUsage bool    // and for one with what was used
}

// refused gives why the request is not passed on, or nil.
func (x *exchange) refused() *refusal {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refusal
}

// request gives the length of the request so far, and whether all of it was sent on.
func (x *exchange) request() (sent int64, arrived bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sent, x.arrived
}

// wrote hears that the request was sent on.
func (x *exchange) wrote(how httptrace.WroteRequestInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.arrived = x.arrived || how.Err == nil
}

// refusal is why a request is not passed on.
type refusal struct {
	status  int
	message string
}

// longestAnswer is how many tokens an answer may have where the request does not
// say: no model of these providers gives more.
const longestAnswer = 128_000

// claim tells the ledger what the request may use at most, as soon as that is known.
// The lock is held.
func (x *exchange) claim() {
	if x.entry == nil || !x.whole || x.goesOn {
		return
	}
	most := Tokens{Input: x.sent / bytesPerToken, Output: x.allowed()}
	x.gate.ledger.claim(x.entry, x.bill(x.requested, most, 0).usd)
}

// allowed is how many tokens all that is answered may have. The lock is held.
func (x *exchange) allowed() int64 {
	return cmp.Or(x.longest, longestAnswer) * max(1, x.answersTo)
}

// fastestModel is how many tokens no model makes in a second.
const fastestModel = 1000

// unseen is how many tokens an answer may have come to that ended before it said so. What
// a model thinks is in no stream of OpenAI, and of others only a part or a summary. A stream
// ends with its connection, and so does a provider that breaks off; a whole answer may be
// made to its end for a client that left.
func (x *exchange) unseen(end error) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	stream := x.streams || x.meter != nil && x.meter.stream
	if !stream && errors.Is(end, context.Canceled) {
		return x.allowed()
	}
	return min(x.allowed(), time.Since(x.began).Milliseconds()*fastestModel/1000)
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// refuse notes why the request is not passed on. The first reason counts. The lock
// is held.
func (x *exchange) refuse(status int, why string) {
	if x.refusal == nil {
		x.refusal = &refusal{status, "reprise: " + why}
	}
}

func (x *exchange) refuseModel(model string) {
	x.refuse(http.StatusBadRequest, fmt.Sprintf("the pipeline does not name the model %q for this agent; it can allow it with models", model))
}

// fail tells the client why its request is not passed on.
func (x *exchange) fail(w http.ResponseWriter) {
	x.gate.ledger.drop(x.entry)
	why := x.refused()
	x.status = why.status
	x.answers.write([]byte(why.message))
	x.provider.API.fail(w, why.status, "refused", why.message)
	x.end(context.Canceled)
}

// end counts what the answer used and writes the transcript. It ended with io.EOF if it
// is whole, and with context.Canceled if the client left. Only the first time counts.
func (x *exchange) end(how error) {
	x.ended.Do(func() {
		m := x.meter
		if m == nil { // no answer began; a provider that has the whole request may work on it
			m = newMeter(x.provider.API, false)
		}
		sent, _ := x.request()
		unseen := int64(0)
		if how != io.EOF {
			unseen = x.unseen(how)
		}
		t, estimated := m.total(sent, how == io.EOF, unseen)
		x.gate.ledger.charge(x.entry, Usage{1, t, estimated}, x.model(), x.costs(t, m.toolsUsed()))
		if x.gate.transcript.to != nil {
			x.gate.transcript.add(x.text())
		}
	})
}

// text is the exchange as people read it.
func (x *exchange) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	answer := x.answers.text()
	if x.meter != nil && x.meter.stream {
		answer = spoken(x.provider.API, answer)
	}
	return fmt.Sprintf("== %s %s, model %q, status %d, %v\n-- asked (%d bytes)\n%s\n-- answered (%d bytes)\n%s\n\n",
		x.provider.Name, x.at, x.requested, x.status, time.Since(x.began).Round(time.Millisecond), x.asks.size, x.asks.text(), x.answers.size, answer)
}

// model is the name of the model that answers, or else the one that was asked.
func (x *exchange) model() string {
	if x.meter != nil && x.meter.model != "" {
		return x.meter.model
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.requested
}

// see takes a piece of the answer.
func (x *exchange) see(p []byte) {
	if x.gate.transcript.to != nil {
		x.answers.write(p)
	}
	if x.meter == nil {
		return
	}
	x.meter.write(p)
	if t, tools := x.meter.tokens(), x.meter.toolsUsed(); t != x.last || tools != x.used {
		x.last, x.used = t, tools
		x.gate.ledger.update(x.entry, x.costs(t, tools).usd)
	}
}

// costs gives what the answer costs with so many tokens and tools.
func (x *exchange) costs(t Tokens, tools int64) bill {
	model := x.model()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.bill(model, t, tools)
}

// bill gives what the exchange costs with tokens of a model, and with tools that cost
// so many millionths of a US dollar.
func (x *exchange) bill(model string, t Tokens, tools int64) bill {
	usual := x.gate.ledger.price(model, t)
	if x.gate.config.Limits.Price == nil {
		return bill{}
	}
	factor := soonFactor(x.provider.API, x.factor, model)
	usd := usual*factor + float64(tools+x.tools)/1e6
	return bill{usd, usd - usual}
}

// watch gives the body of an answer so that what passes is seen.
func (x *exchange) watch(res *http.Response, counted bool) io.ReadCloser {
	if counted {
		x.meter = newMeter(x.provider.API, strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"))
	}
	see, over := x.see, func() {}
	if res.Header.Get("Content-Encoding") == "gzip" {
		see, over = unzip(x.see)
	}
	if counted {
		pass := see
		see = func(p []byte) {
			x.gate.hear()
			pass(p)
		}
	}
	return &tap{body: res.Body, see: see, over: func(how error) { over(); x.end(how) }}
}

// tap shows what is read from a body.
type tap struct {
	body io.ReadCloser
	see  func([]byte)
	over func(how error) // io.EOF: to its end
	once sync.Once
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	if n > 0 {
		t.see(p[:n])
	}
	if err != nil {
		t.once.Do(func() { t.over(err) })
	}
	return n, err
}

func (t *tap) Close() error {
	t.once.Do(func() { t.over(context.Canceled) })
	return t.body.Close()
}

// maxUnzipped is how much of a compressed answer is read, in bytes.
const maxUnzipped = 1 << 30

// unzip gives functions that take compressed pieces, and their end, for one that
// sees them as they were.
func unzip(see func([]byte)) (write func([]byte), over func()) {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		z, err := gzip.NewReader(r)
		buffer := buffers.Get()
		defer buffers.Put(buffer)
		for total, n := 0, 0; err == nil && total < maxUnzipped; total += n {
			if n, err = z.Read(buffer); n > 0 {
				see(buffer[:n])
			}
		}
		_ = r.CloseWithError(io.ErrClosedPipe) // what is still written goes nowhere
	}()
	return func(p []byte) { _, _ = w.Write(p) }, func() { _ = w.Close(); <-done }
}
