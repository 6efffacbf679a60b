package github

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// limiter spaces the calls that create content, because GitHub stops who makes
// too many: one every ten seconds on average, ten at once after a rest.
type limiter struct{ tokens *rate.Limiter }

const (
	writeEvery = 10 * time.Second
	writeBurst = 10
)

func newLimiter() limiter { return limiter{rate.NewLimiter(rate.Every(writeEvery), writeBurst)} }

// take says how long to wait before one more, and counts it. It does not count it if that is longer than most.
func (l limiter) take(now time.Time, most time.Duration) (wait time.Duration, ok bool) {
	one := l.tokens.ReserveN(now, 1)
	wait = one.DelayFrom(now)
	if wait > most {
		one.CancelAt(now)
		return wait, false
	}
	return wait, true
}

// FreeWrites is how many times something may be written now without a wait.
func (a *api) FreeWrites() int { return max(int(a.limiter.tokens.TokensAt(a.retry.now())), 0) }

// spaced waits until a call that creates content may be made. Repetitions of a
// call are not counted: they have waits of their own.
func (a *api) spaced(ctx context.Context, k *call) error {
	if k.reads || k.Method != http.MethodPost && k.Method != http.MethodPatch {
		return nil
	}
	wait, ok := a.limiter.take(a.retry.now(), a.retry.patience)
	switch {
	case !ok:
		k.wait = wait
		return a.retry.tooMuch(k)
	case wait == 0:
		return nil
	}
	if err := a.retry.slow(ctx, wait); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}
