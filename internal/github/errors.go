package github

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

// Kind says what went wrong, for programs.
type Kind string

// The kinds of errors.
const (
	NotFound    Kind = "not_found"    // it is not there, or may not be seen
	Gone        Kind = "gone"         // it was there: deleted, or moved to another repository
	BadToken    Kind = "bad_token"    // the token is wrong or has expired
	Forbidden   Kind = "forbidden"    // the token does not have the right
	RateLimited Kind = "rate_limited" // too many requests; see Error.Until
	Refused     Kind = "refused"      // any other answer between 400 and 499
	Unavailable Kind = "unavailable"  // no connection, or an answer from 500 up
	Silent      Kind = "silent"       // no answer in time
	Unreadable  Kind = "unreadable"   // an answer that is not what the API gives
	Redirected  Kind = "redirected"   // an answer that leads to another host
)

// Error says that something could not be had from GitHub, or done there.
type Error struct {
	Kind   Kind
	What   string     // what was to be done, such as "read issue 7 of acme/widget"
	Host   string     // where
	Why    text.Cause // what the host does or does not
	Status int        // of the answer; 0 if there was none
	Said   string     // GitHub's own message on one line; empty if it sent none
	Until  time.Time  // when it may be tried again; zero unless RateLimited
	Tries  int        // how often it was tried
	Do     text.Cause // what a person can do
	Err    error      // nil if the answer itself is the reason

	passing bool // another try may bring something else
	unclear bool // it may have been done all the same
}

// Error says what, why, and what to do.
func (e *Error) Error() string {
	text := e.What + ": " + e.Host + " " + e.Why.String()
	said := e.Answer()
	if e.Tries > 1 {
		said = append(said, fmt.Sprintf("tried %d times", e.Tries))
	}
	if len(said) > 0 {
		text += " (" + strings.Join(said, ", ") + ")"
	}
	return text + ": " + e.Do.String()
}

// Answer gives what GitHub itself said: the status, and its message in quotes.
func (e *Error) Answer() []string {
	var said []string
	if e.Status >= 300 {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.Said != "" {
		said = append(said, fmt.Sprintf("%q", e.Said))
	}
	return said
}

// Unwrap returns what made the call fail.
func (e *Error) Unwrap() error { return e.Err }

// mayPass says that another try may help.
func (e *Error) mayPass() *Error {
	e.passing = true
	return e
}

// mayBeDone says that only the answer is missing for sure.
func (e *Error) mayBeDone() *Error {
	e.unclear = true
	return e
}

// isUnclear reports whether what failed may have been done all the same.
func isUnclear(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.unclear
}

// IsKind reports whether an error is an *Error of one of some kinds.
func IsKind(err error, kinds ...Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(kinds, e.Kind)
}
