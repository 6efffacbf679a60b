package github

import (
	"net/url"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

// forge is what is asked, and with which token. It says what its answers mean.
type forge struct {
	base   *url.URL
	token  string
	answer time.Duration // for one answer
	now    func() time.Time
}

// problem makes an error. No word of it has the token.
func (f forge) problem(what string, kind Kind, why, do text.Cause, err error) *Error {
	if err != nil && f.token != "" && strings.Contains(err.Error(), f.token) {
		err = nil
	}
	return &Error{Kind: kind, What: what, Host: f.base.Host, Why: why.Map(f.redact), Do: do, Err: err}
}

func (f forge) unreadable(what string, how text.Cause, err error) *Error {
	return f.problem(what, Unreadable, text.CauseOf("github_unusable", "gives no usable answer: {how}", "how", how),
		text.CauseOf("do_check_api", "check that this is the address of an API; GitHub Enterprise has it at https://HOST/api/v3"), err)
}

// rateLimited is for a call that would have to wait for c.wait.
func (f forge) rateLimited(c *call) *Error {
	do := tryThen
	if f.token == "" {
		do = text.CauseOf("do_try_then_or_token", "try again after that, or set GITHUB_TOKEN: with a token many more requests are allowed")
	}
	until := f.now().Add(c.wait).UTC()
	p := f.problem(c.What, RateLimited, text.CauseOf("github_limited", "takes no more requests until {when}", "when", untilText(until)), do, nil).mayPass()
	p.Until = until
	return p
}

// tooMuch is for a call that this client itself would have to keep back for c.wait.
func (f forge) tooMuch(c *call) *Error {
	until := f.now().Add(c.wait).UTC()
	p := f.problem(c.What, RateLimited, text.CauseOf("github_left_alone", "is left alone until {when}, because much was written there in a short time", "when", untilText(until)), tryThen, nil)
	p.Until = until
	return p
}

func untilText(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }

// redact takes the token out of a text.
func (f forge) redact(text string) string {
	if f.token == "" {
		return text
	}
	return strings.ReplaceAll(text, f.token, "[token]")
}
