package github

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Client talks to one GitHub. It may be used by several goroutines. It writes at a pace that GitHub bears: reactions,
// comments and their edits, issues, pull requests and started workflows, ten at once after a rest, and one every ten
// seconds on average. A write that comes earlier waits, and Options.Slow is told; if it would wait longer than
// Options.Patience, it fails as RateLimited, unsent.
type Client struct{ *api }

// New makes a client. It sends nothing. It refuses an address that is not valid,
// and one that a token would reach unencrypted.
func New(o Options) (*Client, error) {
	base, err := apiURL(o.APIURL)
	if err != nil {
		return nil, err
	}
	token := strings.TrimSpace(o.Token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the GitHub token has spaces or characters that no token has: copy it again")
	}
	if token != "" && base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, fmt.Errorf("%s is not encrypted, and the token is not sent there: use https", base.Redacted())
	}
	retry := newRetryPolicy(o, base, token)
	a := &api{agent: cmp.Or(o.UserAgent, userAgent), token: token, mask: o.Mask, retry: retry, limiter: newLimiter()}
	sender := http.Client{}
	if o.HTTP != nil {
		sender = *o.HTTP
	}
	a.transport = sender.Transport
	sender.Timeout, sender.CheckRedirect = retry.answer, retry.follow
	a.http = &sender
	return &Client{a}, nil
}
