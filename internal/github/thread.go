package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/text"

	"github.com/google/go-github/v60/github"
)

// Thread is the conversation under one issue or pull request. It may be used
// by several goroutines.
type Thread struct {
	c           *api
	owner, name string
	number      int

	mu    sync.Mutex
	since time.Time // of the last call of Comments
	pages []page    // what it brought
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

// Comments lists the comments that were made or changed at since or later, or
// all if since is zero; the oldest is first. Changed is false if the forge
// says that nothing is new since the last call with the same since; such a call
// costs nothing of the rate limit.
//
// Errors are an *Error, or why ctx was cancelled. More than 3,000 comments are
// an error, because nobody should rely on a part of them.
func (t *Thread) Comments(ctx context.Context, since time.Time) (list []Comment, changed bool, err error) {
	t.mu.Lock()
	var before []page
	if t.since.Equal(since) {
		before = t.pages
	}
	t.mu.Unlock()
	pages, changed, err := t.read(ctx, since, before)
	if err != nil {
		return nil, false, err
	}
	t.mu.Lock()
	t.since, t.pages = since, pages
	t.mu.Unlock()
	return sorted(pages), changed, nil
}

// Comment reads one comment. One that belongs to another thread is not found.
func (t *Thread) Comment(ctx context.Context, id int64) (Comment, error) {
	path := t.commentPath(id)
	k := &call{what: fmt.Sprintf("read comment %d of %s", id, t), needs: "issues: read"}
	var w github.IssueComment
	if err := t.c.do(ctx, k, request{http.MethodGet, path, nil}, &w); err != nil {
		return Comment{}, err
	}
	switch {
	case w.GetID() != id:
		return Comment{}, t.c.misfit(k, "it is another comment, or none", nil)
	case w.GetIssueURL() != "" && !strings.HasSuffix(w.GetIssueURL(), "/"+strconv.Itoa(t.number)):
		return Comment{}, t.c.retry.problem(k, NotFound, text.CauseOf("github_elsewhere", "has it in another conversation"), text.CauseOf("do_check_number", "check the number"), nil)
	}
	return commentOf(&w), nil
}

// Shown reads how people are shown the body of an issue, or that of one of its comments
// if its id is not 0: as HTML. In it the images of a private repository have addresses
// under which everybody gets them, for five minutes. Errors are an *Error, or why ctx was
// cancelled.
func (t *Thread) Shown(ctx context.Context, comment int64) (html string, err error) {
	path := t.path()
	if comment != 0 {
		path = t.commentPath(comment)
	}
	k := &call{what: "read how " + t.String() + " is shown", needs: "issues: read", accept: "application/vnd.github.full+json"}
	var form struct {
		HTML string `json:"body_html"`
	}
	err = t.c.do(ctx, k, request{http.MethodGet, path, nil}, &form)
	return form.HTML, err
}

// page is one part of a list of comments.
type page struct {
	tag  string // by which it can be asked for again
	list []Comment
	more bool // another one follows
	last int  // the number of the last one; 0: the forge does not say
}

const (
	perPage  = 100
	maxPages = 30
)

// read reads the pages of a list. Those of before are only read again where
// they have changed.
func (t *Thread) read(ctx context.Context, since time.Time, before []page) (pages []page, changed bool, err error) {
	seen := map[int64]bool{}
	for n := 1; n <= maxPages; n++ {
		var old page
		if n <= len(before) {
			old = before[n-1]
		}
		p, same, err := t.page(ctx, since, n, old)
		if err != nil {
			return nil, false, err
		}
		p.list = slices.DeleteFunc(slices.Clone(p.list), func(c Comment) bool { return seen[c.ID] })
		for _, c := range p.list {
			seen[c.ID] = true
		}
		if n > 1 && len(p.list) == 0 { // also how a forge without pages shows itself
			break
		}
		pages, changed = append(pages, p), changed || !same
		// A full last page may have got a successor without a change of its own.
		full := len(p.list) >= perPage || n > 1 && len(p.list) >= len(pages[0].list)
		if !p.more && !(same && full) {
			break
		}
		if n == maxPages {
			k := &call{what: "read the comments of " + t.String(), tries: 1}
			return nil, false, t.c.retry.problem(k, Refused, text.CauseOf("github_many_comments", "has more than {n} comments there", "n", maxPages*perPage), text.CauseOf("do_new_issue", "go on in a new issue"), nil)
		}
	}
	return pages, changed || len(pages) != len(before), nil
}

// page reads page n, or says that it is the same as old.
func (t *Thread) page(ctx context.Context, since time.Time, n int, old page) (p page, same bool, err error) {
	path := t.path()
	query := url.Values{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(n)}}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	k := &call{what: "read the comments of " + t.String(), needs: "issues: read", known: old.tag}
	var list []*github.IssueComment
	if err := t.c.do(ctx, k, request{http.MethodGet, path + "/comments?" + query.Encode(), nil}, &list); err != nil {
		return page{}, false, err
	}
	if k.status == http.StatusNotModified {
		return old, true, nil
	}
	p.tag, p.more, p.last = k.header.Get("ETag"), k.follows(len(list)), k.last
	for _, w := range list {
		if w.GetID() == 0 {
			return page{}, false, t.c.misfit(k, "a comment in it has no id", nil)
		}
		p.list = append(p.list, commentOf(w))
	}
	return p, false, nil
}

// Newest lists the newest comments and the first hundred, the oldest first, with
// at most that many requests, of a hundred comments each. Whole is false if there
// are others between them.
//
// Errors are an *Error, or why ctx was cancelled.
func (t *Thread) Newest(ctx context.Context, requests int) (list []Comment, whole bool, err error) {
	first, _, err := t.page(ctx, time.Time{}, 1, page{})
	if err != nil {
		return nil, false, err
	}
	pages, more, n := []page{first}, first.more, first.last
	for ; first.last > 1 && n > 1 && len(pages) < requests; n-- { // from the end
		p, _, err := t.page(ctx, time.Time{}, n, page{})
		if err != nil {
			return nil, false, err
		}
		pages, more = append(pages, p), n > 2
	}
	for n = 2; first.last < 2 && more && len(pages) < requests; n++ { // it is not known where that is
		p, _, err := t.page(ctx, time.Time{}, n, page{})
		if err != nil {
			return nil, false, err
		}
		pages, more = append(pages, p), p.more && len(p.list) > 0
	}
	list = sorted(pages)
	same := func(a, b Comment) bool { return a.ID == b.ID } // one that was deleted meanwhile moves the others
	return slices.CompactFunc(list, same), !more, nil
}

func sorted(pages []page) []Comment {
	var all []Comment
	for _, p := range pages {
		all = append(all, p.list...)
	}
	slices.SortFunc(all, func(a, b Comment) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return all
}
