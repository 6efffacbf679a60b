package github

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/reprise-ci/reprise/internal/text"
)

// api makes calls: it sends, repeats and reads, and knows who the token acts for.
type api struct {
	// The two methods of the library's client that are used. Held as such, the
	// linker leaves out all the others.
	newRequest func(method, path string, body any, opts ...github.RequestOption) (*http.Request, error)
	send       func(context.Context, *http.Request) (*github.Response, error)

	plain   *http.Client // sends no token, to hosts that an answer names
	token   string
	mask    func(text string) string
	retry   retryPolicy
	limiter limiter
	self    self
}

// get reads one resource. What says what is done, such as "read issue 7 of
// acme/widget".
func (a *api) get(ctx context.Context, what, needs, path string, into any) error {
	return a.do(ctx, &call{what: what, needs: needs}, request{http.MethodGet, path, nil}, into)
}

// request is what a call sends. A body that is not nil is sent as JSON.
type request struct {
	method, path string
	body         any
}

// do makes one call with all its repetitions, and reads the answer into into if
// that is not nil. Errors are an *Error, or why ctx was cancelled.
func (a *api) do(ctx context.Context, k *call, r request, into any) error {
	k.began, k.method = a.retry.now(), r.method
	k.repeatable = k.repeatable || r.method != http.MethodPost
	if strings.HasPrefix(r.path, nowhere) {
		return fmt.Errorf("%s: that cannot be: it takes the names of an owner and a repository, and numbers from 1", k.what)
	}
	if err := a.spaced(ctx, k); err != nil {
		return err
	}
	req, err := a.newRequest(r.method, r.path, a.masked(r.body))
	if err != nil {
		return fmt.Errorf("%s: %w", k.what, err)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	if k.accept != "" {
		req.Header.Set("Accept", k.accept)
	}
	if k.known != "" {
		req.Header.Set("If-None-Match", k.known)
	}
	resp, err := a.send(context.WithValue(ctx, callKey{}, k), req)
	if resp != nil && resp.Response != nil {
		defer func() { _ = resp.Body.Close() }() // read by check
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case k.problem != nil:
		return k.problem
	case resp == nil || resp.Response == nil:
		return a.retry.problem(k, Unavailable, text.CauseOf("github_not_asked", "was not asked"), tryLater(), err)
	}
	k.status, k.header, k.more, k.last = resp.StatusCode, resp.Header, resp.NextPage > 0, resp.LastPage
	return a.decode(k, resp.Body, into)
}

// decode reads an answer that is good JSON, or has no body by its nature.
func (a *api) decode(k *call, body io.Reader, into any) error {
	if into == nil || k.status == http.StatusNoContent || k.status == http.StatusNotModified {
		return nil
	}
	data, err := io.ReadAll(body)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return a.misfit(k, misfit(err), err)
	}
	return nil
}

// misfit is for an answer that is JSON, but not what was asked for. What was
// to be done may have been done.
func (a *api) misfit(k *call, how string, err error) *Error {
	p := a.retry.unreadable(k, wrong(how), err)
	p.Status, p.unclear = k.status, true
	return p
}

// masked masks the texts of what is about to be sent: titles and bodies. It is
// the one way out for all of them, so that none is forgotten.
func (a *api) masked(body any) any {
	if a.mask == nil {
		return body
	}
	switch fields := body.(type) {
	case map[string]string:
		for _, name := range []string{"title", "body"} {
			if text, ok := fields[name]; ok {
				fields[name] = cut(a.mask(text)) // what stands in its place may be longer
			}
		}
	case map[string]any:
		for _, name := range []string{"title", "body"} {
			if text, ok := fields[name].(string); ok {
				fields[name] = cut(a.mask(text))
			}
		}
	}
	return body
}
