package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
)

// ledger divides what an evaluation may spend among its trials. The zero value lets
// them spend nothing.
type ledger struct {
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

// least is what a trial needs at least so that it is worth to begin, in US dollars.
const least = 0.01

func newLedger(usd float64, jobs int) *ledger {
	if usd <= 0 {
		usd = math.Inf(1)
	}
	l := &ledger{left: usd, jobs: jobs, costs: map[string]costs{}}
	l.released = sync.NewCond(&l.mu)
	return l
}

// note takes note of what a trial of a variant has cost that is over.
func (l *ledger) note(variant string, usd float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.costs[variant]
	l.costs[variant] = costs{c.n + 1, c.usd + usd}
}

// need is what a trial of a variant needs so that it is worth to begin: what those before it
// have cost in the mean.
func (l *ledger) need(variant string) float64 {
	c := l.costs[variant]
	return max(least, c.usd/float64(max(1, c.n)))
}

// reserve gives what a trial of a variant may spend: an even share of what is left. It waits
// for trials at work where they may leave something; false says that too little is left.
func (l *ledger) reserve(variant string) (usd float64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.left+1e-9 < l.need(variant) {
		if l.running == 0 {
			return 0, false
		}
		l.released.Wait()
	}
	usd = max(l.need(variant), l.left/float64(max(1, l.jobs-l.running)))
	if !math.IsInf(l.left, 1) {
		l.left -= usd
	}
	l.running++
	return usd, true
}

// settle gives back what a trial has not spent.
func (l *ledger) settle(reserved, spent float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	if !math.IsInf(l.left, 1) {
		l.left += reserved - spent
	}
	l.released.Broadcast()
}

// doing carries out one trial, which may spend as much as usd says.
type doing func(ctx context.Context, t Trial, usd float64) (Result, error)

// outcomes are what came of the trials of an evaluation.
type outcomes struct {
	done  []Result
	short bool     // the budget ended before all were over
	open  []string // why trials are not over, of which the service or the key did not answer
}

// carryOut carries out trials, several at once, in their order. What is over by the time
// that one fails, or ctx ends, is in the outcomes, too. Save is called with each result,
// for one at a time.
func carryOut(ctx context.Context, trials []Trial, jobs int, l *ledger, do doing, save func(Result) error) (outcomes, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan Trial, len(trials))
	for _, t := range trials {
		queue <- t
	}
	close(queue)
	var all outcomes
	var mu sync.Mutex
	var failed []error
	one := func(t Trial) {
		usd, ok := l.reserve(t.Variant)
		if !ok {
			mu.Lock()
			all.short = true
			mu.Unlock()
			return
		}
		if ctx.Err() != nil {
			l.settle(usd, 0)
			return
		}
		r, err := do(ctx, t, usd)
		l.settle(usd, r.Spent)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case errors.Is(err, errCut):
			all.short = true
			return
		case errors.As(err, new(*openError)):
			all.open = append(all.open, t.String()+": "+err.Error())
			return
		case err == nil:
			err = save(r)
		}
		if err == nil {
			l.note(t.Variant, r.Facts.Cost.USD)
			all.done = append(all.done, r)
			return
		}
		if ctx.Err() == nil || len(failed) == 0 { // what was stopped by that says nothing new
			failed = append(failed, fmt.Errorf("%s: %w", t, err))
		}
		stop(err)
	}
	var workers sync.WaitGroup
	for range max(1, jobs) {
		workers.Go(func() {
			for t := range queue {
				if ctx.Err() != nil {
					return
				}
				one(t)
			}
		})
	}
	workers.Wait()
	return all, errors.Join(failed...)
}
