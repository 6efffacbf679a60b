package gate

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Limits are what a call may use. The zero value has none.
type Limits struct {
	Turns int                                       // answers of a model; 0: no limit
	USD   float64                                   // 0: no limit
	Price func(model string, used Tokens) float64   // in US dollars; nil: nothing costs anything
	Model func(provider, model string) (allow bool) // nil: any
}

// Limit is a limit that was reached.
type Limit string

// The limits.
const (
	NoLimit     Limit = ""
	TurnLimit   Limit = "turns"
	BudgetLimit Limit = "budget"
)

// Usage is what requests to one model came to.
type Usage struct {
	Requests  int // that were answered, or broke off on the way
	Tokens    Tokens
	Estimated bool // some of them did not say what they used
}

// Report is what a gate has seen so far.
type Report struct {
	Usage   map[string]Usage // by model
	Turns   int              // requests to a model that were answered, or are being answered
	USD     float64
	Refused []Refused // hosts, by name
	Models  []string  // that were asked for and refused
	Limit   Limit     // that a request was refused for
	Denied  bool      // a provider took the key for wrong
}

// Refused is an address that was not allowed.
type Refused struct {
	Host  string // with its port
	Count int
}

// Event is what has to be known before a call is over.
type Event struct {
	Kind       EventKind
	Provider   string
	Status     int           // of a provider's answer
	RetryAfter time.Duration // as a provider asked; 0 if it did not
	Limit      Limit
}

// EventKind says what happened.
type EventKind int

// What happens.
const (
	Answered   EventKind = iota // a model has begun to answer
	Throttled                   // the provider has no room: status 429 or 529
	Unknown                     // the provider does not know the key: status 401
	LimitEnded                  // a request was refused because a limit is reached
	HostRefused
)

const (
	maxHosts  = 100 // that are told apart
	maxModels = 50
	others    = "others"
)

// ledger keeps what a call has used. It is safe for concurrent use.
type ledger struct {
	limits Limits
	tell   func(Event)

	mu      sync.Mutex
	turns   int
	usd     float64 // of answers that are over
	usage   map[string]Usage
	running map[*entry]bool // what is being answered
	hosts   map[string]int
	models  map[string]bool
	ended   Limit
	denied  bool
}

// entry is a request to a model that was let in.
type entry struct {
	usd float64 // so far
}

func newLedger(limits Limits, tell func(Event)) *ledger {
	return &ledger{limits: limits, tell: tell, usage: map[string]Usage{}, running: map[*entry]bool{}, hosts: map[string]int{}, models: map[string]bool{}}
}

// admit lets a request to a model in, or gives the limit that is reached.
func (l *ledger) admit(provider string) (*entry, Limit) {
	x, reached := l.enter()
	if x == nil {
		l.say(Event{Kind: LimitEnded, Provider: provider, Limit: reached})
	}
	return x, reached
}

func (l *ledger) enter() (*entry, Limit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.limits.Turns > 0 && l.turns >= l.limits.Turns:
		l.ended = TurnLimit
		return nil, TurnLimit
	case l.limits.USD > 0 && l.spent() >= l.limits.USD:
		l.ended = BudgetLimit
		return nil, BudgetLimit
	}
	x := &entry{}
	l.turns++
	l.running[x] = true
	return x, NoLimit
}

// spent is what all requests cost so far. The lock is held.
func (l *ledger) spent() float64 {
	usd := l.usd
	for x := range l.running {
		usd += x.usd
	}
	return usd
}

// update takes what an answer that is under way has used so far.
func (l *ledger) update(x *entry, model string, t Tokens) {
	usd := l.price(model, t)
	l.mu.Lock()
	defer l.mu.Unlock()
	x.usd = usd
}

// drop forgets a request that no model answered.
func (l *ledger) drop(x *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[x] {
		delete(l.running, x)
		l.turns--
	}
}

// lose says that a request which is under way gets no answer, so that it is no turn.
func (l *ledger) lose(x *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[x] {
		l.turns--
	}
}

// settle takes what an answer that is over has used. Only the first time counts.
func (l *ledger) settle(x *entry, model string, t Tokens, estimated bool) {
	usd := l.price(model, t)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running[x] {
		return
	}
	delete(l.running, x)
	l.usd += usd
	if _, known := l.usage[model]; !known && len(l.usage) >= maxModels {
		model = others
	}
	u := l.usage[model]
	u.Requests, u.Tokens, u.Estimated = u.Requests+1, u.Tokens.Add(t), u.Estimated || estimated
	l.usage[model] = u
}

func (l *ledger) price(model string, t Tokens) float64 {
	if l.limits.Price == nil {
		return 0
	}
	return max(0, l.limits.Price(model, t))
}

// allows reports whether a model may be asked, and notes it if not.
func (l *ledger) allows(provider, model string) bool {
	if l.limits.Model == nil || l.limits.Model(provider, model) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.models) < maxModels {
		l.models[model] = true
	}
	return false
}

// refuse notes a host that is not allowed.
func (l *ledger) refuse(host string) {
	l.mu.Lock()
	if _, known := l.hosts[host]; !known && len(l.hosts) >= maxHosts {
		host = others
	}
	l.hosts[host]++
	l.mu.Unlock()
	l.say(Event{Kind: HostRefused})
}

// deny notes that a provider does not know the key.
func (l *ledger) deny(provider string) {
	l.mu.Lock()
	l.denied = true
	l.mu.Unlock()
	l.say(Event{Kind: Unknown, Provider: provider, Status: 401})
}

func (l *ledger) say(e Event) {
	if l.tell != nil {
		l.tell(e)
	}
}

func (l *ledger) report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Report{Usage: maps.Clone(l.usage), Turns: l.turns, USD: l.spent(), Limit: l.ended, Denied: l.denied, Models: slices.Sorted(maps.Keys(l.models))}
	for _, host := range slices.Sorted(maps.Keys(l.hosts)) {
		r.Refused = append(r.Refused, Refused{host, l.hosts[host]})
	}
	return r
}
