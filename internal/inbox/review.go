package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
)

// State is what somebody who reviewed a pull request came to.
type ReviewState string

// The states of a review that ask for something.
const (
	Approved         ReviewState = "approved"
	ChangesRequested ReviewState = "changes_requested"
	ReviewCommented  ReviewState = "commented"
	Dismissed        ReviewState = "dismissed" // somebody has taken its effect away: it asks for nothing
)

// Review is a review as it was submitted. Its numbers are none of comments on the
// issue.
type Review struct {
	ID     int64
	State  ReviewState
	Author github.User
	Body   string // Markdown
	URL    string
	Commit string // the newest one that its author has seen
	At     time.Time
	// Association is how GitHub calls the author, such as COLLABORATOR. It proves
	// nothing, but whoever has none of these names can hardly have the role.
	Association string
	Comments    []ReviewComment // on lines, as they stand in the list
}

// Comment is a comment on a line.
type ReviewComment struct {
	ID     int64
	Thread int64 // the first comment of its conversation
	Review int64
	Author github.User
	Body   string
	Path   string
	Line   int    // 0: of the whole file, or of a line that is not there any more
	Start  int    // the first of several lines, of which Line is the last; 0: it is one
	Side   string // LEFT: a line that was deleted
	Hunk   string // of the diff, down to the line
	URL    string
	At     time.Time
}

// wireUser is an account; null if it is gone.
type wireUser struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
	Type  string `json:"type"`
}

func (w *wireUser) user() github.User {
	if w == nil {
		return github.User{Login: "ghost"} // as GitHub shows those who have left
	}
	return github.User(*w)
}

type wireReview struct {
	ID     int64     `json:"id"`
	State  string    `json:"state"`
	User   *wireUser `json:"user"`
	Body   string    `json:"body"`
	URL    string    `json:"html_url"`
	Commit string    `json:"commit_id"`
	At     time.Time `json:"submitted_at"`

	Association string `json:"author_association"`
}

func (w wireReview) review() Review {
	return Review{ID: w.ID, State: ReviewState(strings.ToLower(w.State)), Author: w.User.user(), Body: w.Body, URL: safe(w.URL), Commit: w.Commit, At: w.At, Association: w.Association}
}

type wireComment struct {
	ID       int64     `json:"id"`
	Review   int64     `json:"pull_request_review_id"`
	To       int64     `json:"in_reply_to_id"`
	User     *wireUser `json:"user"`
	Body     string    `json:"body"`
	Path     string    `json:"path"`
	Line     int       `json:"line"`
	Original int       `json:"original_line"`
	Start    int       `json:"start_line"`
	First    int       `json:"original_start_line"`
	Side     string    `json:"side"`
	Hunk     string    `json:"diff_hunk"`
	URL      string    `json:"html_url"`
	At       time.Time `json:"created_at"`

	Association string `json:"author_association"`
}

func (w wireComment) comment() ReviewComment {
	c := ReviewComment{
		ID: w.ID, Thread: w.To, Review: w.Review, Author: w.User.user(), Body: w.Body, Path: w.Path, Line: w.Line, Side: w.Side, Hunk: w.Hunk, URL: safe(w.URL), At: w.At,
	}
	if c.Thread == 0 {
		c.Thread = w.ID
	}
	if c.Start = w.Start; c.Line == 0 {
		c.Line, c.Start = w.Original, w.First
	}
	if c.Start < 0 || c.Start >= c.Line {
		c.Start = 0
	}
	return c
}

// safe lets an address pass that can be shown and kept.
func safe(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(address, " \n\"<>") {
		return ""
	}
	return address
}

// Of is the review that an event is about; of a comment on a line, the review
// that it belongs to, of which only the number is known.
func ReviewOf(ev github.Event) (Review, error) {
	var w wireReview
	var line wireComment
	var r Review
	var err error
	if ev.Name == "pull_request_review_comment" {
		err = json.Unmarshal(ev.Review, &line)
		c := line.comment()
		r = Review{ID: c.Review, State: ReviewCommented, Author: c.Author, Association: line.Association, URL: c.URL, At: c.At, Comments: []ReviewComment{c}}
	} else {
		err = json.Unmarshal(ev.Review, &w)
		r = w.review()
	}
	switch {
	case err != nil:
		return Review{}, fmt.Errorf("read the review: %w", err)
	case r.ID <= 0 || r.At.IsZero():
		return Review{}, errors.New("read the review: it has no number, or was not submitted")
	}
	return r, nil
}

// Pull is a pull request on the forge, as far as reviews go. It may be used by
// several goroutines.
type PullOfRun struct {
	GitHub      *github.Client
	Owner, Name string
	Number      int

	mu       sync.Mutex
	reviews  pages[wireReview]
	comments pages[wireComment]
}

