// Package reviewtest is the reviews of pull requests in a GitHub in memory: what
// people said about lines, the answers to it, who was asked for a review, and whose
// they are.
package reviewtest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest"
)

// Review is a review that was submitted.
type Review struct {
	ID       int64 // given by the server
	Author   string
	State    string // APPROVED, CHANGES_REQUESTED or COMMENTED
	Body     string
	Comments []Comment // about lines
	At       time.Time // given by the server
}

// Comment is a comment about a line.
type Comment struct {
	ID     int64 // given by the server
	Author string
	Path   string
	Line   int
	Start  int    // the first of several lines; 0: it is one
	Side   string // LEFT or RIGHT
	Hunk   string
	Body   string
	To     int64 // the first comment of its conversation; 0: it is that

	review int64
	at     time.Time
}

// Reviews are those of one repository.
type Reviews struct {
	server *githubtest.Server
	repo   string
	// By the number of the pull request. The server's lock guards all three.
	reviews  map[int][]Review
	comments map[int][]Comment
	asked    map[int][]string
	assigned map[int][]string
}

// New has a server keep the reviews of a repository.
func New(s *githubtest.Server, repo string) *Reviews {
	r := &Reviews{server: s, repo: repo, reviews: map[int][]Review{}, comments: map[int][]Comment{}, asked: map[int][]string{}, assigned: map[int][]string{}}
	s.Extend(http.MethodGet, "/pulls/{pull_number}/reviews", r.list)
	s.Extend(http.MethodGet, "/pulls/{pull_number}/comments", r.listComments)
	s.Extend(http.MethodPost, "/pulls/{pull_number}/comments/{comment_id}/replies", r.reply)
	s.Extend(http.MethodPost, "/pulls/{pull_number}/requested_reviewers", r.request)
	s.Extend(http.MethodPost, "/issues/{issue_number}/assignees", r.assign)
	return r
}

// Submit adds a review as somebody, whoever that is, and gives it with its
// numbers.
func (r *Reviews) Submit(pull int, v Review) Review {
	r.server.With(r.repo, func(d *githubtest.Desk) {
		v.ID, v.At = d.ID(), d.Now()
		for i := range v.Comments {
			c := &v.Comments[i]
			c.ID, c.Author, c.review, c.at = d.ID(), v.Author, v.ID, v.At
			r.comments[pull] = append(r.comments[pull], *c)
		}
		r.reviews[pull] = append(r.reviews[pull], v)
		r.asked[pull] = without(r.asked[pull], v.Author)
	})
	return v
}

// Dismiss takes the effect of a review away, as a maintainer can.
func (r *Reviews) Dismiss(pull int, id int64) {
	r.server.With(r.repo, func(*githubtest.Desk) {
		for i := range r.reviews[pull] {
			if r.reviews[pull][i].ID == id {
				r.reviews[pull][i].State = "DISMISSED"
			}
		}
	})
}

// Replies are the texts of the answers in the conversation of a comment.
func (r *Reviews) Replies(pull int, to int64) []string {
	var out []string
	r.server.With(r.repo, func(*githubtest.Desk) {
		for _, c := range r.comments[pull] {
			if c.To == to {
				out = append(out, c.Body)
			}
		}
	})
	return out
}

// Asked are those who were asked for a review and have not given it.
func (r *Reviews) Asked(pull int) []string {
	var out []string
	r.server.With(r.repo, func(*githubtest.Desk) { out = append(out, r.asked[pull]...) })
	return out
}

// Assigned are those to whom a pull request was given.
func (r *Reviews) Assigned(pull int) []string {
	var out []string
	r.server.With(r.repo, func(*githubtest.Desk) { out = append(out, r.assigned[pull]...) })
	return out
}

// Payload is what GitHub sends when a review is submitted.
func (r *Reviews) Payload(pull int, v Review) (out []byte) {
	r.server.With(r.repo, func(d *githubtest.Desk) {
		o := r.object(d, pull, v)
		o["state"] = strings.ToLower(v.State) // unlike in its API
		if v.Body == "" {
			o["body"] = nil
		}
		out = d.Payload(v.Author, map[string]any{"action": "submitted", "review": o, "pull_request": d.PullObject(pull)})
	})
	return out
}

// CommentPayload is what GitHub sends besides when a comment about a line is made.
func (r *Reviews) CommentPayload(pull int, c Comment) (out []byte) {
	r.server.With(r.repo, func(d *githubtest.Desk) {
		out = d.Payload(c.Author, map[string]any{"action": "created", "comment": r.commentObject(d, pull, c), "pull_request": d.PullObject(pull)})
	})
	return out
}

