package github

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/go-github/v60/github"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

const (
	maxAnswer = 32 << 20 // bytes; a page of a hundred comments as long as they may be has 20 million
	// secondaryPause is what GitHub asks for when it says that there were too
	// many requests, and not how long to wait.
	secondaryPause = time.Minute
)

// readAll reads an answer and closes it.
func readAll(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close() // read, or given up
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errTooLong
	}
	return body, err
}

var errTooLong = fmt.Errorf("more than %d MB", maxAnswer>>20)

// broken says what a try without an answer means.
func (a *api) broken(c *call, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the rest is the address
	}
	name, lookup := errors.AsType[*net.DNSError](err)
	switch {
	case isTimeout(err):
		return a.problem(c.What, Silent, metadata.Because("github_silent", "time", a.http.Timeout), metadata.Because("do_check_network_or_later"), err).mayPass().mayBeDone()
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return a.problem(c.What, Unavailable, metadata.Because("github_untrusted", "error", err.Error()), metadata.Because("do_check_certificates"), err)
	case lookup && name.IsNotFound:
		return a.problem(c.What, Unavailable, metadata.Because("github_unknown_host"), metadata.Because("do_check_host"), err)
	}
	p := a.problem(c.What, Unavailable, metadata.Because("github_unreachable", "error", err.Error()), metadata.Because("do_check_network"), err).mayPass()
	if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
		return p // nothing was sent
	}
	return p.mayBeDone()
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// classify says what is wrong with an answer; nil if nothing is. It may change how long to wait.
func (a *api) classify(c *call, resp *http.Response, body []byte, err error) *Error {
	p := a.kindOf(c, resp, body, err)
	if p != nil {
		p.Status, p.Said = resp.StatusCode, cmp.Or(p.Said, a.said(body))
	}
	return p
}

