package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/reprise-ci/reprise/metadata"
)

// Thread is the conversation under one issue or pull request.
type Thread struct {
	Repo
	Number int

	mu    sync.Mutex
	since time.Time // of the last call of Comments
	list  []Comment // what it brought; nil: there was none
}

// String names the thread for people: "issue 7 of acme/widget".
func (t *Thread) String() string {
	return fmt.Sprintf("issue %d of %s", t.Number, t.Name)
}

// path is where the thread is: repos/acme/widget/issues/7.
func (t *Thread) path() string { return t.numbered("issues", int64(t.Number)) }

// commentPath is where one comment is; comments have no place in their thread.
func (t *Thread) commentPath(id int64) string {
	return t.numbered("issues/comments", id)
}

// Comments lists the comments that were made or changed at since or later, or all if since is zero; the oldest is
// first. Changed is false if the forge says that nothing is new since the last call with the same since; such a call
// costs nothing of the rate limit. More than 3,000 comments are an error, because nobody should rely on a part of
// them.
func (t *Thread) Comments(ctx context.Context, since time.Time) (list []Comment, changed bool, err error) {
	if list, err = t.read(ctx, since); err != nil {
		return nil, false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	changed = t.list == nil || !t.since.Equal(since) || !slices.Equal(t.list, list)
	t.since, t.list = since, append([]Comment{}, list...)
	return list, changed, nil
}

// Comment reads one comment. One that belongs to another thread is not found.
func (t *Thread) Comment(ctx context.Context, id int64) (Comment, error) {
	what := fmt.Sprintf("read comment %d of %s", id, t)
	w, _, err := do[github.IssueComment](ctx, t.api, Request{What: what, Needs: "issues: read", Doubts: true, Path: t.commentPath(id)})
	switch {
	case err != nil:
		return Comment{}, err
	case w.GetID() != id:
		return Comment{}, t.misfit(what, "it is another comment, or none", nil)
	case w.GetIssueURL() != "" && !strings.HasSuffix(w.GetIssueURL(), "/"+strconv.Itoa(t.Number)):
		return Comment{}, t.problem(what, NotFound, metadata.Because("github_elsewhere"), metadata.Because("do_check_number"), nil)
	}
	return commentOf(&w), nil
}

// Shown reads how people are shown the body of an issue, or that of one of its comments if its id is not 0: as HTML.
// In it the images of a private repository have addresses under which everybody gets them, for five minutes.
func (t *Thread) Shown(ctx context.Context, comment int64) (html string, err error) {
	path := t.path()
	if comment != 0 {
		path = t.commentPath(comment)
	}
	form, _, err := do[struct {
		HTML string `json:"body_html"`
	}](ctx, t.api, Request{What: "read how " + t.String() + " is shown", Needs: "issues: read", accept: "application/vnd.github.full+json", Path: path})
	return form.HTML, err
}

const (
	perPage  = 100
	maxPages = 30
)

// read reads the comments, oldest first. Pages that have not changed cost nothing.
func (t *Thread) read(ctx context.Context, since time.Time) (all []Comment, err error) {
	first := 0 // how many the first page has
	for n := 1; n <= maxPages; n++ {
		list, got, err := t.page(ctx, since, n)
		if err != nil {
			return nil, err
		}
		before := len(all)
		all = sorted(append(all, list...))
		if n == 1 {
			first = len(all)
		}
		// A full last page may have got a successor without a change of its own. A forge
		// without pages gives the same each time.
		full := len(list) >= perPage || n > 1 && len(list) >= first
		if n > 1 && len(all) == before || !got.More && !full {
			return all, nil
		}
	}
	return nil, t.problem("read the comments of "+t.String(), Refused, metadata.Because("github_many_comments", "n", maxPages*perPage), metadata.Because("do_new_issue"), nil)
}

// page reads one part of the list of comments.
func (t *Thread) page(ctx context.Context, since time.Time, n int) (list []Comment, got answer, err error) {
	query := url.Values{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(n)}}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	what := "read the comments of " + t.String()
	sent, got, err := do[[]*github.IssueComment](ctx, t.api, Request{What: what, Needs: "issues: read", Cached: true, Path: t.path() + "/comments?" + query.Encode()})
	for _, w := range sent {
		if w.GetID() == 0 {
			return nil, got, t.misfit(what, "a comment in it has no id", nil)
		}
		list = append(list, commentOf(w))
	}
	return list, got, err
}

