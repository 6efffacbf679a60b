package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
)

// reviewState is what somebody who reviewed a pull request came to.
type reviewState string

// The states of a review that ask for something.
const (
	Approved         reviewState = "approved"
	ChangesRequested reviewState = "changes_requested"
	ReviewCommented  reviewState = "commented"
	Dismissed        reviewState = "dismissed" // somebody has taken its effect away: it asks for nothing
)

// Review is a review as it was submitted. Its numbers are none of comments on the issue.
type Review struct {
	ID     int64       `json:"id"`
	State  reviewState `json:"state"`
	Author github.User `json:"user"`
	Body   string      `json:"body"` // Markdown
	URL    string      `json:"html_url"`
	Commit string      `json:"commit_id"` // the newest one that its author has seen
	At     time.Time   `json:"submitted_at"`
	// Association is how GitHub calls the author, such as COLLABORATOR.
	Association string          `json:"author_association"`
	Comments    []ReviewComment `json:"-"` // on lines, as they stand in the list
}

// ReviewComment is a comment on a line.
type ReviewComment struct {
	ID     int64       `json:"id"`
	Thread int64       `json:"in_reply_to_id"` // the first comment of its conversation
	Review int64       `json:"pull_request_review_id"`
	Author github.User `json:"user"`
	Body   string      `json:"body"`
	Path   string      `json:"path"`
	Line   int         `json:"line"`       // 0: of the whole file, or of a line that is not there any more
	Start  int         `json:"start_line"` // the first of several lines, of which Line is the last; 0: it is one
	Side   string      `json:"side"`       // LEFT: a line that was deleted
	Hunk   string      `json:"diff_hunk"`  // of the diff, down to the line
	URL    string      `json:"html_url"`
	At     time.Time   `json:"created_at"`

	Association string `json:"author_association"`
	// Where it was when it was written.
	OriginalLine  int `json:"original_line"`
	OriginalStart int `json:"original_start_line"`
}

// tidied gives a review, as GitHub sends it, in the form that it has here.
func (r Review) tidied() Review {
	r.State, r.Author, r.URL = reviewState(strings.ToLower(string(r.State))), known(r.Author), safe(r.URL)
	return r
}

// tidied gives a comment, as GitHub sends it, in the form that it has here.
func (c ReviewComment) tidied() ReviewComment {
	c.Author, c.URL, c.Thread = known(c.Author), safe(c.URL), cmp.Or(c.Thread, c.ID)
	if c.Line == 0 {
		c.Line, c.Start = c.OriginalLine, c.OriginalStart
	}
	c.OriginalLine, c.OriginalStart = 0, 0
	if c.Start < 0 || c.Start >= c.Line {
		c.Start = 0
	}
	return c
}

// known gives those who have left the name that GitHub shows.
func known(u github.User) github.User {
	u.Login = cmp.Or(u.Login, "ghost")
	return u
}

// safe lets an address pass that can be shown and kept.
func safe(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(address, " \n\"<>") {
		return ""
	}
	return address
}

// ReviewOf is the review that an event is about; of a comment on a line, the review
// that it belongs to, of which only the number is known.
func ReviewOf(ev github.Event) (r Review, _ error) {
	var line ReviewComment
	var err error
	if ev.Name == "pull_request_review_comment" {
		err = json.Unmarshal(ev.Review, &line)
		c := line.tidied()
		r = Review{ID: c.Review, State: ReviewCommented, Author: c.Author, Association: c.Association, URL: c.URL, At: c.At, Comments: []ReviewComment{c}}
	} else {
		err = json.Unmarshal(ev.Review, &r)
		r = r.tidied()
	}
	switch {
	case err != nil:
		return Review{}, fmt.Errorf("read the review: %w", err)
	case r.ID <= 0 || r.At.IsZero():
		return Review{}, errors.New("read the review: it has no number, or was not submitted")
	}
	return r, nil
}

