package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// PublicAPI is the API of github.com.
const PublicAPI = "https://api.github.com"

// Options say which GitHub to talk to, and how.
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

	// Mask takes out of a title or a body what must not be seen; nil: nothing.
	Mask func(text string) string

	Now   func() time.Time                                 // nil: time.Now
	Sleep func(ctx context.Context, d time.Duration) error // nil: waits, or returns why ctx was cancelled
	// Slow is Sleep before something is written, where nothing is repeated: it would be too much at once; nil: Sleep.
	Slow func(ctx context.Context, d time.Duration) error
}

const (
	answerTime = 30 * time.Second
	patience   = 2 * time.Minute
	userAgent  = "reprise"
)

// apiURL reads the address of an API. The path of the result ends in a slash.
func apiURL(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	address = cmp.Or(address, PublicAPI)
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
