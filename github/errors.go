package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
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

// Error says that something could not be had from GitHub.
type Error struct {
	Kind   Kind
	What   string    // what was asked for, such as "issue 7 of acme/widget"
	Why    string    // beginning with the host
	Status int       // of the answer; 0 if there was none
	Said   string    // GitHub's own message on one line; empty if it sent none
	Until  time.Time // when it may be tried again; zero unless RateLimited
	Tries  int       // how often it was tried
	Do     string    // what a person can do
	Err    error     // nil if the answer itself is the reason

	passing bool // another try may bring something else
}

// Error says what, why, and what to do.
func (e *Error) Error() string {
	text := "read " + e.What + ": " + e.Why
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

// refused is for an answer between 400 and 499.
func (m manners) refused(c *call, status int) *Error {
	switch status {
	case http.StatusUnauthorized:
		if m.token == "" {
			return m.problem(c, BadToken, "asks for a token", "set GITHUB_TOKEN", nil)
		}
		return m.problem(c, BadToken, "does not take the token", "set GITHUB_TOKEN to one that is valid; what is public can be read without", nil)
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return m.problem(c, Forbidden, "does not allow it", m.moreRights(), nil)
	case http.StatusNotFound:
		return m.problem(c, NotFound, "does not have it, or does not show it", "check owner, name and number; "+m.moreRights(), nil)
	case http.StatusGone:
		return m.problem(c, Gone, "does not have it any more", "check the number; it was deleted, or issues are switched off in this repository", nil)
	}
	return m.problem(c, Refused, "refuses", "check what was asked for", nil)
}

// moreRights says what would let somebody see more.
func (m manners) moreRights() string {
	if m.token == "" {
		return "a private repository needs a token in GITHUB_TOKEN"
	}
	return "the token needs the right to read issues of this repository"
}

// said reads GitHub's own message out of an answer, fit for a terminal.
func (m manners) said(body []byte) string {
	var answer struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "" // no message, and the status says it all
	}
	text := strings.Join(strings.FieldsFunc(m.redact(answer.Message), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	const most = 200
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}

// redact takes the token out of a text.
func (m manners) redact(text string) string {
	if m.token == "" {
		return text
	}
	return strings.ReplaceAll(text, m.token, "[token]")
}
