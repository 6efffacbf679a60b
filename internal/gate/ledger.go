package gate

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// limits are what a call may use. The zero value has none.
type limits struct {
	Turns int                                       // answers of a model; 0: no limit
	USD   float64                                   // 0: no limit
	Price func(model string, used tokens) float64   // in US dollars; nil: nothing costs anything
	Model func(provider, model string) (allow bool) // nil: any
}

// limit is a limit that was reached.
type limit string

// The limits.
const (
	NoLimit     limit = ""
	turnLimit   limit = "turns"
	budgetLimit limit = "budget"
)

const (
	maxHosts  = 100 // that are told apart
	maxModels = 50
	others    = "others"
)

// bill is what an exchange costs, in US dollars.
type bill struct {
	usd   float64
	extra float64 // of that, what the usual price of its tokens does not explain
}

// ledger keeps what a call has used. It is safe for concurrent use.
type ledger struct {
	limits limits
	tell   func(event)

	mu      sync.Mutex
	turns   int
	usd     float64 // of answers that are over
	extra   float64 // of that, what the usual price of tokens does not explain
	usage   map[string]usage
	running map[*entry]bool // what is being answered
	changed chan struct{}   // closed when any of that has, and replaced
	hosts   map[string]int
	models  map[string]bool
	ended   limit
	heard   [][]byte // what models said last
}

// entry is a request to a model that was let in.
type entry struct {
	usd  float64 // so far
	most float64 // that it may come to; +Inf: nobody knows
}

func newLedger(limits limits, tell func(event)) *ledger {
	return &ledger{limits: limits, tell: tell, usage: map[string]usage{}, running: map[*entry]bool{}, changed: make(chan struct{}), hosts: map[string]int{}, models: map[string]bool{}}
}

// admit lets a request in that may come to so many US dollars, or gives the limit that is reached. One that may pass
// the budget with others under way waits; if ctx ends meanwhile, there is neither.
func (l *ledger) admit(ctx context.Context, most float64) (*entry, limit) {
	for {
		x, reached, later := l.enter(most)
		if reached != NoLimit {
			l.say(event{Kind: limitEnded})
		}
		if later == nil {
			return x, reached
		}
		select {
		case <-later:
		case <-ctx.Done():
			return nil, NoLimit
		}
	}
}

// enter does that, or gives what is closed when it should be tried again.
func (l *ledger) enter(most float64) (_ *entry, _ limit, later <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	spent, under := l.spent()
	switch {
	case l.limits.Turns > 0 && l.turns >= l.limits.Turns:
		l.ended = turnLimit
		return nil, turnLimit, nil
	case l.limits.USD > 0 && spent >= l.limits.USD:
		l.ended = budgetLimit
		return nil, budgetLimit, nil
	case l.limits.USD > 0 && len(l.running) > 0 && under+most > l.limits.USD:
		return nil, NoLimit, l.changed
	}
	x := &entry{most: most}
	l.turns++
	l.running[x] = true
	return x, NoLimit, nil
}

// spent is what all requests cost so far, and what they may come to. The lock is held.
func (l *ledger) spent() (usd, most float64) {
	usd, most = l.usd, l.usd
	for x := range l.running {
		usd += x.usd
		most += max(x.usd, x.most)
	}
	return usd, most
}

// wake has requests that wait look again. The lock is held.
func (l *ledger) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// update takes what an answer that is under way has cost so far.
func (l *ledger) update(x *entry, usd float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x.usd = usd
	l.wake()
}

// drop forgets a request that no model answered.
func (l *ledger) drop(x *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[x] {
		delete(l.running, x)
		l.turns--
		l.wake()
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

// charge takes what an answer that is over has used, and what that costs. Only the first time counts.
func (l *ledger) charge(x *entry, used usage, model string, cost bill) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running[x] {
		return
	}
	delete(l.running, x)
	l.usd, l.extra = l.usd+cost.usd, l.extra+cost.extra
	l.wake()
	if _, known := l.usage[model]; !known && len(l.usage) >= maxModels {
		model = others
	}
	u := l.usage[model]
	u.Requests, u.Tokens, u.Estimated = u.Requests+used.Requests, u.Tokens.Add(used.Tokens), u.Estimated || used.Estimated
	l.usage[model] = u
}

// remember keeps what a model said. What was said first is forgotten where it is too much.
func (l *ledger) remember(x *entry, said []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running[x] || len(said) == 0 {
		return
	}
	l.heard = append(l.heard, said)
	for all := len(slices.Concat(l.heard...)); all > maxHeard; l.heard = l.heard[1:] {
		all -= len(l.heard[0])
	}
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
	defer l.mu.Unlock()
	if _, known := l.hosts[host]; !known && len(l.hosts) >= maxHosts {
		host = others
	}
	l.hosts[host]++
}

func (l *ledger) say(e event) {
	if l.tell != nil {
		l.tell(e)
	}
}

func (l *ledger) report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	usd, _ := l.spent()
	r := Report{Usage: maps.Clone(l.usage), Turns: l.turns, USD: usd, Extra: l.extra, Limit: l.ended, Models: slices.Sorted(maps.Keys(l.models))}
	for _, host := range slices.Sorted(maps.Keys(l.hosts)) {
		r.Refused = append(r.Refused, refused{host, l.hosts[host]})
	}
	return r
}