func (r *Reviews) list(d *githubtest.Desk) githubtest.Result {
	n := int(d.Param("pull_number"))
	all := []any{}
	for _, v := range r.reviews[n] {
		all = append(all, r.object(d, n, v))
	}
	return d.Page(all)
}

func (r *Reviews) listComments(d *githubtest.Desk) githubtest.Result {
	n := int(d.Param("pull_number"))
	all := []any{}
	for _, c := range r.comments[n] {
		all = append(all, r.commentObject(d, n, c))
	}
	return d.Page(all)
}

// reply adds to a conversation. GitHub takes no answer to an answer.
func (r *Reviews) reply(d *githubtest.Desk) githubtest.Result {
	n, to := int(d.Param("pull_number")), d.Param("comment_id")
	body, _ := d.Input("body").(string)
	for _, c := range r.comments[n] {
		if c.ID != to || c.To != 0 {
			continue
		}
		answer := Comment{ID: d.ID(), Author: d.Login(), Path: c.Path, Line: c.Line, Side: c.Side, Hunk: c.Hunk, Body: body, To: to, review: d.ID(), at: d.Now()}
		r.comments[n] = append(r.comments[n], answer)
		return d.Created(r.commentObject(d, n, answer))
	}
	return d.Refuse(http.StatusNotFound, "Not Found")
}

// request asks people for a review. Who opened the pull request cannot be asked.
func (r *Reviews) request(d *githubtest.Desk) githubtest.Result {
	n := int(d.Param("pull_number"))
	names, _ := d.Input("reviewers").([]any)
	for _, name := range names {
		login, _ := name.(string)
		switch {
		case strings.HasSuffix(login, "[bot]"):
			return d.Refuse(http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators.")
		case strings.EqualFold(login, d.Pull(n).Author):
			return d.Refuse(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		}
		r.asked[n] = append(without(r.asked[n], login), login)
	}
	return d.Created(d.PullObject(n))
}

// assign gives a pull request to people. Nobody else can be assigned.
func (r *Reviews) assign(d *githubtest.Desk) githubtest.Result {
	n := int(d.Param("issue_number"))
	names, _ := d.Input("assignees").([]any)
	for _, name := range names {
		login, _ := name.(string)
		r.assigned[n] = append(without(r.assigned[n], login), login)
	}
	return d.Created(d.IssueObject(n))
}

// object is a review as GitHub sends it.
func (r *Reviews) object(d *githubtest.Desk, pull int, v Review) map[string]any {
	p := d.PullObject(pull)
	page := fmt.Sprintf("%s#pullrequestreview-%d", p["html_url"], v.ID)
	return map[string]any{
		"id": v.ID, "node_id": fmt.Sprintf("PRR_%d", v.ID), "user": d.User(v.Author), "body": v.Body, "state": v.State, "html_url": page,
		"pull_request_url": p["url"], "author_association": d.Association(v.Author), "submitted_at": stamp(v.At), "commit_id": headOf(p),
		"_links": map[string]any{"html": link(page), "pull_request": link(p["url"])},
	}
}

// commentObject is a comment about a line as GitHub sends it.
func (r *Reviews) commentObject(d *githubtest.Desk, pull int, c Comment) map[string]any {
	p := d.PullObject(pull)
	self, page := fmt.Sprintf("%s/comments/%d", p["url"], c.ID), fmt.Sprintf("%s#discussion_r%d", p["html_url"], c.ID)
	o := map[string]any{
		"id": c.ID, "node_id": fmt.Sprintf("PRRC_%d", c.ID), "url": self, "html_url": page, "pull_request_url": p["url"],
		"pull_request_review_id": c.review, "diff_hunk": c.Hunk, "path": c.Path, "line": c.Line, "original_line": c.Line, "side": c.Side,
		"start_line": nil, "original_start_line": nil, "start_side": nil, "subject_type": "line", "position": 1, "original_position": 1,
		"commit_id": headOf(p), "original_commit_id": headOf(p), "user": d.User(c.Author), "body": c.Body, "author_association": d.Association(c.Author),
		"created_at": stamp(c.at), "updated_at": stamp(c.at), "_links": map[string]any{"self": link(self), "html": link(page), "pull_request": link(p["url"])},
	}
	if c.Start != 0 {
		o["start_line"], o["original_start_line"], o["start_side"] = c.Start, c.Start, c.Side
	}
	if c.To != 0 {
		o["in_reply_to_id"] = c.To
	}
	return o
}

func headOf(pull map[string]any) any { return pull["head"].(map[string]any)["sha"] }

func link(to any) map[string]any { return map[string]any{"href": to} }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// without is a list of names without one.
func without(names []string, name string) []string {
	var out []string
	for _, n := range names {
		if !strings.EqualFold(n, name) {
			out = append(out, n)
		}
	}
	return out
}
