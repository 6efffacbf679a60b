package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-github/v60/github"
)

// Post puts a comment with a marker, or finds the one that is there: a comment by the account of the token whose
// first line is exactly marker, made or changed at since or later. However often it is called, and whatever happens
// on the way, there is one. Marker is an HTML comment on one line; body is given without it or with it. What is
// longer than a comment may be is cut off.
func (t *Thread) Post(ctx context.Context, marker, body string, since time.Time) (Comment, error) {
	text, err := marked(marker, body)
	if err != nil {
		return Comment{}, fmt.Errorf("comment on %s: %w", t, err)
	}
	made := false
	c, err := once(ctx, t.c.retry,
		func() (Comment, bool, error) { return t.find(ctx, marker, since) },
		func() (Comment, error) {
			made = true
			return t.create(ctx, text)
		},
	)
	if err != nil || !made {
		return c, err
	}
	// Another process may have looked when there was none, too.
	switch first, found, err := t.find(ctx, marker, since); {
	case err != nil && !errors.Is(err, errNobody):
		return c, err
	case err == nil && found && first.ID < c.ID:
		return first, nil
	}
	return c, nil // also where a list lags behind
}

// Find looks for the comment of our own that begins with marker and that was written or changed since a time, as Post
// does.
func (t *Thread) Find(ctx context.Context, marker string, since time.Time) (Comment, bool, error) {
	c, found, err := t.find(ctx, marker, since)
	if errors.Is(err, errNobody) {
		err = nil
	}
	return c, found, err
}

// find looks for the comment of our own that begins with marker. A marker alone proves nothing: anybody can write
// one. Of several that were made at once, the oldest stays, and whoever sees the others takes them away: their own
// maker may have been cut off before it looked again.
func (t *Thread) find(ctx context.Context, marker string, since time.Time) (Comment, bool, error) {
	me, known, err := t.c.whoami(ctx)
	switch {
	case err != nil:
		return Comment{}, false, err
	case !known:
		return Comment{}, false, errNobody
	}
	list, err := t.read(ctx, since)
	if err != nil {
		return Comment{}, false, err
	}
	var first Comment
	for _, c := range list {
		switch {
		case !me.Is(c.Author) || firstLine(c.Body) != marker:
		case first.ID == 0:
			first = c
		default:
			if err := t.takeAway(ctx, c.ID); err != nil {
				return first, true, err
			}
		}
	}
	return first, first.ID != 0, nil
}

// takeAway deletes a comment that is there twice.
func (t *Thread) takeAway(ctx context.Context, id int64) error {
	_, _, err := do[any](ctx, t.c, Request{
		What: fmt.Sprintf("take away comment %d of %s, which is there twice", id, t), Needs: "issues: write", Method: http.MethodDelete, Path: t.commentPath(id),
	})
	if IsKind(err, NotFound, Gone) {
		return nil
	}
	return err
}

func (t *Thread) create(ctx context.Context, text string) (Comment, error) {
	what := "comment on " + t.String()
	w, _, err := do[github.IssueComment](ctx, t.c, Request{
		What: what, Needs: "issues: write", Method: http.MethodPost, Path: t.path() + "/comments", Body: map[string]any{"body": text},
	})
	if err == nil && w.GetID() == 0 {
		err = t.c.misfit(what, "what it sent is no comment", nil)
	}
	if err != nil {
		return Comment{}, err
	}
	t.c.learn(userOf(w.User))
	return commentOf(&w), nil
}
