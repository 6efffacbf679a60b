package phases

import (
	"errors"

	"github.com/reprise-ci/reprise/metadata"
)

// Refusal is the error for what a run does not allow in its present state. It
// has the reason as a code, and whoever shows it puts that into words.
type Refusal struct{ Reason metadata.Reason }

// Error gives the code of the reason.
func (e *Refusal) Error() string { return e.Reason.Code() }

// Why says why not.
func (e *Refusal) Why() metadata.Reason { return e.Reason }

func refuse(why metadata.Reason) error { return &Refusal{why} }

// UnknownPhase is the error of a phase name that the run does not have.
type UnknownPhase struct {
	Phase string
	Known []string
}

// Error gives the code of the reason, and the name.
func (e *UnknownPhase) Error() string { return e.Why().Code() + ": " + e.Phase }

// Why names the phase and the valid ones.
func (e *UnknownPhase) Why() metadata.Reason {
	return metadata.Because("no_such_phase", "phase", e.Phase, "phases", e.Known)
}

// WhyOf gives the reason that an error has, or its words.
func WhyOf(err error) metadata.Reason {
	var e interface{ Why() metadata.Reason }
	if errors.As(err, &e) {
		return e.Why()
	}
	return metadata.Said(err.Error())
}
