package prompts

import "github.com/reprise-ci/reprise/metadata"

// Error is an error that has a reason.
type Error struct {
	Reason metadata.Reason
	Err    error // what it comes from; nil if the reason is all
}

// Error says the reason in English.
func (e *Error) Error() string { return e.Reason.In(Words("en")) }

// Unwrap returns what it comes from.
func (e *Error) Unwrap() error { return e.Err }
