package prompts

import (
	"errors"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// Error is an error that has a reason.
type Error struct {
	Reason metadata.Reason
	Err    error // what it comes from; nil if the reason is all
}

// Error says the reason in English.
func (e *Error) Error() string { return e.Reason.In(Words("en")) }

// Unwrap returns what it comes from.
func (e *Error) Unwrap() error { return e.Err }

// Why gives the reason.
func (e *Error) Why() metadata.Reason { return e.Reason }

// reasoned is an error that has a reason, and says it in every language.
type reasoned interface {
	error
	Why() metadata.Reason
}

// Why gives the reason of an error, together with what was being done; one that has none is quoted.
func Why(err error) metadata.Reason {
	if of, is := errors.AsType[reasoned](err); is {
		switch doing, last := strings.CutSuffix(err.Error(), of.Error()); {
		case last && doing == "":
			return of.Why()
		case last:
			return metadata.Because("failed_within", "doing", metadata.Said(strings.TrimSuffix(doing, ": ")), "why", of.Why())
		}
	}
	return metadata.Because("failed", "error", metadata.Said(err.Error()))
}
