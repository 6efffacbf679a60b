package github

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

const (
	maxAnswer = 32 << 20 // bytes; a page of a hundred comments as long as they may be has 20 million
	// secondaryPause is what GitHub asks for when it says that there were too
	// many requests, and not how long to wait.
	secondaryPause = time.Minute
)

// readAll reads an answer and closes it.
func readAll(resp *http.Response) ([]byte, error) {
	defer func() { _ = resp.Body.Close() }() // read, or given up
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errTooLong
	}
	return body, err
}

var errTooLong = fmt.Errorf("more than %d MB", maxAnswer>>20)

// broken says what a try without an answer means.
func (f forge) broken(c *call, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the rest is the address
	}
	name, lookup := errors.AsType[*net.DNSError](err)
	switch {
	case isTimeout(err):
		return f.problem(c.What, Silent, text.CauseOf("github_silent", "did not answer within {time}", "time", f.answer), text.CauseOf("do_check_network_or_later", "check the network, or try again later"), err).mayPass().mayBeDone()
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return f.problem(c.What, Unavailable, text.CauseOf("github_untrusted", "cannot be trusted: {error}", "error", err.Error()), text.CauseOf("do_check_certificates", "check the address, and the certificates of this machine"), err)
	case lookup && name.IsNotFound:
		return f.problem(c.What, Unavailable, text.CauseOf("github_unknown_host", "was not found"), text.CauseOf("do_check_host", "check the network, and GITHUB_API_URL if it is set"), err)
	}
	p := f.problem(c.What, Unavailable, text.CauseOf("github_unreachable", "cannot be reached: {error}", "error", err.Error()), text.CauseOf("do_check_network", "check the network and try again"), err).mayPass()
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
func (f forge) classify(c *call, resp *http.Response, body []byte, err error) *Error {
	p := f.kindOf(c, resp, body, err)
	if p != nil {
		p.Status = resp.StatusCode
		if p.Said == "" {
			p.Said = f.said(body)
		}
	}
	return p
}

func (f forge) kindOf(c *call, resp *http.Response, body []byte, err error) *Error {
	status := resp.StatusCode
	switch {
	case errors.Is(err, errTooLong):
		return f.unreadable(c.What, text.CauseOf("github_too_long", "its answer has {size}", "size", err.Error()), err).mayBeDone()
	case err != nil && !isTimeout(err):
		return f.unreadable(c.What, text.CauseOf("github_cut_off", "its answer is cut off"), err).mayPass().mayBeDone()
	case err != nil:
		return f.broken(c, err)
	case f.limited(c, resp, body):
		return f.rateLimited(c).mayBeDone() // nothing says that who is told so was not served
	case status >= 500:
		if d, ok := f.retryAfter(resp.Header); ok {
			c.wait = d
		}
		return f.problem(c.What, Unavailable, text.CauseOf("github_down", "does not work at the moment"), tryLater, nil).mayPass().mayBeDone()
	case status == http.StatusNotModified && c.Cached, status == http.StatusNoContent:
		return nil
	case status == http.StatusFound && c.leads:
		return nil
	case status >= 300 && status < 400:
		return f.problem(c.What, Redirected, text.CauseOf("github_redirects", "redirects to another place, which is not followed because the token must not go there"),
			text.CauseOf("do_check_moved", "check the address of the API, and whether the repository has moved"), nil)
	case looksLikePage(resp, body):
		p := f.unreadable(c.What, text.CauseOf("github_page", "answered with a web page instead of JSON"), nil)
		p.unclear = status < 300
		return p
	case status >= 400:
		return f.refused(c, resp, f.said(body))
	case !json.Valid(body):
		return f.unreadable(c.What, text.CauseOf("github_no_json", "its answer is cut off, or no JSON"), nil).mayPass().mayBeDone()
	case c.graphql:
		return f.classifyQuery(c, resp, body)
	}
	return nil
}

// classifyQuery finds the errors in the answer to a query.
func (f forge) classifyQuery(c *call, resp *http.Response, body []byte) *Error {
	var answer struct {
		Errors []struct{ Type, Message string } `json:"errors"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return f.unreadable(c.What, wrong(misfit(err)), err).mayBeDone()
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	first := answer.Errors[0]
	var p *Error
	switch first.Type {
	case "RATE_LIMITED", "RATE_LIMIT":
		f.untilReset(c, resp.Header)
		p = f.rateLimited(c)
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		p = f.problem(c.What, Forbidden, forbids, f.allow(c, resp.Header, first.Message), nil)
	case "NOT_FOUND":
		p = f.problem(c.What, NotFound, hides, f.moreRights(c, resp.Header), nil)
	default:
		p = f.problem(c.What, Refused, refuses, checkRequest, nil)
	}
	p.Said = f.clean(first.Message)
	return p
}

// limited reports whether GitHub refuses because there were too many
// requests, and notes how long it wants to be left alone.
func (f forge) limited(c *call, resp *http.Response, body []byte) bool {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return false
	}
	if d, ok := f.retryAfter(resp.Header); ok {
		c.wait = d
		return true
	}
	if resp.Header.Get("X-Ratelimit-Remaining") == "0" && f.untilReset(c, resp.Header) {
		return true
	}
	text := strings.ToLower(string(body[:min(len(body), 4096)]))
	secondary := strings.Contains(text, "secondary rate limit") || strings.Contains(text, "abuse detection")
	c.wait = secondaryPause << (c.tries - 1)
	return secondary || resp.StatusCode == http.StatusTooManyRequests
}

// untilReset makes the next try wait until a limit ends, if the answer says when that is.
func (f forge) untilReset(c *call, h http.Header) bool {
	reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err == nil {
		c.wait = max(time.Unix(reset, 0).Sub(f.now()), 0) + time.Second // clocks differ
	}
	return err == nil
}

// retryAfter reads how long a server wants to be left alone.
func (f forge) retryAfter(h http.Header) (time.Duration, bool) {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		const year = 365 * 24 * 60 * 60
		return time.Duration(min(seconds, year)) * time.Second, seconds >= 0
	}
	at, err := http.ParseTime(value)
	return max(at.Sub(f.now()), 0), err == nil
}

// looksLikePage tells a page for people from an answer for programs.
func looksLikePage(resp *http.Response, body []byte) bool {
	return strings.Contains(resp.Header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}