// PullOfRun is a pull request on the forge, as far as reviews go. It may be used by several goroutines.
type PullOfRun struct {
	*github.Thread

	mu       sync.Mutex
	reviews  []Review        // as they were sent last
	comments []ReviewComment // on lines, when the reviews were those
}

// mostPages is how many pages of a hundred are read of a list: the first one and the
// newest. Anybody may write a thousand reviews, and who comes after that is to be heard.
const mostPages = 10

// Reviews lists the reviews, oldest first, with what they say about lines. While
// nothing is new, asking costs nothing of the rate limit.
func (p *PullOfRun) Reviews(ctx context.Context) ([]Review, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, err := newest[Review](ctx, p, "reviews")
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(all, p.reviews) {
		if p.comments, err = newest[ReviewComment](ctx, p, "comments"); err != nil {
			return nil, err
		}
		p.reviews = slices.Clone(all)
	}
	for i, r := range all {
		r = r.tidied()
		for _, c := range p.comments {
			if c.Review == r.ID {
				r.Comments = append(r.Comments, c.tidied())
			}
		}
		all[i] = r
	}
	slices.SortStableFunc(all, func(a, b Review) int { return a.At.Compare(b.At) })
	return all, nil
}

// newest reads the first page of a list and the newest ones.
func newest[T any](ctx context.Context, p *PullOfRun, what string) ([]T, error) {
	var pages [][]T
	for n, asked := 1, 0; asked < 2*mostPages; asked++ {
		var list []T
		got, err := p.Ask(ctx, github.Request{
			What: fmt.Sprintf("read the %s of pull request %d", what, p.Number), Needs: "pull-requests: read", Cached: true,
			Path: fmt.Sprintf("/pulls/%d/%s?per_page=100&page=%d", p.Number, what, n),
		}, &list)
		if err != nil {
			return nil, err
		}
		if pages = append(pages, list); len(pages) > mostPages {
			pages = slices.Delete(pages, 1, 2)
		}
		if !got.More && len(list) < 100 {
			break
		}
		if n++; n == 2 {
			n = max(n, got.Last-mostPages+2)
		}
	}
	return slices.Concat(pages...), nil
}

// reply answers in the conversation that a comment on a line began, once: an
// answer of our own with the marker is found.
func (p *PullOfRun) reply(ctx context.Context, thread int64, marker, body string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	me, err := p.Self(ctx)
	if err != nil {
		return err
	}
	find := func() (struct{}, bool, error) {
		list, err := newest[ReviewComment](ctx, p, "comments")
		return struct{}{}, slices.ContainsFunc(list, func(c ReviewComment) bool {
			return c.Thread == thread && c.Author.ID == me.ID && strings.HasPrefix(c.Body, marker)
		}), err
	}
	_, err = github.FindOrMake(ctx, p.Client, find, func() (struct{}, error) {
		_, err := p.Ask(ctx, github.Request{
			What: fmt.Sprintf("answer a comment on a line of pull request %d", p.Number), Needs: "pull-requests: write", Method: http.MethodPost,
			Path: fmt.Sprintf("/pulls/%d/comments/%d/replies", p.Number, thread), Body: map[string]any{"body": marker + "\n" + body},
		}, nil)
		return struct{}{}, err
	})
	return err
}

// request asks somebody for another review than the one with a number, unless they have given one since.
func (p *PullOfRun) request(ctx context.Context, login string, after int64) error {
	all, err := p.Reviews(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(r Review) bool { return r.ID == after })
	if slices.ContainsFunc(all[at+1:], func(r Review) bool { return strings.EqualFold(r.Author.Login, login) && r.State != ReviewCommented }) {
		return nil
	}
	_, err = p.Ask(ctx, github.Request{
		What: fmt.Sprintf("ask for a review of pull request %d", p.Number), Needs: "pull-requests: write", Method: http.MethodPost, Repeatable: true,
		Path: fmt.Sprintf("/pulls/%d/requested_reviewers", p.Number), Body: map[string]any{"reviewers": []string{login}},
	}, nil)
	return err
}
