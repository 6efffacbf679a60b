// Package github is the door to GitHub, and to forges that speak its API: it
// reads what people wrote there, and answers them. It hides addresses, tokens,
// retries, pages and rate limits. What goes wrong is an *Error, which says what
// a person can do. Titles and bodies that it sends are masked, see Options.Mask.
//
// Nothing is made twice: whatever an answer that got lost leaves open is looked
// up before it is asked for again.
//
// The token goes to the host of the API and nowhere else, and stands in no
// error.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
	"golang.org/x/time/rate"
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
	o.Token = strings.TrimSpace(o.Token)
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the GitHub token has spaces or characters that no token has: copy it again")
	}
	if o.Token != "" && base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, fmt.Errorf("%s is not encrypted, and the token is not sent there: use https", base.Redacted())
	}
	o.UserAgent, o.Patience = cmp.Or(o.UserAgent, "reprise"), cmp.Or(o.Patience, 2*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Slow == nil {
		o.Slow = o.Sleep
	}
	sender := http.Client{}
	if o.HTTP != nil {
		sender = *o.HTTP
	}
	if sender.Timeout <= 0 {
		sender.Timeout = 30 * time.Second
	}
	a := &api{o: o, base: base, http: &sender, writes: rate.NewLimiter(rate.Every(writeEvery), writeBurst)}
	sender.CheckRedirect = a.follow
	return &Client{a}, nil
}

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

// apiURL reads the address of an API. The path of the result ends in a slash.
func apiURL(address string) (*url.URL, error) {
	address = cmp.Or(strings.TrimSpace(address), PublicAPI)
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

// self remembers who the token acts for.
type self struct {
	mu     sync.Mutex
	user   User // zero as long as it is not known
	untold bool // the forge was asked and cannot tell
}

// Self says who the token acts for. The token of an app is no user, and learns it another way. The answer is kept.
// Some forges cannot tell; then it is known from the first reaction or comment that this client makes.
func (a *api) Self(ctx context.Context) (User, error) {
	a.self.mu.Lock()
	known := a.self.user
	a.self.mu.Unlock()
	if known != (User{}) {
		return known, nil
	}
	const what = "read who the token belongs to"
	w, _, err := do[github.User](ctx, a, Request{What: what, Path: "user"})
	if IsKind(err, Forbidden, NotFound) {
		var answer struct {
			Viewer struct {
				Login string
				ID    int64 `json:"databaseId"`
			}
		}
		err = a.query(ctx, Request{What: what}, "query { viewer { login databaseId } }", nil, &answer)
		w = github.User{Login: &answer.Viewer.Login, ID: &answer.Viewer.ID}
	}
	if err == nil && w.GetLogin() == "" {
		err = a.misfit(what, "it names nobody", nil)
	}
	if err != nil {
		return User{}, err
	}
	who := userOf(&w)
	if who.IsBot() {
		who.Type = "Bot"
	}
	a.learn(who)
	return who, nil
}

// learn notes who wrote what this client has just written.
func (a *api) learn(who User) {
	if who.Login == "" {
		return
	}
	a.self.mu.Lock()
	defer a.self.mu.Unlock()
	a.self.user, a.self.untold = who, false
}

// whoami is Self for those that can do without: known is false if the forge
// cannot tell. An error is one that may be gone the next time.
func (a *api) whoami(ctx context.Context) (u User, known bool, err error) {
	a.self.mu.Lock()
	u, untold := a.self.user, a.self.untold
	a.self.mu.Unlock()
	if untold || u != (User{}) {
		return u, !untold, nil
	}
	u, err = a.Self(ctx)
	if IsKind(err, Forbidden, NotFound, Gone, Refused) {
		a.self.mu.Lock()
		a.self.untold = a.self.user == (User{})
		a.self.mu.Unlock()
		return User{}, false, nil
	}
	return u, err == nil, err
}

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
	unreadable  Kind = "unreadable"   // an answer that is not what the API gives
	redirected  Kind = "redirected"   // an answer that leads to another host
)

// Error says that something could not be had from GitHub, or done there.
type Error struct {
	Kind   Kind
	What   string          // what was to be done, such as "read issue 7 of acme/widget"
	Host   string          // where
	Does   metadata.Reason // what the host does or does not
	Status int             // of the answer; 0 if there was none
	Said   string          // GitHub's own message on one line; empty if it sent none
	Until  time.Time       // when it may be tried again; zero unless RateLimited
	Tries  int             // how often it was tried
	Do     metadata.Reason // what a person can do
	Err    error           // nil if the answer itself is the reason

	passing bool // another try may bring something else
	unclear bool // it may have been done all the same
}

// Error says what, why, and what to do, in English.
func (e *Error) Error() string { return e.Why().In(prompts.Words("en")) }

// Why says what, why, and what to do.
func (e *Error) Why() metadata.Reason {
	var answer []metadata.Reason
	for _, said := range e.answer() {
		answer = append(answer, metadata.Said(said))
	}
	if e.Tries > 1 {
		answer = append(answer, metadata.Because("github_tries", "n", e.Tries))
	}
	if len(answer) == 0 {
		return metadata.Because("github_failed", "what", e.What, "host", e.Host, "why", e.Does, "do", e.Do)
	}
	return metadata.Because("github_failed_saying", "what", e.What, "host", e.Host, "why", e.Does, "answer", answer, "do", e.Do)
}

// answer gives what GitHub itself said: the status, and its message in quotes.
func (e *Error) answer() (said []string) {
	if e.Status >= 300 {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.Said != "" {
		said = append(said, fmt.Sprintf("%q", e.Said))
	}
	return said
}

// Code gives the reason code of a run that the error stops.
func (e *Error) Code() metadata.Code {
	if e.Kind == Forbidden || e.Kind == BadToken {
		return metadata.CredentialsMissing
	}
	return metadata.APIError
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
