package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-github/v60/github"
)

// Reaction is one of the little pictures that people put on comments.
type Reaction string

// The reactions that reprise uses.
const (
	Eyes       Reaction = "eyes"
	Rocket     Reaction = "rocket"
	ThumbsDown Reaction = "-1"
	Confused   Reaction = "confused"
)

// React puts a reaction on a comment. Fresh is false if the account of the token had it there already. Where the
// answer to a first try was lost, nobody can tell, and fresh is true.
func (t *Thread) React(ctx context.Context, comment int64, r Reaction) (fresh bool, err error) {
	// The same reaction by the same account twice is one reaction.
	w, got, err := do[struct{ User *github.User }](ctx, t.c, Request{
		What: fmt.Sprintf("react to comment %d of %s", comment, t), Needs: "issues: write", Method: http.MethodPost, Repeatable: true,
		Path: t.commentPath(comment) + "/reactions", Body: map[string]any{"content": r},
	})
	if err != nil {
		return false, err
	}
	t.c.learn(userOf(w.User))
	return got.status == http.StatusCreated || got.ambiguous, nil
}

// mostReactedPages is how many pages of a hundred reactions Reacted reads.
const mostReactedPages = 3

// Reacted reads which reactions a comment has of this client's account or of the account of workflows, which the gate
// of a run may act for. Whole is false if others of them may be among those that were not read: the comment has very
// many, or the forge does not say whose the token is.
func (t *Thread) Reacted(ctx context.Context, comment int64) (ours []Reaction, whole bool, err error) {
	found, whole, err := t.reacted(ctx, comment)
	for _, r := range found {
		ours = append(ours, Reaction(r.GetContent()))
	}
	return ours, whole, err
}

// TakeBack takes a reaction of ours off a comment, if it is there.
func (t *Thread) TakeBack(ctx context.Context, comment int64, r Reaction) error {
	found, _, err := t.reacted(ctx, comment)
	for _, is := range found {
		if err == nil && Reaction(is.GetContent()) == r {
			_, _, err = do[any](ctx, t.c, Request{
				What: fmt.Sprintf("take a reaction off comment %d of %s", comment, t), Needs: "issues: write", Method: http.MethodDelete, Path: fmt.Sprintf("%s/reactions/%d", t.commentPath(comment), is.GetID()),
			})
		}
	}
	return err
}

func (t *Thread) reacted(ctx context.Context, comment int64) (ours []*github.Reaction, whole bool, err error) {
	me, known, err := t.c.whoami(ctx)
	if err != nil || !known {
		return nil, false, err
	}
	for n := 1; n <= mostReactedPages; n++ {
		list, got, err := do[[]*github.Reaction](ctx, t.c, Request{
			What: fmt.Sprintf("read the reactions to comment %d of %s", comment, t), Needs: "issues: read", Path: fmt.Sprintf("%s/reactions?per_page=%d&page=%d", t.commentPath(comment), perPage, n),
		})
		if err != nil {
			return nil, false, err
		}
		for _, r := range list {
			if by := userOf(r.User); by.Is(me) || by.Login == workflowsLogin && by.Type == "Bot" {
				ours = append(ours, r)
			}
		}
		if !got.follows(len(list)) {
			return ours, true, nil
		}
	}
	return ours, false, nil
}

// workflowsLogin is the account of the token that each job has.
const workflowsLogin = "github-actions[bot]"

// RemoveLabel takes a label off the issue, if it is there.
func (t *Thread) RemoveLabel(ctx context.Context, name string) error {
	_, _, err := do[any](ctx, t.c, Request{
		What: fmt.Sprintf("take the label %q off %s", name, t), Needs: "issues: write", Method: http.MethodDelete, Path: t.path() + "/labels/" + url.PathEscape(name),
	})
	if IsKind(err, NotFound) {
		return nil
	}
	return err
}
