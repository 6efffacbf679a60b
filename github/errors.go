package github

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind says what went wrong, for programs.
type Kind string

// The kinds of errors.
const (
	NotFound    Kind = "not_found"    // it is not there, or may not be seen
	Gone        Kind = "gone"         // it was there: deleted, or moved to another repository
	BadToken    Kind = "bad_token"    // the token is wrong or has expired
	Forbidden   Kind = "forbidden"    // the token has not the right
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
	What   string    // what was to be done, such as "read issue 7 of acme/widget"
	Why    string    // beginning with the host
	Status int       // of the answer; 0 if there was none
	Said   string    // GitHub's own message on one line; empty if it sent none
	Until  time.Time // when it may be tried again; zero unless RateLimited
	Tries  int       // how often it was tried
	Do     string    // what a person can do
	Err    error     // nil if the answer itself is the reason

	passing bool // another try may bring something else
	unclear bool // it may have been done all the same
}

// Error says what, why, and what to do.
func (e *Error) Error() string {
	text := e.What + ": " + e.Why
	var said []string
	if e.Status >= 300 {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.Said != "" {
		said = append(said, fmt.Sprintf("%q", e.Said))
	}
	if e.Tries > 1 {
		said = append(said, fmt.Sprintf("tried %d times", e.Tries))
	}
	if len(said) > 0 {
		text += " (" + strings.Join(said, ", ") + ")"
	}
	return text + ": " + e.Do
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
	var e *Error
	return errors.As(err, &e) && e.unclear
}

// isKind reports whether an error is an *Error of one of some kinds.
func isKind(err error, kinds ...Kind) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(kinds, e.Kind)
}

// problem makes an error. No word of it has the token.
func (m manners) problem(c *call, kind Kind, why, do string, err error) *Error {
	if err != nil && m.token != "" && strings.Contains(err.Error(), m.token) {
		err = nil
	}
	return &Error{Kind: kind, What: c.what, Why: m.redact(m.base.Host + " " + why), Tries: c.tries, Do: do, Err: err}
}

func (m manners) unreadable(c *call, why string, err error) *Error {
	return m.problem(c, Unreadable, "gives no usable answer: "+why,
		"check that this is the address of an API; GitHub Enterprise has it at https://HOST/api/v3", err)
}

// rateLimited is for a call that would have to wait for c.wait.
func (m manners) rateLimited(c *call) *Error {
	until := m.now().Add(c.wait).UTC()
	do := "try again after that"
	if m.token == "" {
		do += ", or set GITHUB_TOKEN: with a token many more requests are allowed"
	}
	p := m.problem(c, RateLimited, "takes no more requests until "+until.Format("2006-01-02 15:04:05 MST"), do, nil).mayPass()
	p.Until = until
	return p
}

// tooMuch is for a call that this client itself would have to keep back for
// c.wait.
func (m manners) tooMuch(c *call) *Error {
	until := m.now().Add(c.wait).UTC()
	p := m.problem(c, RateLimited, "is left alone until "+until.Format("2006-01-02 15:04:05 MST")+", because much was written there in a short time", "try again after that", nil)
	p.Until = until
	return p
}

// redact takes the token out of a text.
func (m manners) redact(text string) string {
	if m.token == "" {
		return text
	}
	return strings.ReplaceAll(text, m.token, "[token]")
}
