package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
)

// doing carries out one trial, which may spend as much as usd says.
type doing func(ctx context.Context, t Trial, usd float64) (Result, error)

// least is what a trial needs at least so that it is worth to begin, in US dollars.
const least = 0.01

// schedule is trials at work, and what came of those that have ended.
type schedule struct {
	mu    sync.Mutex
	left  float64 // in US dollars, that no trial has spent or may spend; +Inf: no limit
	free  int     // trials that can begin now
	done  []Result
	short bool     // the budget ended before all were over
	open  []string // why trials are not over, of which the service or the key did not answer
}

// take gives what a trial may spend: an even share of what is left. Once the budget has
// ended a trial, or there is next to nothing left, no other is begun.
func (s *schedule) take() (usd float64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	usd = s.left / float64(s.free)
	s.short = s.short || usd+1e-9 < least
	if s.short {
		return 0, false
	}
	s.free--
	s.spend(usd)
	return usd, true
}

// spend takes money off what is left.
func (s *schedule) spend(usd float64) {
	if !math.IsInf(s.left, 1) {
		s.left -= usd
	}
}

// end notes what came of a trial, which has given back what it has not spent of usd. An error
// keeps other trials from being begun.
func (s *schedule) end(t Trial, usd float64, r Result, err error, save func(Result) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.spend(r.Spent - usd)
	switch {
	case errors.Is(err, errCut):
		s.short = true
		return nil
	case errors.As(err, new(*openError)):
		s.open = append(s.open, t.String()+": "+err.Error())
		return nil
	case err == nil:
		err = save(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	s.done = append(s.done, r)
	return nil
}

// carryOut carries out trials in their order, so many at once, which may spend so many
// US dollars in all. What is over by the time that one fails, or ctx ends, is in the result,
// too. Save is called with each result, for one at a time.
func carryOut(ctx context.Context, trials []Trial, jobs int, usd float64, do doing, save func(Result) error) (*schedule, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &schedule{left: usd, free: jobs}
	slots := make(chan struct{}, jobs)
	var all sync.WaitGroup
	for _, t := range trials {
		slots <- struct{}{}
		usd, ok := s.take()
		if !ok || ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			r, err := do(ctx, t, usd)
			if err := s.end(t, usd, r, err, save); err != nil {
				stop(err) // what others say then is that they were stopped
			}
		})
	}
	all.Wait()
	return s, context.Cause(ctx)
}
