// Package github is the door to GitHub, and to forges that speak its API: it
// reads what people wrote there, and answers them. It hides addresses, tokens,
// retries, pages and rate limits. What goes wrong is an *Error, which says what
// a person can do.
//
// Nothing is made twice: whatever an answer that got lost leaves open is looked
// up before it is asked for again.
//
// The token goes to the host of the API and nowhere else, and stands in no
// error.
package github

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/hashicorp/go-retryablehttp"
)

// PublicAPI is the API of github.com.
const PublicAPI = "https://api.github.com"

// Options say which GitHub to talk to, and how. The zero value reads what is
// public on github.com.
type Options struct {
	Token     string // empty: what everybody may read
	APIURL    string // empty: PublicAPI; GitHub Enterprise has it at https://HOST/api/v3
	UserAgent string // empty: reprise

	// HTTP sends the requests; nil: the usual transport, and 30 s for one
	// answer. It decides about transport and time only, never about redirects.
	HTTP *http.Client

	// Patience is the longest that one request may take with all its repetitions,
	// as Now tells the time; 0: two minutes. A wait that GitHub asks for and
	// that would end later is not begun. What takes several requests takes longer.
	Patience time.Duration

	// Mask takes out of a title or a body what must not be seen; nil: nothing. It
	// gives the same text for what it gave.
	Mask func(text string) string

	Now   func() time.Time                                 // nil: time.Now
	Sleep func(ctx context.Context, d time.Duration) error // nil: waits, or returns why ctx was cancelled
	// Slow is Sleep before something is written, where nothing is repeated: it
	// would be too much at once; nil: Sleep.
	Slow func(ctx context.Context, d time.Duration) error
}

// Client talks to one GitHub. It may be used by several goroutines.
//
// It writes at a pace that GitHub bears: reactions, comments and their edits,
// issues, pull requests and started workflows, ten at once after a rest, and one
// every ten seconds on average. One more waits, by Options.Slow; if that would
// be longer than Options.Patience, it fails as RateLimited and was not sent.
type Client struct {
	api     *github.Client
	token   string
	mask    func(text string) string
	manners manners
	pace    pace
	self    self
}

const (
	answerTime = 30 * time.Second
	patience   = 2 * time.Minute
	userAgent  = "reprise"
)

// New makes a client. It sends nothing. It refuses an address that is none,
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
	m := newManners(o, base, token)
	c := &Client{token: token, mask: o.Mask, manners: m, api: github.NewClient(m.client(o.HTTP))}
	c.api.BaseURL, c.api.UserAgent = base, userAgent
	if o.UserAgent != "" {
		c.api.UserAgent = o.UserAgent
	}
	return c, nil
}

// apiURL reads the address of an API. The path of the result ends in a slash.
func apiURL(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if address == "" {
		address = PublicAPI
	}
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return nil, errors.New("the address of the GitHub API is no http address; it looks like https://api.github.com, or https://HOST/api/v3 for GitHub Enterprise")
	case u.User != nil:
		return nil, errors.New("the address of the GitHub API has a user or a password in it: take that out, and give a token")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the address of the GitHub API has more than a path: %s", u.Redacted())
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawPath = ""
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// answerOrError hands on what the last try gave. The library gives an answer
// besides an error, too, and net/http complains about that on standard error.
func answerOrError(resp *http.Response, err error, _ int) (*http.Response, error) {
	if err != nil && resp != nil {
		_ = resp.Body.Close() // read by check
		return nil, err
	}
	return resp, err
}

// client wraps what sends the requests into what repeats them. Only the inner
// one follows redirects; the outer one would do so by rules of its own.
func (m manners) client(inner *http.Client) *http.Client {
	sender := http.Client{}
	if inner != nil {
		sender = *inner
	}
	sender.Timeout, sender.CheckRedirect = m.answer, m.follow
	repeating := &retryablehttp.Client{
		HTTPClient:   &sender,
		Logger:       nil,      // requests are nobody's business
		RetryMax:     maxTries, // more than check allows
		CheckRetry:   m.check,
		Backoff:      noBackoff, // the wait is in pause, which takes a clock
		PrepareRetry: m.pause,
		ErrorHandler: answerOrError,
	}
	outer := repeating.StandardClient()
	outer.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return outer
}
