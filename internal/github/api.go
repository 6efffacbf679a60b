package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"

	"github.com/reprise-ci/reprise/internal/text"
)

// Request is a call of the API.
type Request struct {
	What       string         // verb and object, such as "read the reviews of pull request 8"
	Needs      string         // the permission that a token must have, such as "pull-requests: read"
	Method     string         // empty: GET
	Path       string         // below the repository, such as /pulls/8/reviews
	Body       map[string]any // nil: none; a title and a body are masked, and cut where they are too long
	Cached     bool           // an answer is kept, and given again as long as it is the same
	Repeatable bool           // doing it twice does the same as doing it once, though it is a POST
	Doubts     bool           // that it is not there is believed when it was said twice

	gitea   string // Needs where the forge is Gitea or Forgejo; empty: the same words
	accept  string // the form of the answer that is asked for; empty: the usual one
	graphql bool   // answers 200 with the errors in the body
	reads   bool   // creates nothing, whatever the method says
	leads   bool   // the answer says where to read on, which may be on another host
}

// answer is what came besides the value that was asked for.
type answer struct {
	Header http.Header
	More   bool // another page follows
	Last   int  // of the first page of a list of hundreds, the number of the last; 0: the forge does not say

	status    int
	body      []byte
	ambiguous bool // a try may have been done although its answer was lost
}

// follows reports whether another page of a list follows one with so many entries, as the Link
// header says. Without one, as from forges that send none, a full page has another behind it.
func (a answer) follows(count int) bool {
	return a.More || a.Header.Get("Link") == "" && count >= perPage
}

// api makes the calls. Clients and threads share it.
type api struct {
	o      Options // with all that was left empty
	base   *url.URL
	http   *http.Client
	writes *rate.Limiter
	self   self
	kept   sync.Map // answers to requests that are Cached, by path
}

// call is a request on its way, with all its repetitions.
type call struct {
	Request
	began     time.Time
	tries     int
	wait      time.Duration // before the next try
	ambiguous bool          // a try may have been done although its answer was lost
}

// do makes a call, and gives the value in the answer; as any, whatever that is.
func do[T any](ctx context.Context, a *api, r Request) (value T, got answer, err error) {
	if got, err = a.send(ctx, r); err == nil {
		err = a.decode(r, got, &value)
	}
	return value, got, err
}

// Ask makes a call as all others are made, and reads the answer into into, unless that is nil.
func (c Repo) Ask(ctx context.Context, r Request, into any) (answer, error) {
	r.Path = c.path() + r.Path
	got, err := c.send(ctx, r)
	if err == nil && into != nil {
		err = c.decode(r, got, into)
	}
	return got, err
}

// send makes a call, more than once where that may help.
func (a *api) send(ctx context.Context, r Request) (got answer, err error) {
	r.Method = cmp.Or(r.Method, http.MethodGet)
	r.Repeatable = r.Repeatable || r.Method != http.MethodPost
	k := &call{Request: r, began: a.o.Now()}
	if strings.HasPrefix(r.Path, nowhere) {
		return answer{}, fmt.Errorf("%s: that cannot be: it takes the names of an owner and a repository, and numbers from 1", r.What)
	}
	if err := a.spaced(ctx, k); err != nil {
		return answer{}, err
	}
	var body []byte
	at, err := a.base.Parse(r.Path)
	if err == nil && r.Body != nil {
		body, err = json.Marshal(a.masked(r.Body))
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", r.What, err)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, k.Method, at.String(), body)
	if err != nil {
		return answer{}, a.broken(k, err)
	}
	a.head(req.Header, k, body != nil)
	var problem *Error
	client := retryablehttp.Client{
		HTTPClient: a.http,
		RetryMax:   maxTries, // more than again allows
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			got, problem = a.read(k, resp, err)
			if problem != nil {
				problem.Tries, k.ambiguous = k.tries, k.ambiguous || problem.unclear
			}
			end, ends := ctx.Deadline()
			return problem != nil && ctx.Err() == nil && !(ends && k.wait > time.Until(end)) && a.again(k, problem), nil
		},
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 }, // the wait is below, by a clock that tests give
		PrepareRetry: func(req *http.Request) error { return a.o.Sleep(req.Context(), k.wait) },
		ErrorHandler: func(resp *http.Response, err error, _ int) (*http.Response, error) { return resp, err },
	}
	_, _ = client.Do(req) // read has what came of it
	switch got.ambiguous = k.ambiguous; {
	case ctx.Err() != nil:
		return answer{}, context.Cause(ctx)
	case problem != nil:
		return answer{ambiguous: k.ambiguous}, problem
	}
	return got, nil
}

