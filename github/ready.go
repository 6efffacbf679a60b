package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// ReadyPull says of a draft that it is ready for review. One that is no draft
// is left alone. It needs p.Draft, p.Number, and p.NodeID if it is known.
//
// Errors are an *Error, or why ctx was cancelled. A forge that cannot do it by
// its API gives one of kind NotFound.
func (c *Client) ReadyPull(ctx context.Context, owner, name string, p Pull) error {
	if !p.Draft {
		return nil
	}
	find := func() (Pull, bool, error) {
		now, err := c.Pull(ctx, owner, name, p.Number)
		return now, err == nil && !now.Draft, err
	}
	if p.NodeID == "" {
		now, ready, err := find()
		if err != nil || ready {
			return err
		}
		p.NodeID = now.NodeID
	}
	// Doing it twice does the same as doing it once, except that the second time
	// may be refused: then it is ready.
	k := &call{what: fmt.Sprintf("mark pull request %d of %s/%s as ready", p.Number, owner, name), needs: writesPulls, repeatable: true, reads: true}
	const mutation = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
	err := c.query(ctx, k, mutation, map[string]any{"id": p.NodeID}, &struct{}{})
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind == Refused || e.unclear {
		if _, ready, problem := find(); problem == nil && ready {
			return nil
		}
	}
	if e.Kind == NotFound {
		e.Do = "mark it ready for review by hand: " + p.URL
	}
	return err
}

// MayOpenPull asks whether the token may open pull requests to base, by asking
// for one that cannot be: nil says that it may. Nothing is opened.
func (c *Client) MayOpenPull(ctx context.Context, owner, name, base string) error {
	path, err := repoPath(owner, name)
	if err != nil {
		return err
	}
	k := &call{what: fmt.Sprintf("ask whether pull requests may be opened in %s/%s", owner, name), needs: writesPulls, repeatable: true, reads: true}
	body := map[string]any{"title": "May pull requests be opened?", "head": base, "base": base}
	made, err := c.onePull(ctx, k, http.MethodPost, path+"/pulls", body)
	var e *Error
	switch {
	case err == nil: // no forge is known that does
		return c.misfit(k, fmt.Sprintf("it opened pull request %d of %s to itself; close that", made.Number, base), nil)
	case errors.As(err, &e) && (e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusConflict):
		return nil
	}
	return err
}