// Newest lists the newest comments and the first hundred, the oldest first, with at most that many requests, of a
// hundred comments each. Whole is false if there are others between them.
func (t *Thread) Newest(ctx context.Context, requests int) (list []Comment, whole bool, err error) {
	list, first, err := t.page(ctx, time.Time{}, 1)
	more, n := first.follows(len(list)), max(first.Last, 2) // from the end, if it is known where that is
	for read := 1; err == nil && more && read < requests; read++ {
		var next []Comment
		var got answer
		if next, got, err = t.page(ctx, time.Time{}, n); first.Last > 1 {
			n, more = n-1, n > 2
		} else {
			n, more = n+1, got.follows(len(next)) && len(next) > 0
		}
		list = append(list, next...)
	}
	if err != nil {
		return nil, false, err
	}
	return sorted(list), !more, nil
}

// sorted puts comments in order, each once: one that was deleted meanwhile moves the others to other pages.
func sorted(all []Comment) []Comment {
	slices.SortFunc(all, func(a, b Comment) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return slices.CompactFunc(all, func(a, b Comment) bool { return a.ID == b.ID })
}

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
	c, err := FindOrMake(ctx, t.Client,
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
func (t *Thread) find(ctx context.Context, marker string, since time.Time) (first Comment, _ bool, err error) {
	me, known, err := t.whoami(ctx)
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
	for _, c := range list {
		switch {
		case !me.is(c.Author) || firstLine(c.Body) != marker:
		case first.ID == 0:
			first = c
		default:
			if err := t.remove(ctx, fmt.Sprintf("take away comment %d of %s, which is there twice", c.ID, t), t.commentPath(c.ID)); err != nil {
				return first, true, err
			}
		}
	}
	return first, first.ID != 0, nil
}

// remove takes something away, if it is there.
func (t *Thread) remove(ctx context.Context, what, path string) error {
	_, _, err := do[any](ctx, t.api, Request{What: what, Needs: "issues: write", Method: http.MethodDelete, Path: path})
	if IsKind(err, NotFound) {
		return nil
	}
	return err
}

func (t *Thread) create(ctx context.Context, text string) (Comment, error) {
	what := "comment on " + t.String()
	w, _, err := do[github.IssueComment](ctx, t.api, Request{
		What: what, Needs: "issues: write", Method: http.MethodPost, Path: t.path() + "/comments", Body: map[string]any{"body": text},
	})
	if err == nil && w.GetID() == 0 {
		err = t.misfit(what, "what it sent is no comment", nil)
	}
	if err != nil {
		return Comment{}, err
	}
	t.learn(userOf(w.User))
	return commentOf(&w), nil
}

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
	w, got, err := do[struct{ User *github.User }](ctx, t.api, Request{
		What: fmt.Sprintf("react to comment %d of %s", comment, t), Needs: "issues: write", Method: http.MethodPost, Repeatable: true,
		Path: t.commentPath(comment) + "/reactions", Body: map[string]any{"content": r},
	})
	if err != nil {
		return false, err
	}
	t.learn(userOf(w.User))
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
			err = t.remove(ctx, fmt.Sprintf("take a reaction off comment %d of %s", comment, t), fmt.Sprintf("%s/reactions/%d", t.commentPath(comment), is.GetID()))
		}
	}
	return err
}

func (t *Thread) reacted(ctx context.Context, comment int64) (ours []*github.Reaction, whole bool, err error) {
	me, known, err := t.whoami(ctx)
	if err != nil || !known {
		return nil, false, err
	}
	for n := 1; n <= mostReactedPages; n++ {
		list, got, err := do[[]*github.Reaction](ctx, t.api, Request{
			What: fmt.Sprintf("read the reactions to comment %d of %s", comment, t), Needs: "issues: read", Path: fmt.Sprintf("%s/reactions?per_page=%d&page=%d", t.commentPath(comment), perPage, n),
		})
		if err != nil {
			return nil, false, err
		}
		for _, r := range list {
			if by := userOf(r.User); by.is(me) || by.Login == workflowsLogin && by.Type == "Bot" {
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
	return t.remove(ctx, fmt.Sprintf("take the label %q off %s", name, t), t.path()+"/labels/"+url.PathEscape(name))
}
