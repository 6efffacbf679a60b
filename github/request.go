package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
)

// get reads one resource. What says what is done, such as "read issue 7 of
// acme/widget".
func (c *Client) get(ctx context.Context, what, needs, path string, into any) error {
	return c.do(ctx, &call{what: what, needs: needs}, http.MethodGet, path, nil, into)
}

// do makes one call with all its repetitions: it sends body as JSON if it is
// not nil, and reads the answer into into if that is not nil. Errors are an
// *Error, or why ctx was cancelled.
func (c *Client) do(ctx context.Context, k *call, method, path string, body, into any) error {
	k.began, k.method = c.manners.now(), method
	k.repeatable = k.repeatable || method != http.MethodPost
	if err := c.spaced(ctx, k); err != nil {
		return err
	}
	req, err := c.api.NewRequest(method, path, c.hide(body))
	if err != nil {
		return fmt.Errorf("%s: %w", k.what, err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if k.known != "" {
		req.Header.Set("If-None-Match", k.known)
	}
	resp, err := c.api.BareDo(context.WithValue(ctx, callKey{}, k), req)
	if resp != nil && resp.Response != nil {
		defer func() { _ = resp.Body.Close() }() // read by check
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case k.problem != nil:
		return k.problem
	case resp == nil || resp.Response == nil:
		return c.manners.problem(k, Unavailable, "was not asked", "try again later", err)
	}
	k.status, k.header = resp.StatusCode, resp.Header
	return c.decode(k, resp.Body, into)
}

// decode reads an answer that is good JSON, or has no body by its nature.
func (c *Client) decode(k *call, body io.Reader, into any) error {
	if into == nil || k.status == http.StatusNoContent || k.status == http.StatusNotModified {
		return nil
	}
	data, err := io.ReadAll(body)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return c.misfit(k, misfit(err), err)
	}
	return nil
}

// misfit is for an answer that is JSON, but not what was asked for. What was
// to be done may have been done.
func (c *Client) misfit(k *call, how string, err error) *Error {
	p := c.manners.unreadable(k, how, err)
	p.Status, p.unclear = k.status, true
	return p
}

// misfit says in what an answer differs from what was expected.
func misfit(err error) string {
	var field *json.UnmarshalTypeError
	if errors.As(err, &field) && field.Field != "" {
		return fmt.Sprintf("its %s is a %s", field.Field, field.Value)
	}
	return "it is not what was asked for"
}

// repoPath begins the path of everything in a repository.
func repoPath(owner, repo string) (string, error) {
	if !isName(owner) || !isName(repo) {
		return "", fmt.Errorf("%q is no repository: it takes owner/name", owner+"/"+repo)
	}
	return "repos/" + owner + "/" + repo, nil
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// isName reports whether a text can be the name of an owner or a repository,
// and stays one part of a path.
func isName(s string) bool { return nameForm.MatchString(s) && s != "." && s != ".." }
