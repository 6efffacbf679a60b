// Package purse is what an evaluation may still spend, and which of its trials may spend it.
package purse

import (
	"math"
	"sync"
)

// Purse is what is left, shared among trials that may go on at the same time; see New.
type Purse struct {
	mu       sync.Mutex
	left     float64 // in US dollars, that nobody has spent or may spend now; +Inf: no limit
	jobs     int     // trials that can go on at once
	running  int
	released *sync.Cond
	costs    map[string]costs // of trials that are over, by variant
}

// costs are what some trials have cost.
type costs struct {
	n   int
	usd float64
}

// Least is what a trial needs at least so that it is worth to begin, in US dollars.
const Least = 0.01

// New gives a purse with so many US dollars, 0 for no limit, for so many trials at once.
func New(usd float64, jobs int) *Purse {
	if usd <= 0 {
		usd = math.Inf(1)
	}
	p := &Purse{left: usd, jobs: jobs, costs: map[string]costs{}}
	p.released = sync.NewCond(&p.mu)
	return p
}

// Note takes note of what a trial of a variant has cost that is over.
func (p *Purse) Note(variant string, usd float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.costs[variant]
	p.costs[variant] = costs{c.n + 1, c.usd + usd}
}

// need is what a trial of a variant needs so that it is worth to begin: what those before it
// have cost in the mean.
func (p *Purse) need(variant string) float64 {
	c := p.costs[variant]
	return max(Least, c.usd/float64(max(1, c.n)))
}

// Reserve gives what a trial of a variant may spend: an even share of what is left. It waits
// for trials at work where they may leave something; false says that too little is left.
func (p *Purse) Reserve(variant string) (usd float64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.left+1e-9 < p.need(variant) {
		if p.running == 0 {
			return 0, false
		}
		p.released.Wait()
	}
	usd = max(p.need(variant), p.left/float64(max(1, p.jobs-p.running)))
	if !math.IsInf(p.left, 1) {
		p.left -= usd
	}
	p.running++
	return usd, true
}

// Refund gives back what a trial has not spent.
func (p *Purse) Refund(reserved, spent float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	if !math.IsInf(p.left, 1) {
		p.left += reserved - spent
	}
	p.released.Broadcast()
}
