package engine

import (
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// ErrInterrupted is the cause of a context that was cancelled because reprise
// was told to stop.
var ErrInterrupted = errors.New("interrupted")

// ErrTimeUp is such a cause, too: the time that was allowed for this process is
// over.
var ErrTimeUp = fmt.Errorf("the time that this job may work is over: %w", ErrInterrupted)

// ErrSteered is the cause of a context that was cancelled because people want
// the run to go another way than the step under way does.
var ErrSteered = errors.New("people asked for something else")

// ErrCancelled is such a cause, too: people want nothing that is under way.
var ErrCancelled = fmt.Errorf("people have cancelled the run: %w", ErrSteered)

// errBudget is the cause of a context that was cancelled because a limit was
// reached in the middle of a call.
var errBudget = errors.New("the budget is used up")

// stopped is the outcome of a step that was ended from outside: because the
// time of the job is over, or for another reason.
func stopped(cause error, why metadata.Reason) phases.Outcome {
	o := phases.Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: why}
	if errors.Is(cause, ErrTimeUp) {
		o.Code, o.Why = metadata.TimedOut, metadata.Because("time_over")
	}
	return o
}