// head sets what every request says of itself.
func (a *api) head(h http.Header, k *call, hasBody bool) {
	h.Set("Accept", cmp.Or(k.accept, "application/vnd.github+json"))
	h.Set("User-Agent", a.o.UserAgent)
	h.Set("X-Github-Api-Version", "2022-11-28")
	if hasBody {
		h.Set("Content-Type", "application/json")
	}
	if a.o.Token != "" {
		h.Set("Authorization", "Bearer "+a.o.Token)
	}
	if before, ok := a.kept.Load(k.Path); ok && k.Cached {
		h.Set("If-None-Match", before.(answer).Header.Get("ETag"))
	}
}

// read reads what came of a try, the whole answer, because a connection can break in its
// middle. It says what is wrong with it.
func (a *api) read(k *call, resp *http.Response, err error) (answer, *Error) {
	k.tries++
	k.wait = firstPause << (k.tries - 1)
	k.wait += rand.N(k.wait / 4) // so that jobs that failed together do not come back together
	if err != nil {
		return answer{}, a.broken(k, err)
	}
	got := answer{Header: resp.Header, status: resp.StatusCode}
	got.body, err = readAll(resp)
	resp.Body = http.NoBody
	if problem := a.classify(k, resp, got.body, err); problem != nil {
		return got, problem
	}
	if before, ok := a.kept.Load(k.Path); ok && k.Cached && got.status == http.StatusNotModified {
		return before.(answer), nil
	}
	for _, m := range linkForm().FindAllStringSubmatch(strings.Join(got.Header.Values("Link"), ","), -1) {
		if u, err := url.Parse(m[1]); err == nil {
			page, _ := strconv.Atoi(u.Query().Get("page")) // else it leads to no page
			if m[2] == "last" {
				got.Last = page
			}
			got.More = got.More || m[2] == "next" && page > 0
		}
	}
	if k.Cached && got.Header.Get("ETag") != "" {
		a.kept.Store(k.Path, got)
	}
	return got, nil
}

var linkForm = text.Pattern(`<([^<>]+)>;\s*rel="(next|last)"`)

// decode reads the value of an answer, if it has one.
func (a *api) decode(r Request, got answer, into any) error {
	if got.status == http.StatusNoContent || got.status >= 300 {
		return nil
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		return a.misfit(r.What, misfit(err), err)
	}
	return nil
}

// misfit is for an answer that is not what was asked for.
func (a *api) misfit(what, how string, err error) *Error {
	return a.unreadable(what, wrong(how), err).mayBeDone()
}

// masked takes out of the texts that a request has for people what must not be seen. What
// stands in its place may be longer.
func (a *api) masked(fields map[string]any) any {
	if fields == nil {
		return nil
	}
	for _, name := range []string{"title", "body"} {
		if text, ok := fields[name].(string); ok && a.o.Mask != nil {
			fields[name] = cut(a.o.Mask(text))
		}
	}
	return fields
}

// query makes a call of the GraphQL API.
func (a *api) query(ctx context.Context, r Request, query string, variables map[string]any, into any) error {
	r.graphql, r.Repeatable, r.reads, r.Method, r.Path = true, true, true, http.MethodPost, "graphql"
	if base := a.base.Path; strings.HasSuffix(base, "/api/v3/") { // GitHub Enterprise
		r.Path = strings.TrimSuffix(base, "v3/") + "graphql"
	}
	r.Body = map[string]any{"query": query, "variables": variables}
	answer, _, err := do[struct{ Data json.RawMessage }](ctx, a, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return a.misfit(r.What, misfit(err), err)
	}
	return nil
}

// Mutate asks the GraphQL API for a change that done twice is the same as done once.
func (c *Client) Mutate(ctx context.Context, what, needs, mutation string, variables map[string]any) error {
	return c.query(ctx, Request{What: what, Needs: needs}, mutation, variables, &struct{}{})
}
