package gate

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// exchange is a request to a provider and its answer.
type exchange struct {
	gate     *Gate
	provider *upstream
	purpose  purpose
	at       string // path below the base address
	began    time.Time
	asked    request
	refusal  *refusal    // nil: it is passed on
	arrived  atomic.Bool // all of the request was sent on
	status   int         // of the answer; 0: there is none

	entry *entry // nil: no model is asked
	meter *meter // nil: nothing is counted
	last  Tokens
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
	if x.asked.goesOn {
		return math.Inf(1)
	}
	return x.bill(x.asked.model, Tokens{Input: x.asked.size / bytesPerToken, Output: x.allowed()}, 0).usd
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
	return min(x.allowed(), time.Since(x.began).Milliseconds()*fastestModel/1000)
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// fail tells the client why its request is not passed on.
func (x *exchange) fail(w http.ResponseWriter) {
	x.gate.ledger.drop(x.entry)
	x.status = x.refusal.status
	x.provider.API.fail(w, x.status, "refused", x.refusal.message)
	x.end(context.Canceled)
}

// end counts what the answer used. It ended with io.EOF if it
// is whole, and with context.Canceled if the client left. Only the first time counts.
func (x *exchange) end(how error) {
	x.ended.Do(func() {
		m := x.meter
		if m == nil { // no answer began; a provider that has the whole request may work on it
			m = newMeter(x.provider.API, false, x.gate.room)
		}
		m.end()
		whole, unseen := how == io.EOF && !m.lost, int64(0)
		if !whole {
			unseen = x.unseen(how)
		}
		t, estimated := m.total(x.asked.size, whole, unseen)
		x.gate.ledger.charge(x.entry, Usage{1, t, estimated}, x.model(), x.bill(x.model(), t, m.toolsUsed()))
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
func (x *exchange) bill(model string, t Tokens, tools int64) bill {
	if x.gate.config.Limits.Price == nil {
		return bill{}
	}
	usual := x.gate.ledger.price(model, t)
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

// watch gives the body of an answer so that what passes is seen.
func (x *exchange) watch(res *http.Response, counted bool) io.ReadCloser {
	if counted {
		x.meter = newMeter(x.provider.API, strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"), x.gate.room)
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
