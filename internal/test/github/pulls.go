package github

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Review is a review that was submitted.
type Review struct {
	ID       int64 // given by the server
	Author   string
	State    string // APPROVED, CHANGES_REQUESTED or COMMENTED
	Body     string
	Comments []LineComment
	At       time.Time // given by the server
}

// LineComment is a comment about a line.
type LineComment struct {
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

// Reviews are those of one repository: what people said about lines, the answers to it, who
// was asked for a review, and whose the pull requests are.
type Reviews struct {
	repo *repository
	// By the number of the pull request. The server's lock guards them.
	reviews  map[int][]Review
	comments map[int][]LineComment
	asked    map[int][]string
	assigned map[int][]string
}

// NewReviews has a server keep the reviews of a repository. Without it, there are no lists of
// them.
func NewReviews(s *Server, repo string) *Reviews {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Reviews{repo: s.repository(repo), reviews: map[int][]Review{}, comments: map[int][]LineComment{}, asked: map[int][]string{}, assigned: map[int][]string{}}
	r.repo.reviews = r
	return r
}

func (r *Reviews) locked(do func()) {
	r.repo.server.mu.Lock()
	defer r.repo.server.mu.Unlock()
	do()
}

// Submit adds a review as somebody, whoever that is, and gives it with its
// numbers.
func (r *Reviews) Submit(pull int, v Review) Review {
	r.locked(func() {
		v.ID, v.At = r.repo.server.newID(), r.repo.server.tick()
		for i := range v.Comments {
			c := &v.Comments[i]
			c.ID, c.Author, c.review, c.at = r.repo.server.newID(), v.Author, v.ID, v.At
			r.comments[pull] = append(r.comments[pull], *c)
		}
		r.reviews[pull] = append(r.reviews[pull], v)
		r.asked[pull] = slices.DeleteFunc(r.asked[pull], same(v.Author))
	})
	return v
}

// Dismiss takes the effect of a review away, as a maintainer can.
func (r *Reviews) Dismiss(pull int, id int64) {
	r.locked(func() {
		for i := range r.reviews[pull] {
			if r.reviews[pull][i].ID == id {
				r.reviews[pull][i].State = "DISMISSED"
			}
		}
	})
}

// Replies are the texts of the answers in the conversation of a comment.
func (r *Reviews) Replies(pull int, to int64) (out []string) {
	r.locked(func() {
		for _, c := range r.comments[pull] {
			if c.To == to {
				out = append(out, c.Body)
			}
		}
	})
	return out
}

// Asked are those who were asked for a review and have not given it.
func (r *Reviews) Asked(pull int) (out []string) {
	r.locked(func() { out = append(out, r.asked[pull]...) })
	return out
}

// Assigned are those to whom a pull request was given.
func (r *Reviews) Assigned(pull int) (out []string) {
	r.locked(func() { out = append(out, r.assigned[pull]...) })
	return out
}

// Payload is what GitHub sends when a review is submitted.
func (r *Reviews) Payload(pull int, v Review) (out []byte) {
	r.locked(func() {
		o := r.object(pull, v)
		o["state"], o["body"] = strings.ToLower(v.State), orNull(v.Body) // unlike in its API
		out = r.repo.event(v.Author, object{"action": "submitted", "review": o, "pull_request": r.repo.pullObject(r.repo.pulls[pull])})
	})
	return out
}

// CommentPayload is what GitHub sends besides when a comment about a line is made.
func (r *Reviews) CommentPayload(pull int, c LineComment) (out []byte) {
	r.locked(func() {
		out = r.repo.event(c.Author, object{"action": "created", "comment": r.commentObject(pull, c), "pull_request": r.repo.pullObject(r.repo.pulls[pull])})
	})
	return out
}

func (v *visit) listReviews() reply {
	if v.repo.reviews == nil {
		return notFound()
	}
	return page(v, v.repo.reviews.reviews[v.pull.Number], func(one Review) object { return v.repo.reviews.object(v.pull.Number, one) })
}

func (v *visit) getReview() reply {
	if v.repo.reviews != nil {
		for _, one := range v.repo.reviews.reviews[v.pull.Number] {
			if one.ID == v.number("review_id") {
				return ok(v.repo.reviews.object(v.pull.Number, one))
			}
		}
	}
	return notFound()
}

func (v *visit) listLineComments() reply {
	if v.repo.reviews == nil {
		return notFound()
	}
	return page(v, v.repo.reviews.comments[v.pull.Number], func(c LineComment) object { return v.repo.reviews.commentObject(v.pull.Number, c) })
}

// replyToLine adds to a conversation. GitHub takes no answer to an answer.
func (v *visit) replyToLine() reply {
	r, n, to := v.repo.reviews, v.pull.Number, v.number("comment_id")
	if r == nil {
		return notFound()
	}
	for _, c := range r.comments[n] {
		if c.ID != to || c.To != 0 {
			continue
		}
		answer := LineComment{ID: v.newID(), Author: v.login(), Path: c.Path, Line: c.Line, Side: c.Side, Hunk: c.Hunk, Body: v.text("body"), To: to, review: v.newID(), at: v.tick()}
		r.comments[n] = append(r.comments[n], answer)
		return created(r.commentObject(n, answer))
	}
	return notFound()
}

// sentLogins are the names that were sent.
func (v *visit) sentLogins(name string) (out []string) {
	sent, _ := field[[]any](v, name)
	for _, x := range sent {
		login, _ := x.(string)
		out = append(out, login)
	}
	return out
}

// requestReview asks people for a review. Who opened the pull request cannot be asked.
func (v *visit) requestReview() reply {
	if v.repo.reviews == nil {
		return notFound()
	}
	asked := v.repo.reviews.asked
	for _, login := range v.sentLogins("reviewers") {
		switch {
		case strings.HasSuffix(login, "[bot]"):
			return refuse(http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators.")
		case strings.EqualFold(login, v.pull.Author):
			return refuse(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		}
		asked[v.pull.Number] = append(slices.DeleteFunc(asked[v.pull.Number], same(login)), login)
	}
	return created(v.repo.pullObject(v.pull))
}

// assign gives a pull request to people. Nobody else can be assigned.
func (v *visit) assign() reply {
	if v.repo.reviews == nil {
		return notFound()
	}
	n, assigned := v.issue.Number, v.repo.reviews.assigned
	for _, login := range v.sentLogins("assignees") {
		assigned[n] = append(slices.DeleteFunc(assigned[n], same(login)), login)
	}
	return created(v.repo.issueObject(v.issue))
}

// object is a review as GitHub sends it.
func (r *Reviews) object(pull int, v Review) object {
	p := r.repo.pullObject(r.repo.pulls[pull])
	return object{
		"id": v.ID, "node_id": nodeID("PRR", v.ID), "user": r.repo.server.author(v.Author), "body": v.Body, "state": v.State,
		"html_url": fmt.Sprintf("%s#pullrequestreview-%d", p["html_url"], v.ID), "pull_request_url": p["url"],
		"author_association": r.repo.association(v.Author), "submitted_at": stamp(v.At), "commit_id": p["head"].(object)["sha"],
	}
}

// commentObject is a comment about a line as GitHub sends it.
func (r *Reviews) commentObject(pull int, c LineComment) object {
	p := r.repo.pullObject(r.repo.pulls[pull])
	out := object{
		"id": c.ID, "node_id": nodeID("PRRC", c.ID), "html_url": fmt.Sprintf("%s#discussion_r%d", p["html_url"], c.ID), "pull_request_url": p["url"],
		"pull_request_review_id": c.review, "diff_hunk": c.Hunk, "path": c.Path, "line": c.Line, "original_line": c.Line, "side": c.Side,
		"start_line": nil, "start_side": nil, "subject_type": "line", "commit_id": p["head"].(object)["sha"],
		"user": r.repo.server.author(c.Author), "body": c.Body, "author_association": r.repo.association(c.Author),
		"created_at": stamp(c.at), "updated_at": stamp(c.at),
	}
	if c.Start != 0 {
		out["start_line"], out["original_start_line"], out["start_side"] = c.Start, c.Start, c.Side
	}
	if c.To != 0 {
		out["in_reply_to_id"] = c.To
	}
	return out
}

func (v *visit) getPull() reply { return ok(v.repo.wholePull(v.pull)) }

func (v *visit) listPulls() reply {
	q := v.query
	wanted := cmp.Or(q.Get("state"), "open")
	var found []*Pull
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(v.repo.pulls))) {
		p, is := v.repo.pulls[n], v.repo.issues[n]
		switch {
		case wanted != "all" && is.State != wanted, q.Get("base") != "" && q.Get("base") != p.Base:
		case strings.Contains(q.Get("head"), ":") && !strings.EqualFold(q.Get("head"), p.label()): // without an owner it is ignored
		default:
			found = append(found, p)
		}
	}
	if q.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return page(v, found, v.repo.pullObject)
}

// wish is a pull request as somebody wants it.
func (v *visit) wish() Pull {
	p := Pull{Author: v.login(), HeadRepository: v.repo.fullName(), Title: v.text("title"), Body: v.text("body"), Base: v.text("base"), Head: v.text("head")}
	p.Draft, _ = field[bool](v, "draft")
	if owner, branch, ok := strings.Cut(p.Head, ":"); ok {
		p.Head, p.HeadRepository = branch, owner+"/"+v.repo.name
	}
	p.HeadRepository = cmp.Or(v.text("head_repo"), p.HeadRepository)
	return p
}

func (v *visit) createPull() reply {
	p := v.wish()
	if v.repo.NoActionsPulls && v.login() == "github-actions[bot]" {
		return refuse(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	head := v.find(p.HeadRepository)
	switch no := cmp.Or(tooLong("title", p.Title, mostTitle), tooLong("body", p.Body, mostBody)); {
	case v.repo.head(p.Base) == "":
		return invalid("PullRequest", "base", "invalid", "")
	case head == nil || head.head(p.Head) == "":
		return invalid("PullRequest", "head", "invalid", "")
	case v.isOpen(p):
		return invalid("PullRequest", "", "custom", "A pull request already exists for "+p.label()+".")
	case !head.ahead(p.Head, v.repo, p.Base):
		return invalid("PullRequest", "", "custom", fmt.Sprintf("No commits between %s and %s", p.Base, p.Head))
	case strings.TrimSpace(p.Title) == "":
		return invalid("PullRequest", "title", "missing_field", "")
	case p.Draft && v.repo.NoDrafts:
		return refuse(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	case no != nil:
		return *no
	}
	return created(v.repo.wholePull(v.repo.addPull(p)))
}

// isOpen reports whether there is an open pull request between the same branches.
func (v *visit) isOpen(p Pull) bool {
	for n, old := range v.repo.pulls {
		if v.repo.issues[n].State == "open" && old.Base == p.Base && strings.EqualFold(old.label(), p.label()) {
			return true
		}
	}
	return false
}

func (v *visit) editPull() reply {
	if !v.has("write") && !v.is(v.issue.Author) {
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	next, base := v.edited(), cmp.Or(v.text("base"), v.pull.Base)
	if no := tooLong("body", next.Body, mostBody); no != nil {
		return *no
	}
	if v.repo.head(base) == "" {
		return invalid("PullRequest", "base", "invalid", "")
	}
	next.Updated = v.tick()
	*v.issue, v.pull.Base = next, base
	return ok(v.repo.wholePull(v.pull))
}
