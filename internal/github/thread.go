package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/text"

	"github.com/google/go-github/v60/github"
)

// Thread is the conversation under one issue or pull request.
type Thread struct {
	c           *api
	owner, name string
	number      int

	mu    sync.Mutex
	since time.Time // of the last call of Comments
	list  []Comment // what it brought; nil: there was none
}

// String names the thread for people: "issue 7 of acme/widget".
func (t *Thread) String() string {
	return fmt.Sprintf("issue %d of %s/%s", t.number, t.owner, t.name)
}

// path is where the thread is: repos/acme/widget/issues/7.
func (t *Thread) path() string { return numbered(t.owner, t.name, "issues", int64(t.number)) }

// commentPath is where one comment is; comments have no place in their thread.
func (t *Thread) commentPath(id int64) string {
	return numbered(t.owner, t.name, "issues/comments", id)
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
	w, _, err := do[github.IssueComment](ctx, t.c, Request{What: what, Needs: "issues: read", doubts: true, Path: t.commentPath(id)})
	switch {
	case err != nil:
		return Comment{}, err
	case w.GetID() != id:
		return Comment{}, t.c.misfit(what, "it is another comment, or none", nil)
	case w.GetIssueURL() != "" && !strings.HasSuffix(w.GetIssueURL(), "/"+strconv.Itoa(t.number)):
		return Comment{}, t.c.retry.problem(what, NotFound, text.CauseOf("github_elsewhere", "has it in another conversation"), text.CauseOf("do_check_number", "check the number"), nil)
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
	}](ctx, t.c, Request{What: "read how " + t.String() + " is shown", Needs: "issues: read", accept: "application/vnd.github.full+json", Path: path})
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
	return nil, t.c.retry.problem("read the comments of "+t.String(), Refused, text.CauseOf("github_many_comments", "has more than {n} comments there", "n", maxPages*perPage), text.CauseOf("do_new_issue", "go on in a new issue"), nil)
}

// page reads one part of the list of comments.
func (t *Thread) page(ctx context.Context, since time.Time, n int) (list []Comment, got Answer, err error) {
	query := url.Values{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(n)}}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	what := "read the comments of " + t.String()
	sent, got, err := do[[]*github.IssueComment](ctx, t.c, Request{What: what, Needs: "issues: read", Cached: true, Path: t.path() + "/comments?" + query.Encode()})
	for _, w := range sent {
		if w.GetID() == 0 {
			return nil, got, t.c.misfit(what, "a comment in it has no id", nil)
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
		var got Answer
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
