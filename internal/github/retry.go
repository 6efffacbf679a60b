package github

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
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
	if r.patience == 0 {
		r.patience = patience
	}
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

// client wraps what sends the requests into what repeats them. Only the inner
// one follows redirects; the outer one would do so by rules of its own.
func (r retryPolicy) client(inner *http.Client) *http.Client {
	sender := http.Client{}
	if inner != nil {
		sender = *inner
	}
	sender.Timeout, sender.CheckRedirect = r.answer, r.follow
	repeating := &retryablehttp.Client{
		HTTPClient:   &sender,
		Logger:       nil,      // requests are nobody's business
		RetryMax:     maxTries, // more than check allows
		CheckRetry:   r.check,
		Backoff:      noBackoff, // the wait is in pause, which takes a clock
		PrepareRetry: r.pause,
		ErrorHandler: answerOrError,
	}
	outer := repeating.StandardClient()
	outer.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return outer
}

// follow follows redirects on the same host only, and with the same method: any
// other becomes the answer.
func (r retryPolicy) follow(req *http.Request, via []*http.Request) error {
	elsewhere := req.URL.Scheme != r.base.Scheme || req.URL.Host != r.base.Host
	// Some redirects make a GET of a POST, and that would read instead of write.
	other := len(via) > 0 && req.Method != via[0].Method
	if elsewhere || other || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// plain is a client for what GitHub keeps elsewhere: it has no token, and leaves
// no encryption behind.
func (r retryPolicy) plain(inner *http.Client) *http.Client {
	reader := http.Client{}
	if inner != nil {
		reader.Transport = inner.Transport
	}
	reader.Timeout = r.answer
	reader.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 || !r.allows(req.URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &reader
}

// allows reports whether a text may be read there: encrypted, as the API is.
func (r retryPolicy) allows(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && r.base.Scheme == "http")
}

// check decides whether a try is followed by another one. It reads the whole
// answer, because a connection can break in its middle.
func (r retryPolicy) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return false, errors.New("a request that belongs to no call")
	}
	c.tries++
	c.wait = firstPause << (c.tries - 1)
	c.wait += rand.N(c.wait / 4) // so that jobs that failed together do not come back together
	if err == nil {
		var body []byte
		body, err = readAll(resp)
		resp.Body = io.NopCloser(bytes.NewReader(body))
		c.problem = r.classify(c, resp, body, err)
		// The library would answer from them instead of asking again.
		for _, name := range []string{"Retry-After", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
			resp.Header.Del(name)
		}
	} else {
		c.problem = r.broken(c, err)
	}
	c.ambiguous = c.ambiguous || c.problem != nil && c.problem.unclear
	return r.retryable(ctx, c), nil
}

// retryable reports whether another try could help and is allowed.
func (r retryPolicy) retryable(ctx context.Context, c *call) bool {
	p := c.problem
	switch {
	case p == nil || ctx.Err() != nil:
		return false
	case !p.passing && !(c.doubts && p.Kind == NotFound && c.tries < 2):
		return false
	case p.unclear && !c.repeatable: // it may have been done: who asked has to look
		return false
	case c.tries >= maxTries, p.Kind == Silent && c.tries >= 2:
		return false
	}
	return r.now().Add(c.wait).Sub(c.began) <= r.patience
}

func noBackoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 }

// pause waits before a repetition.
func (r retryPolicy) pause(req *http.Request) error {
	c := req.Context().Value(callKey{}).(*call) // check has seen it
	return r.sleep(req.Context(), c.wait)
}

// answerOrError hands on what the last try gave. The library gives an answer
// besides an error, too, and net/http complains about that on standard error.
func answerOrError(resp *http.Response, err error, _ int) (*http.Response, error) {
	if err != nil && resp != nil {
		_ = resp.Body.Close() // read by check
		return nil, err
	}
	return resp, err
}

// pauseAfter is how long to wait before what failed is looked for: least, or
// as long as the forge wants to be left alone. It is not ok where that ends
// later than a call that began then may take.
func (r retryPolicy) pauseAfter(err error, least time.Duration, began time.Time) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Kind != RateLimited {
		return least, true
	}
	now := r.now()
	wait := max(e.Until.Sub(now), least)
	return wait, now.Add(wait).Sub(began) <= r.patience
}