// pages are the pages of a list, with the tags by which they can be asked for
// again.
type pages[T any] []onePage[T]

type onePage[T any] struct {
	number int // from 1
	tag    string
	list   []T
	more   bool // another page follows
	last   int  // the number of the last one; 0: the forge does not say
}

// mostPages is how many pages of a hundred are read of a list: the first one and the
// newest. Anybody may write a thousand reviews, and who comes after that is to be heard.
const mostPages = 10

// Reviews lists the reviews, oldest first, with what they say about lines. While
// nothing is new, asking costs nothing of the rate limit.
func (p *PullOfRun) Reviews(ctx context.Context) ([]Review, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wires, changed, err := read(ctx, p, "reviews", &p.reviews)
	if err != nil {
		return nil, err
	}
	if changed {
		if _, _, err := read(ctx, p, "comments", &p.comments); err != nil {
			p.reviews = nil // else what is new now would not be new the next time
			return nil, err
		}
	}
	var out []Review
	for _, w := range wires {
		r := w.review()
		for _, page := range p.comments {
			for _, c := range page.list {
				if c.Review == r.ID {
					r.Comments = append(r.Comments, c.comment())
				}
			}
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Review) int { return a.At.Compare(b.At) })
	return out, nil
}

// read reads a list, and keeps its pages.
func read[T any](ctx context.Context, p *PullOfRun, what string, known *pages[T]) (all []T, changed bool, err error) {
	var next pages[T]
	for n, asked := 1, 0; asked < 2*mostPages; asked++ {
		page, same, err := readPage(ctx, p, what, n, *known)
		if err != nil {
			return nil, false, err
		}
		changed = changed || !same
		if next = append(next, page); len(next) > mostPages {
			next = slices.Delete(next, 1, 2)
		}
		if !page.more && len(page.list) < 100 {
			break
		}
		if n++; n == 2 {
			n = max(n, page.last-mostPages+2)
		}
	}
	*known = next
	for _, page := range next {
		all = append(all, page.list...)
	}
	return all, changed, nil
}

// readPage reads a page of a list. It is the same as before if nothing on it has changed.
func readPage[T any](ctx context.Context, p *PullOfRun, what string, n int, known pages[T]) (page onePage[T], same bool, err error) {
	r := github.Request{
		What: fmt.Sprintf("read the %s of pull request %d", what, p.Number), Needs: "pull-requests: read", Method: http.MethodGet,
		Path: fmt.Sprintf("/pulls/%d/%s?per_page=100&page=%d", p.Number, what, n),
	}
	at := slices.IndexFunc(known, func(k onePage[T]) bool { return k.number == n })
	if at >= 0 {
		r.Known = known[at].tag
	}
	var list []T
	a, err := p.GitHub.Ask(ctx, p.Owner, p.Name, r, &list)
	if err != nil {
		return page, false, err
	}
	if a.Same {
		return known[at], true, nil
	}
	return onePage[T]{n, a.Header.Get("ETag"), list, a.More, a.Last}, false, nil
}

// Reply answers in the conversation that a comment on a line began, once: an
// answer of our own with the marker is found.
func (p *PullOfRun) Reply(ctx context.Context, thread int64, marker, body string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	me, err := p.GitHub.Self(ctx)
	if err != nil {
		return err
	}
	find := func() (struct{}, bool, error) {
		list, _, err := read(ctx, p, "comments", &p.comments)
		return struct{}{}, slices.ContainsFunc(list, func(w wireComment) bool {
			return w.To == thread && w.User.user().ID == me.ID && strings.HasPrefix(w.Body, marker)
		}), err
	}
	_, err = github.FindOrMake(ctx, p.GitHub, find, func() (struct{}, error) {
		_, err := p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
			What: fmt.Sprintf("answer a comment on a line of pull request %d", p.Number), Needs: "pull-requests: write", Method: http.MethodPost,
			Path: fmt.Sprintf("/pulls/%d/comments/%d/replies", p.Number, thread), Body: map[string]string{"body": marker + "\n" + body},
		}, nil)
		return struct{}{}, err
	})
	return err
}

// Request asks somebody for another review than the one with a number, unless they
// have given one since. To ask twice is to ask once.
func (p *PullOfRun) Request(ctx context.Context, login string, after int64) error {
	all, err := p.Reviews(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(r Review) bool { return r.ID == after })
	if slices.ContainsFunc(all[at+1:], func(r Review) bool { return strings.EqualFold(r.Author.Login, login) && r.State != ReviewCommented }) {
		return nil
	}
	_, err = p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: fmt.Sprintf("ask for a review of pull request %d", p.Number), Needs: "pull-requests: write", Method: http.MethodPost, Repeatable: true,
		Path: fmt.Sprintf("/pulls/%d/requested_reviewers", p.Number), Body: map[string]any{"reviewers": []string{login}},
	}, nil)
	return err
}
