package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

const (
	maxTries   = 4
	firstPause = time.Second
)

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// follow follows redirects on the same host only, and with the same method: any other becomes the answer.
func (a *api) follow(req *http.Request, via []*http.Request) error {
	elsewhere := req.URL.Scheme != a.base.Scheme || req.URL.Host != a.base.Host
	// Some redirects make a GET of a POST, and that would read instead of write.
	other := len(via) > 0 && req.Method != via[0].Method
	if elsewhere || other || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// again reports whether another try could help and is allowed.
func (a *api) again(c *call, p *Error) bool {
	switch {
	case !p.passing && !(c.Doubts && p.Kind == NotFound && c.tries < 2):
		return false
	case p.unclear && !c.Repeatable: // it may have been done: who asked has to look
		return false
	case c.tries >= maxTries, p.Kind == Silent && c.tries >= 2:
		return false
	}
	return a.o.Now().Add(c.wait).Sub(c.began) <= a.o.Patience
}

// pauseAfter is how long to wait before what failed is looked for: least, or as long as the forge wants to be left
// alone. It is not ok where that ends later than a call that began then may take.
func (a *api) pauseAfter(err error, least time.Duration, began time.Time) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != RateLimited {
		return least, true
	}
	now := a.o.Now()
	wait := max(e.Until.Sub(now), least)
	return wait, now.Add(wait).Sub(began) <= a.o.Patience
}

// Calls that create content are spaced, because GitHub stops who makes too many: one every ten seconds on average, ten at
// once after a rest.
const (
	writeEvery = 10 * time.Second
	writeBurst = 10
)

// FreeWrites is how many times something may be written now without a wait.
func (a *api) FreeWrites() int { return max(int(a.writes.TokensAt(a.o.Now())), 0) }

// spaced waits until a call that creates content may be made. Repetitions of a
// call are not counted: they have waits of their own.
func (a *api) spaced(ctx context.Context, k *call) error {
	if k.reads || k.Method != http.MethodPost && k.Method != http.MethodPatch {
		return nil
	}
	now := a.o.Now()
	one := a.writes.ReserveN(now, 1)
	wait := one.DelayFrom(now)
	switch {
	case wait > a.o.Patience:
		one.CancelAt(now)
		k.wait = wait
		return a.until(k, metadata.Because("github_left_alone", "when", a.end(k)), tryThen)
	case wait == 0:
		return nil
	}
	if err := a.o.Slow(ctx, wait); err != nil {
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

// FindOrMake finds something, or makes it if it is not there, and leaves no more than one. What got lost between a
// request and its answer is looked for before it is made again, after a pause in which it can be carried out.
func FindOrMake[T any](ctx context.Context, c *Client, find func() (T, bool, error), create func() (T, error)) (none T, lost error) {
	began := c.o.Now()
	for try := 0; ; try++ {
		found, ok, err := find()
		switch {
		case err == nil && ok:
			return found, nil
		case lost != nil && (err != nil || try == maxPosts || c.o.Now().Sub(began) > c.o.Patience):
			return none, unseen(ctx, lost, err)
		case err != nil && !errors.Is(err, errNobody):
			return none, err
		}
		made, err := create()
		if err == nil || !isUnclear(err) {
			return made, err
		}
		lost = err
		wait, ok := c.pauseAfter(err, firstPause<<try, began)
		if !ok {
			return none, lost
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
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
