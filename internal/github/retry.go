package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"golang.org/x/time/rate"
)

// retryPolicy is what a client repeats, and how long it waits before.
type retryPolicy struct {
	forge
	patience time.Duration // for a call with all its repetitions
	sleep    func(context.Context, time.Duration) error
	slow     func(context.Context, time.Duration) error
}

const (
	maxTries   = 4
	firstPause = time.Second
)

func newRetryPolicy(o Options, base *url.URL, token string) retryPolicy {
	r := retryPolicy{
		forge:    forge{base: base, token: token, answer: answerTime, now: o.Now},
		patience: o.Patience, sleep: o.Sleep, slow: o.Slow,
	}
	if o.HTTP != nil && o.HTTP.Timeout > 0 {
		r.answer = o.HTTP.Timeout
	}
	r.patience = cmp.Or(r.patience, patience)
	if r.now == nil {
		r.now = time.Now
	}
	if r.sleep == nil {
		r.sleep = sleep
	}
	if r.slow == nil {
		r.slow = r.sleep
	}
	return r
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// follow follows redirects on the same host only, and with the same method: any other becomes the answer.
func (r retryPolicy) follow(req *http.Request, via []*http.Request) error {
	elsewhere := req.URL.Scheme != r.base.Scheme || req.URL.Host != r.base.Host
	// Some redirects make a GET of a POST, and that would read instead of write.
	other := len(via) > 0 && req.Method != via[0].Method
	if elsewhere || other || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// again reports whether another try could help and is allowed.
func (r retryPolicy) again(c *call, p *Error) bool {
	switch {
	case !p.passing && !(c.Doubts && p.Kind == NotFound && c.tries < 2):
		return false
	case p.unclear && !c.Repeatable: // it may have been done: who asked has to look
		return false
	case c.tries >= maxTries, p.Kind == Silent && c.tries >= 2:
		return false
	}
	return r.now().Add(c.wait).Sub(c.began) <= r.patience
}

// pauseAfter is how long to wait before what failed is looked for: least, or as long as the forge wants to be left
// alone. It is not ok where that ends later than a call that began then may take.
func (r retryPolicy) pauseAfter(err error, least time.Duration, began time.Time) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != RateLimited {
		return least, true
	}
	now := r.now()
	wait := max(e.Until.Sub(now), least)
	return wait, now.Add(wait).Sub(began) <= r.patience
}

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
		return a.retry.until(k, metadata.Because("github_left_alone", "when", a.retry.end(k)), tryThen)
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

// errNobody says that a search cannot tell what is our own, because the forge does not say who we are.
var errNobody = errors.New("it is not known who the token belongs to")

const maxPosts = 3

// once finds something, or creates it if it is not there, and leaves no more
// than one. What got lost between a request and its answer is looked for before
// the request is made again, after a pause in which it can be carried out.
func once[T any](ctx context.Context, r retryPolicy, find func() (T, bool, error), create func() (T, error)) (none T, lost error) {
	began := r.now()
	for try := 0; ; try++ {
		found, ok, err := find()
		switch {
		case err == nil && ok:
			return found, nil
		case lost != nil && (err != nil || try == maxPosts || r.now().Sub(began) > r.patience):
			return none, unseen(ctx, lost, err)
		case err != nil && !errors.Is(err, errNobody):
			return none, err
		}
		made, err := create()
		if err == nil || !isUnclear(err) {
			return made, err
		}
		lost = err
		wait, ok := r.pauseAfter(err, firstPause<<try, began)
		if !ok {
			return none, lost
		}
		if err := r.sleep(ctx, wait); err != nil {
			return none, unseen(ctx, lost, err)
		}
	}
}

// unseen is for what may be there, and could not be looked for.
func unseen(ctx context.Context, lost, why error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case why == nil:
		return lost
	}
	return fmt.Errorf("%w (whether it was done all the same could not be seen: %w)", lost, why)
}
