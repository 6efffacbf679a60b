package engine

import (
	"context"
	"errors"

	"github.com/reprise-ci/reprise/metadata"
)

// ErrSteered is the cause of a context that was cancelled because people want
// the run to go another way than the step under way does.
var ErrSteered = errors.New("people asked for something else")

// Steering is how people reach a run that is under way.
type Steering interface {
	// Steer is asked between two steps and when the run has stopped. It carries
	// out what people have asked for since, and returns the record to go on
	// with; an error ends the process.
	Steer(ctx context.Context, run metadata.Run) (metadata.Run, error)
	// Urgent is called while a step is under way. It returns true once people
	// want that step to end, or false when ctx is done.
	Urgent(ctx context.Context) bool
}

// Steer asks people, if there is a way to.
func (e *Engine) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if e.Steering == nil || ctx.Err() != nil {
		return run, nil
	}
	return e.Steering.Steer(ctx, run)
}

// Attend gives the context for a step that people may end. The function that
// it returns is called when the step has ended.
func (e *Engine) Attend(ctx context.Context) (context.Context, func()) {
	if e.Steering == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		if e.Steering.Urgent(ctx) {
			cancel(ErrSteered)
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}
