package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Rights is what a forge tells of a token besides its answers. What it does
// not tell is zero.
type Rights struct {
	Classic bool      // the token is one of a person, with scopes instead of permissions
	Scopes  []string  // of a classic one
	Expires time.Time // zero also if it never does
	Limit   int       // requests that are allowed in an hour
	Left    int       // those of them that are left
}

// Rights reads what the forge tells of the token when owner/name is read.
// Errors are an *Error, or why ctx was cancelled.
func (c *Client) Rights(ctx context.Context, owner, name string) (Rights, error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return Rights{}, err
	}
	k := &call{what: fmt.Sprintf("read what the token may do in %s/%s", owner, name), needs: "metadata: read"}
	if err := c.do(ctx, k, http.MethodGet, path, nil, nil); err != nil {
		return Rights{}, err
	}
	return rightsIn(k.header), nil
}

// rightsIn reads the headers that tell of a token. The one that counts down is
// not among them: it is taken out before it gets here, and the one that counts
// up says the same.
func rightsIn(h http.Header) Rights {
	var r Rights
	if list, ok := h["X-Oauth-Scopes"]; ok {
		r.Classic = true
		r.Scopes = strings.FieldsFunc(strings.Join(list, ","), func(c rune) bool { return c == ',' || c == ' ' })
	}
	for _, form := range []string{"2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"} {
		if at, err := time.Parse(form, h.Get("Github-Authentication-Token-Expiration")); err == nil {
			r.Expires = at.UTC()
		}
	}
	limit, err := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	used, err2 := strconv.Atoi(h.Get("X-Ratelimit-Used"))
	if errors.Join(err, err2) == nil && limit > 0 {
		r.Limit, r.Left = limit, max(limit-used, 0)
	}
	return r
}

// MayPush asks whether the token may make branches in owner/name, by asking for
// one at a commit that cannot be: nil says that it may, or that the forge
// cannot tell. Nothing is made. Rules for single branches are not looked at.
func (c *Client) MayPush(ctx context.Context, owner, name string) error {
	return c.mayWrite(ctx, owner, name, "branches may be pushed", "contents: write", "/git/refs",
		map[string]any{"ref": "refs/heads/may-it-be-pushed", "sha": strings.Repeat("0", 40)})
}

// MayWriteIssues asks whether the token may write issues and comments in
// owner/name, by asking for an issue without a title: nil says that it may, or
// that the forge cannot tell. Nothing is opened.
func (c *Client) MayWriteIssues(ctx context.Context, owner, name string) error {
	return c.mayWrite(ctx, owner, name, "issues may be written", "issues: write", "/issues", map[string]any{"title": ""})
}

// mayWrite asks for something that cannot be had. A forge looks at who asks
// before it looks at what for.
func (c *Client) mayWrite(ctx context.Context, owner, name, what, needs, where string, body map[string]any) error {
	path, err := repoPath(owner, name)
	if err != nil {
		return err
	}
	k := &call{what: fmt.Sprintf("ask whether %s in %s/%s", what, owner, name), needs: needs, repeatable: true, reads: true}
	err = c.do(ctx, k, http.MethodPost, path+where, body, nil)
	switch {
	case err == nil: // no forge is known that does
		return c.misfit(k, "it made what cannot be; look for it, and remove it", nil)
	case isKind(err, Refused, NotFound, Gone):
		return nil
	}
	return err
}

// ActionsMayOpenPulls asks whether the jobs of owner/name may open pull requests
// with the token that they are given. Only administrators are told; for others
// the error is an *Error of kind Forbidden or NotFound.
func (c *Client) ActionsMayOpenPulls(ctx context.Context, owner, name string) (bool, error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return false, err
	}
	var w struct {
		May *bool `json:"can_approve_pull_request_reviews"`
	}
	k := &call{what: fmt.Sprintf("read what jobs of %s/%s may do", owner, name), needs: "administration: read"}
	if err := c.do(ctx, k, http.MethodGet, path+"/actions/permissions/workflow", nil, &w); err != nil {
		return false, err
	}
	if w.May == nil {
		return false, c.misfit(k, "it does not say", nil)
	}
	return *w.May, nil
}
