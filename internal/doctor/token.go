package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
)

// tokenFacts is what a forge tells of a token besides its answers. What it does
// not tell is zero.
type tokenFacts struct {
	Classic bool      // the token is one of a person, with scopes instead of permissions
	Scopes  []string  // of a classic one
	Expires time.Time // zero also if it never does
	Limit   int       // requests that are allowed in an hour
	Left    int       // those of them that are left
}

// tokenFacts reads what the forge tells of the token when the repository is read.
func (c *forgeCheck) tokenFacts(ctx context.Context) (tokenFacts, error) {
	a, err := c.gh.Ask(ctx, c.owner, c.name, github.Request{
		What: fmt.Sprintf("read what the token may do in %s/%s", c.owner, c.name), Needs: "metadata: read", Method: http.MethodGet,
	}, nil)
	return factsIn(a.Header), err
}

// factsIn reads the headers that tell of a token. The one that counts down is
// not among them: the client takes it out, and the one that counts up says the
// same.
func factsIn(h http.Header) tokenFacts {
	var r tokenFacts
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

// jobsMayOpenPulls asks whether jobs may open pull requests with the token that
// they are given, which only administrators are told. Where the forge does not
// say, they may.
func (c *forgeCheck) jobsMayOpenPulls(ctx context.Context) (bool, error) {
	w := struct {
		May bool `json:"can_approve_pull_request_reviews"`
	}{May: true}
	_, err := c.gh.Ask(ctx, c.owner, c.name, github.Request{
		What: fmt.Sprintf("read what jobs of %s/%s may do", c.owner, c.name), Needs: "administration: read",
		Method: http.MethodGet, Path: "/actions/permissions/workflow",
	}, &w)
	return w.May, err
}
