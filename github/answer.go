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
func (m manners) broken(c *call, err error) *Error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the rest is the address
	}
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case isTimeout(err):
		return m.problem(c, Silent, fmt.Sprintf("did not answer within %s", m.answer), "check the network, or try again later", err).mayPass().mayBeDone()
	case errors.As(err, &certificate):
		return m.problem(c, Unavailable, "cannot be trusted: "+err.Error(), "check the address, and the certificates of this machine", err)
	case errors.As(err, &name) && name.IsNotFound:
		return m.problem(c, Unavailable, "was not found", "check the network, and GITHUB_API_URL if it is set", err)
	}
	p := m.problem(c, Unavailable, "cannot be reached: "+err.Error(), "check the network and try again", err).mayPass()
	var network *net.OpError
	if errors.As(err, &network) && network.Op == "dial" {
		return p // nothing was sent
	}
	return p.mayBeDone()
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// judge says what is wrong with an answer; nil if nothing is. It may change
// how long to wait.
func (m manners) judge(c *call, resp *http.Response, body []byte, err error) *Error {
	p := m.judged(c, resp, body, err)
	if p != nil {
		p.Status = resp.StatusCode
		if p.Said == "" {
			p.Said = m.said(body)
		}
	}
	return p
}

func (m manners) judged(c *call, resp *http.Response, body []byte, err error) *Error {
	status := resp.StatusCode
	switch {
	case errors.Is(err, errTooLong):
		return m.unreadable(c, "its answer has "+err.Error(), err).mayBeDone()
	case err != nil && !isTimeout(err):
		return m.unreadable(c, "its answer is cut off", err).mayPass().mayBeDone()
	case err != nil:
		return m.broken(c, err)
	case m.limited(c, resp, body):
		return m.rateLimited(c).mayBeDone() // nothing says that who is told so was not served
	case status >= 500:
		if d, ok := m.retryAfter(resp.Header); ok {
			c.wait = d
		}
		return m.problem(c, Unavailable, "does not work at the moment", "try again later", nil).mayPass().mayBeDone()
	case status == http.StatusNotModified && c.known != "", status == http.StatusNoContent:
		return nil
	case status >= 300 && status < 400:
		return m.problem(c, Redirected, "redirects to another place, which is not followed because the token must not go there",
			"check the address of the API, and whether the repository has moved", nil)
	case looksLikePage(resp, body):
		p := m.unreadable(c, "answered with a web page instead of JSON", nil)
		p.unclear = status < 300
		return p
	case status >= 400:
		return m.refused(c, resp, m.said(body))
	case !json.Valid(body):
		return m.unreadable(c, "its answer is cut off, or no JSON", nil).mayPass().mayBeDone()
	case c.graphql:
		return m.judgeQuery(c, resp, body)
	}
	return nil
}

// limited reports whether GitHub refuses because there were too many
// requests, and notes how long it wants to be left alone.
func (m manners) limited(c *call, resp *http.Response, body []byte) bool {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return false
	}
	if d, ok := m.retryAfter(resp.Header); ok {
		c.wait = d
		return true
	}
	if resp.Header.Get("X-Ratelimit-Remaining") == "0" && m.untilReset(c, resp.Header) {
		return true
	}
	text := strings.ToLower(string(body[:min(len(body), 4096)]))
	secondary := strings.Contains(text, "secondary rate limit") || strings.Contains(text, "abuse detection")
	c.wait = secondaryPause << (c.tries - 1)
	return secondary || resp.StatusCode == http.StatusTooManyRequests
}

// untilReset makes the next try wait until a limit ends, if the answer says
// when that is.
func (m manners) untilReset(c *call, h http.Header) bool {
	reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err == nil {
		c.wait = max(time.Unix(reset, 0).Sub(m.now()), 0) + time.Second // clocks differ
	}
	return err == nil
}

// retryAfter reads how long a server wants to be left alone.
func (m manners) retryAfter(h http.Header) (time.Duration, bool) {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		const year = 365 * 24 * 60 * 60
		return time.Duration(min(seconds, year)) * time.Second, seconds >= 0
	}
	at, err := http.ParseTime(value)
	return max(at.Sub(m.now()), 0), err == nil
}

// looksLikePage tells a page for people from an answer for programs.
func looksLikePage(resp *http.Response, body []byte) bool {
	return strings.Contains(resp.Header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}
