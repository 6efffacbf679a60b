package github

import (
	"context"
	"errors"
	"fmt"
)

// errNobody says that a search cannot tell what is our own, because the forge does not say who we are.
var errNobody = errors.New("it is not known who the token belongs to")

const maxPosts = 3

// once finds something, or creates it if it is not there, and leaves no more
// than one. What got lost between a request and its answer is looked for before
// the request is made again, after a pause in which it can be carried out.
func once[T any](ctx context.Context, r retryPolicy, find func() (T, bool, error), create func() (T, error)) (T, error) {
	var none T
	var lost error
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
