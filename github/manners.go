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
)

// manners is how a client behaves towards a server: what it repeats, how long
// it waits before, and what it makes of an answer.
type manners struct {
	base     *url.URL
	token    string
	answer   time.Duration // for one answer
	patience time.Duration // for a call with all its repetitions
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error
	slow     func(context.Context, time.Duration) error
}

// call is one call with all its repetitions. It travels in the context of
// the requests.
type call struct {
	what       string // verb and object, such as "read issue 7 of acme/widget"
	needs      string // the permission that a token must have for it, such as "issues: write"
	gitea      string // the same where the forge is Gitea or Forgejo; empty: the same words
	known      string // the tag of what is known already; the answer may be that it is still so
	method     string
	repeatable bool // doing it twice does the same as doing it once
	graphql    bool // answers 200 with the errors in the body
	reads      bool // creates nothing, whatever the method says
	began      time.Time
	tries      int
	problem    *Error        // of the newest try
	wait       time.Duration // before the next one
	blurred    bool          // a try may have been done although its answer was lost

	status int         // of the answer
	header http.Header // of the answer
}

type callKey struct{}

const (
	maxTries   = 4
	maxAnswer  = 32 << 20 // bytes; a page of a hundred comments as long as they may be has 20 million
	firstPause = time.Second
	// secondaryPause is what GitHub asks for when it says that there were too
	// many requests, and not how long to wait.
	secondaryPause = time.Minute
)

func newManners(o Options, base *url.URL, token string) manners {
	m := manners{base: base, token: token, answer: answerTime, patience: o.Patience, now: o.Now, sleep: o.Sleep, slow: o.Slow}
	if o.HTTP != nil && o.HTTP.Timeout > 0 {
		m.answer = o.HTTP.Timeout
	}
	if m.patience == 0 {
		m.patience = patience
	}
	if m.now == nil {
		m.now = time.Now
	}
	if m.sleep == nil {
		m.sleep = sleep
	}
	if m.slow == nil {
		m.slow = m.sleep
	}
	return m
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// follow follows redirects on the same host only, and with the same method: any
// other becomes the answer.
func (m manners) follow(req *http.Request, via []*http.Request) error {
	elsewhere := req.URL.Scheme != m.base.Scheme || req.URL.Host != m.base.Host
	// Some redirects make a GET of a POST, and that would read instead of write.
	other := len(via) > 0 && req.Method != via[0].Method
	if elsewhere || other || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// check decides whether a try is followed by another one. It reads the whole
// answer, because a connection can break in its middle.
func (m manners) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
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
		c.problem = m.judge(c, resp, body, err)
		// The library would answer from them instead of asking again.
		for _, name := range []string{"Retry-After", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
			resp.Header.Del(name)
		}
	} else {
		c.problem = m.broken(c, err)
	}
	c.blurred = c.blurred || c.problem != nil && c.problem.unclear
	return m.again(ctx, c), nil
}

// again reports whether another try could help and is allowed.
func (m manners) again(ctx context.Context, c *call) bool {
	p := c.problem
	switch {
	case p == nil || !p.passing || ctx.Err() != nil:
		return false
	case p.unclear && !c.repeatable: // it may have been done: who asked has to look
		return false
	case c.tries >= maxTries, p.Kind == Silent && c.tries >= 2:
		return false
	}
	return m.now().Add(c.wait).Sub(c.began) <= m.patience
}

func noBackoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 }

// pause waits before a repetition.
func (m manners) pause(req *http.Request) error {
	c := req.Context().Value(callKey{}).(*call) // check has seen it
	return m.sleep(req.Context(), c.wait)
}
