package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
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
	case !p.passing && !(c.doubts && p.Kind == NotFound && c.tries < 2):
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