func (a *api) kindOf(c *call, resp *http.Response, body []byte, err error) *Error {
	status := resp.StatusCode
	switch {
	case errors.Is(err, errTooLong):
		return a.unreadable(c.What, metadata.Because("github_too_long", "size", err.Error()), err).mayBeDone()
	case err != nil && !isTimeout(err):
		return a.unreadable(c.What, metadata.Because("github_cut_off"), err).mayPass().mayBeDone()
	case err != nil:
		return a.broken(c, err)
	case a.limited(c, resp, body):
		return a.rateLimited(c).mayBeDone() // nothing says that who is told so was not served
	case status >= 500:
		if d, ok := a.retryAfter(resp.Header); ok {
			c.wait = d
		}
		return a.problem(c.What, Unavailable, metadata.Because("github_down"), tryLater, nil).mayPass().mayBeDone()
	case status == http.StatusNotModified && c.Cached, status == http.StatusNoContent:
		return nil
	case status == http.StatusFound && c.leads:
		return nil
	case status >= 300 && status < 400:
		return a.problem(c.What, redirected, metadata.Because("github_redirects"),
			metadata.Because("do_check_moved"), nil)
	case strings.Contains(resp.Header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")): // a page for people
		p := a.unreadable(c.What, metadata.Because("github_page"), nil)
		p.unclear = status < 300
		return p
	case status >= 400:
		return a.refused(c, resp, a.said(body))
	case !json.Valid(body):
		return a.unreadable(c.What, metadata.Because("github_no_json"), nil).mayPass().mayBeDone()
	case c.graphql:
		return a.classifyQuery(c, resp, body)
	}
	return nil
}

// classifyQuery finds the errors in the answer to a query.
func (a *api) classifyQuery(c *call, resp *http.Response, body []byte) (p *Error) {
	var answer struct {
		Errors []struct{ Type, Message string } `json:"errors"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return a.unreadable(c.What, wrong(misfit(err)), err).mayBeDone()
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	first := answer.Errors[0]
	switch first.Type {
	case "RATE_LIMITED", "RATE_LIMIT":
		a.untilReset(c, resp.Header)
		p = a.rateLimited(c)
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		p = a.problem(c.What, Forbidden, forbids, a.allow(c, resp.Header, first.Message), nil)
	case "NOT_FOUND":
		p = a.problem(c.What, NotFound, hides, a.moreRights(c, resp.Header), nil)
	default:
		p = a.problem(c.What, Refused, refuses, checkRequest, nil)
	}
	p.Said = a.clean(first.Message)
	return p
}

// limited reports whether GitHub refuses because there were too many
// requests, and notes how long it wants to be left alone.
func (a *api) limited(c *call, resp *http.Response, body []byte) bool {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return false
	}
	if d, ok := a.retryAfter(resp.Header); ok {
		c.wait = d
		return true
	}
	if resp.Header.Get("X-Ratelimit-Remaining") == "0" && a.untilReset(c, resp.Header) {
		return true
	}
	text := strings.ToLower(string(body[:min(len(body), 4096)]))
	secondary := strings.Contains(text, "secondary rate limit") || strings.Contains(text, "abuse detection")
	c.wait = secondaryPause << (c.tries - 1)
	return secondary || resp.StatusCode == http.StatusTooManyRequests
}

// untilReset makes the next try wait until a limit ends, if the answer says when that is.
func (a *api) untilReset(c *call, h http.Header) bool {
	reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err == nil {
		c.wait = max(time.Unix(reset, 0).Sub(a.o.Now()), 0) + time.Second // clocks differ
	}
	return err == nil
}

// retryAfter reads how long a server wants to be left alone.
func (a *api) retryAfter(h http.Header) (time.Duration, bool) {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		const year = 365 * 24 * 60 * 60
		return time.Duration(min(seconds, year)) * time.Second, seconds >= 0
	}
	at, err := http.ParseTime(value)
	return max(at.Sub(a.o.Now()), 0), err == nil
}

// refused is for an answer between 400 and 499.
func (a *api) refused(c *call, resp *http.Response, said string) *Error {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		switch {
		case a.o.Token == "":
			return a.problem(c.What, BadToken, metadata.Because("github_asks_token"), metadata.Because("do_set_token"), nil)
		case c.Method == http.MethodGet:
			return a.problem(c.What, BadToken, badToken, metadata.Because("do_valid_token_or_none"), nil)
		}
		return a.problem(c.What, BadToken, badToken, metadata.Because("do_valid_token"), nil)
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return a.problem(c.What, Forbidden, forbids, a.allow(c, resp.Header, said), nil)
	case http.StatusNotFound:
		return a.problem(c.What, NotFound, hides, metadata.Because("do_check_names", "rights", a.moreRights(c, resp.Header)), nil)
	case http.StatusGone:
		return a.problem(c.What, Gone, metadata.Because("github_gone"), metadata.Because("do_check_gone"), nil)
	}
	return a.problem(c.What, Refused, refuses, checkRequest, nil)
}

// Causes that several answers have.
var (
	badToken     = metadata.Because("github_bad_token")
	forbids      = metadata.Because("github_forbids")
	hides        = metadata.Because("github_hides")
	refuses      = metadata.Because("github_refuses")
	checkRequest = metadata.Because("do_check_request")
	tryLater     = metadata.Because("do_try_later")
	tryThen      = metadata.Because("do_try_then")
)

// allow says what would let a call pass that is forbidden.
func (a *api) allow(c *call, h http.Header, said string) metadata.Reason {
	said = strings.ToLower(said)
	switch {
	case strings.Contains(said, "not permitted to create or approve pull requests"):
		return metadata.Because("do_allow_pulls")
	case strings.Contains(said, "is locked"):
		return metadata.Because("do_unlock")
	case strings.Contains(said, "commenting is disabled"): // GitHub takes 2,500 comments on an issue
		return metadata.Because("do_new_issue")
	case strings.Contains(said, "archived"):
		return metadata.Because("do_unarchive")
	case h.Get("X-Github-Sso") != "" || strings.Contains(said, "saml"): // a query has no such header
		return metadata.Because("do_sign_on")
	case strings.Contains(said, "ip allow list"):
		return metadata.Because("do_allow_address")
	case strings.Contains(said, "organization") && (strings.Contains(said, "forbids") || strings.Contains(said, "restrictions")):
		return metadata.Because("do_other_token")
	}
	return a.moreRights(c, h)
}

var permissionsForm = regexp.MustCompile(`^[a-z_]+=[a-z]+([,;] ?[a-z_]+=[a-z]+)*$`)

// moreRights says what would let somebody see or do more. GitHub names the permissions itself on most answers: those
// after a comma are needed together, those after a semicolon instead of the others. They are written as in a
// workflow.
func (a *api) moreRights(c *call, h http.Header) metadata.Reason {
	needs := c.Needs
	if c.gitea != "" && strings.HasSuffix(strings.TrimSuffix(a.base.Path, "/"), "/api/v1") {
		needs = c.gitea
	}
	if told := h.Get("X-Accepted-Github-Permissions"); len(told) <= 200 && permissionsForm.MatchString(told) {
		needs = strings.NewReplacer("; ", " or ", ";", " or ", ", ", " and ", ",", " and ", "=", ": ", "_", "-").Replace(told)
	}
	switch {
	case a.o.Token == "" && c.Method == http.MethodGet:
		return metadata.Because("do_private_token")
	case a.o.Token == "":
		return metadata.Because("do_needs_token")
	case needs == "":
		return metadata.Because("do_more_rights")
	}
	return metadata.Because("do_rights", "rights", needs)
}

// said reads GitHub's own message out of an answer, fit for a terminal: a sentence, and the
// reasons why something was refused as invalid.
func (a *api) said(body []byte) string {
	var answer github.ErrorResponse
	// A field that has another form leaves the others as they are. Without any message the status says it all.
	_ = json.Unmarshal(body, &answer)
	parts := []string{answer.Message}
	for _, e := range answer.Errors[:min(len(answer.Errors), 5)] {
		parts = append(parts, cmp.Or(e.Message, strings.TrimSpace(e.Field+" "+e.Code)))
	}
	return a.clean(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": "))
}

// clean makes a foreign text fit for a terminal: one short line, no token.
func (a *api) clean(said string) string {
	words := strings.FieldsFunc(a.redact(said), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	return text.Short(strings.Join(words, " "), 300)
}

// wrong is an answer that is not what was asked for.
func wrong(how string) metadata.Reason { return metadata.Because("github_wrong", "how", how) }

// misfit says in what an answer differs from what was expected.
func misfit(err error) string {
	if field, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && field.Field != "" {
		return fmt.Sprintf("its %s is a %s", strings.TrimPrefix(field.Field, "Issue."), field.Value)
	}
	return "it is not what was asked for"
}

// problem makes an error. No word of it has the token.
func (a *api) problem(what string, kind Kind, why, do metadata.Reason, err error) *Error {
	if err != nil && a.o.Token != "" && strings.Contains(err.Error(), a.o.Token) {
		err = nil
	}
	return &Error{Kind: kind, What: what, Host: a.base.Host, Does: metadata.Reason(a.redact(string(why))), Do: do, Err: err}
}

func (a *api) unreadable(what string, how metadata.Reason, err error) *Error {
	return a.problem(what, unreadable, metadata.Because("github_unusable", "how", how),
		metadata.Because("do_check_api"), err)
}

// rateLimited is for a call that would have to wait for c.wait.
func (a *api) rateLimited(c *call) *Error {
	do := tryThen
	if a.o.Token == "" {
		do = metadata.Because("do_try_then_or_token")
	}
	return a.until(c, metadata.Because("github_limited", "when", a.end(c)), do).mayPass()
}

// end is when the wait of a call ends.
func (a *api) end(c *call) string {
	return a.o.Now().Add(c.wait).UTC().Format("2006-01-02 15:04:05 MST")
}

// until is for a call that is not made before its wait ends.
func (a *api) until(c *call, why, do metadata.Reason) *Error {
	p := a.problem(c.What, RateLimited, why, do, nil)
	p.Until = a.o.Now().Add(c.wait).UTC()
	return p
}

// redact takes the token out of a text.
func (a *api) redact(text string) string {
	if a.o.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, a.o.Token, "[token]")
}
