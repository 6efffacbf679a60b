package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"

	"github.com/google/go-github/v60/github"
)

const writesPulls = "pull-requests: write"

// Pull reads a pull request. Errors are an *Error, or why ctx was cancelled.
func (c *Client) Pull(ctx context.Context, owner, name string, number int) (Pull, error) {
	return c.onePull(ctx, Request{
		What: fmt.Sprintf("read pull request %d of %s/%s", number, owner, name), Needs: "pull-requests: read", Path: numbered(owner, name, "pulls", int64(number)),
	})
}

// OpenPull opens a pull request from p.Head to p.Base with title, body and
// draft of p, or finds the open one that is there, and gives it as it is. Where drafts are not to be had it is no draft.
func (c *Client) OpenPull(ctx context.Context, owner, name string, p Pull) (Pull, error) {
	what := fmt.Sprintf("open a pull request of %s to %s in %s/%s", p.Head, p.Base, owner, name)
	if p.Head == "" || p.Base == "" || p.Title == "" {
		return Pull{}, errors.New(what + ": it takes a branch, a base and a title")
	}
	find := func() (Pull, bool, error) { return c.FindPull(ctx, owner, name, p) }
	create := func() (Pull, error) { return c.createPull(ctx, what, repoPath(owner, name), p) }
	made, err := once(ctx, c.retry, find, create)
	if e, is := errors.AsType[*Error](err); is && (e.Status == http.StatusConflict || e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Said, "already exists")) {
		if found, ok, problem := find(); problem == nil && ok { // somebody was faster
			return found, nil
		}
	}
	return made, err
}

// FindPull finds the open pull request of p.Head, to p.Base unless that is empty.
func (c *Client) FindPull(ctx context.Context, owner, name string, p Pull) (Pull, bool, error) {
	query := url.Values{"head": {owner + ":" + p.Head}, "state": {"open"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"100"}}
	list, _, err := do[[]*github.PullRequest](ctx, c.api, Request{
		What: "read the pull requests of " + owner + "/" + name, Needs: "pull-requests: read", Path: repoPath(owner, name) + "/pulls?" + query.Encode(),
	})
	if err != nil {
		return Pull{}, false, err
	}
	for _, w := range list { // not every forge looks at the query
		found := pullOf(w)
		if found.Number > 0 && found.Head == p.Head && (p.Base == "" || found.Base == p.Base) && found.State == "open" && strings.EqualFold(found.HeadRepository, owner+"/"+name) {
			return found, true, nil
		}
	}
	return Pull{}, false, nil
}

func (c *Client) createPull(ctx context.Context, what, path string, p Pull) (Pull, error) {
	r := Request{
		What: what, Needs: writesPulls, Method: http.MethodPost, Path: path + "/pulls",
		Body: map[string]any{"title": p.Title, "head": p.Head, "base": p.Base, "body": cut(p.Body), "draft": p.Draft},
	}
	made, err := c.onePull(ctx, r)
	if e, ok := errors.AsType[*Error](err); p.Draft && ok && e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Said, "raft pull requests are not supported") {
		r.Body["draft"] = false
		return c.onePull(ctx, r)
	}
	return made, err
}

// UpdatePull gives a pull request another body.
func (c *Client) UpdatePull(ctx context.Context, owner, name string, number int, body string) error {
	_, err := c.onePull(ctx, Request{
		What: fmt.Sprintf("edit pull request %d of %s/%s", number, owner, name), Needs: writesPulls, Method: http.MethodPatch,
		Path: numbered(owner, name, "pulls", int64(number)), Body: map[string]any{"body": cut(body)},
	})
	return err
}

// onePull makes a call that answers with a pull request.
func (c *Client) onePull(ctx context.Context, r Request) (Pull, error) {
	w, _, err := do[github.PullRequest](ctx, c.api, r)
	if err == nil && w.GetNumber() == 0 {
		err = c.misfit(r.What, "what it sent is no pull request", nil)
	}
	if err != nil {
		return Pull{}, err
	}
	return pullOf(&w), nil
}

// ReadyPull says of a draft that it is ready for review. A forge that cannot do it by its API gives an error of kind NotFound.
func (c *Client) ReadyPull(ctx context.Context, owner, name string, p Pull) error {
	if !p.Draft {
		return nil
	}
	// Doing it twice does the same as doing it once, except that the second time may be refused: then it is ready.
	const mutation = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
	err := c.Mutate(ctx, fmt.Sprintf("mark pull request %d of %s/%s as ready", p.Number, owner, name), writesPulls, mutation, map[string]any{"id": p.NodeID})
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	if e.Kind == Refused || e.unclear {
		if now, problem := c.Pull(ctx, owner, name, p.Number); problem == nil && !now.Draft {
			return nil
		}
	}
	if e.Kind == NotFound {
		e.Do = text.CauseOf("do_mark_ready", "mark it ready for review by hand: {url}", "url", p.URL)
	}
	return err
}
