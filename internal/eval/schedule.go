package eval

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-ci/reprise/internal/eval/purse"
)

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
func carryOut(ctx context.Context, trials []Trial, jobs int, l *purse.Purse, do doing, save func(Result) error) (outcomes, error) {
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
		usd, ok := l.Reserve(t.Variant)
		if !ok {
			mu.Lock()
			all.short = true
			mu.Unlock()
			return
		}
		if ctx.Err() != nil {
			l.Refund(usd, 0)
			return
		}
		r, err := do(ctx, t, usd)
		l.Refund(usd, r.Spent)
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
			l.Note(t.Variant, r.Facts.Cost.USD)
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
