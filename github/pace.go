package github

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// pace spaces the calls that create content, because GitHub stops who makes
// too many: one every ten seconds on average, ten at once after a rest.
type pace struct {
	mu  sync.Mutex
	due time.Time // when everything made so far would have been made evenly
}

const (
	paceEvery = 10 * time.Second
	paceBurst = 10
)

// take says how long to wait before one more, and counts it. It does not count
// it if that is longer than most.
func (p *pace) take(now time.Time, most time.Duration) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := p.due
	if due.Before(now) {
		due = now
	}
	wait = due.Sub(now) - (paceBurst-1)*paceEvery
	if wait > most {
		return wait, false
	}
	p.due = due.Add(paceEvery)
	return max(wait, 0), true
}

// room is how many calls need not wait.
func (p *pace) room(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	ahead := max(p.due.Sub(now), 0)
	return int(max((paceBurst*paceEvery-ahead)/paceEvery, 0))
}

// Room is how many times something may be written now without a wait.
func (c *Client) Room() int { return c.pace.room(c.manners.now()) }

// spaced waits until a call that creates content may be made. Repetitions of a
// call are not counted: they have waits of their own.
func (c *Client) spaced(ctx context.Context, k *call) error {
	if k.reads || k.method != http.MethodPost && k.method != http.MethodPatch {
		return nil
	}
	wait, ok := c.pace.take(c.manners.now(), c.manners.patience)
	switch {
	case !ok:
		k.wait = wait
		return c.manners.tooMuch(k)
	case wait == 0:
		return nil
	}
	if err := c.manners.slow(ctx, wait); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}
