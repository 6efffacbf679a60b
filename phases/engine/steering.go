package engine

import (
	"context"

	"github.com/reprise-ci/reprise/metadata"
)

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
