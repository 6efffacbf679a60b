package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/metadata"
)

// ErrSteered is the cause of a context that was cancelled because people want
// the run to go another way than the step under way does.
var ErrSteered = errors.New("people asked for something else")

// ErrCancelled is such a cause, too: people want nothing that is under way.
var ErrCancelled = fmt.Errorf("people have cancelled the run: %w", ErrSteered)

// Steering is how people reach a run that is under way.
type Steering interface {
	// Steer is asked between two steps and when the run has stopped. It carries
	// out what people have asked for since, and returns the record to go on
	// with; an error ends the process.
	Steer(ctx context.Context, run metadata.Run) (metadata.Run, error)
	// Urgent is called while a step is under way. It returns an ErrSteered once people
	// want something that ends a step, as the record is that now gives, or nil when
	// ctx is done.
	Urgent(ctx context.Context, now func() metadata.Run) error
}

// Steer asks people, if there is a way to.
func (e *Engine) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if e.Steering == nil || ctx.Err() != nil {
		return run, nil
	}
	return e.Steering.Steer(ctx, run)
}

// attend is Attend for the one step that is under way.
func (e *Engine) attend(ctx context.Context) (context.Context, func()) {
	run := e.latest
	return e.Attend(ctx, func() metadata.Run { return run })
}

// Attend gives the context for what is under way and people may end, as the record is
// that now gives: another goroutine asks. The function that it returns is called when
// that has ended.
func (e *Engine) Attend(ctx context.Context, now func() metadata.Run) (context.Context, func()) {
	if e.Steering == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		if err := e.Steering.Urgent(ctx, now); err != nil {
			cancel(err)
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}
