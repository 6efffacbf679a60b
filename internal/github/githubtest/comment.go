package githubtest

import (
	"net/http"
	"strings"
	"time"
)

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID      int64  // given by the server
	Author  string // empty: octocat
	Body    string
	Created time.Time // zero: now
	// Minimized is as what it was folded away, such as OUTDATED; empty: it was not.
	Minimized string
	Updated   time.Time // zero: when it was created
}

type comment struct {
	Comment
	issue int // its number
}

// AddComment adds a comment as somebody, whoever that is, and returns its id.
func (s *Server) AddComment(repo string, number int, c Comment) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.thread(repo, number)
	if c.Author == "" {
		c.Author = "octocat"
	}
	return s.addComment(s.repository(repo), is, c).ID
}

func (s *Server) addComment(r *repository, is *Issue, c Comment) *comment {
	now := s.tick()
	if c.Created.IsZero() {
		c.Created = now
	}
	if c.Updated.IsZero() {
		c.Updated = c.Created
	}
	c.ID, is.Updated = s.id(), now
	added := &comment{Comment: c, issue: is.Number}
	r.comments = append(r.comments, added)
	return added
}

// Comments are the comments of an issue, oldest first.
func (s *Server) Comments(repo string, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Comment
	for _, c := range s.repository(repo).comments {
		if c.issue == number {
			out = append(out, c.Comment)
		}
	}
	return out
}

// EditComment changes the text of a comment.
func (s *Server) EditComment(repo string, id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.commentNamed(repo, id); c != nil {
		c.Body, c.Updated = body, s.tick()
	}
}

// DeleteComment deletes a comment.
func (s *Server) DeleteComment(repo string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commentNamed(repo, id) != nil {
		s.repository(repo).deleteComment(id)
	}
}

func (s *Server) commentNamed(repo string, id int64) *comment {
	c := s.repository(repo).comments.find(id)
	if c == nil {
		s.host.Helper()
		s.host.Errorf("githubtest: there is no comment %d in %s", id, repo)
	}
	return c
}

// comments are all of a repository, oldest first.
type comments []*comment

// find gives the comment of that id, or nil.
func (all comments) find(id int64) *comment {
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// commentObject is a comment as GitHub sends it.
func (s *Server) commentObject(r *repository, c *comment) object {
	self, place := at(s.apiOf(r), "issues/comments", c.ID), "issues"
	if is := r.issues[c.issue]; is != nil && is.Pull {
		place = "pull"
	}
	return object{
		"id": c.ID, "node_id": node("IC", c.ID), "url": self, "html_url": at(s.webOf(r), place, c.issue) + "#issuecomment-" + text(c.ID),
		"issue_url": at(s.apiOf(r), "issues", c.issue), "user": s.user(c.Author), "body": c.Body, "author_association": r.association(c.Author),
		"created_at": stamp(c.Created), "updated_at": stamp(c.Updated), "reactions": r.reactions.rollup(self, subject{comment: c.ID}),
		"performed_via_github_app": s.via(c.Author),
	}
}

// commentHandler answers requests about comments.
type commentHandler struct{ *visit }

// withHTML adds the text as people see it, if that was asked for.
func (h commentHandler) withHTML(o object, text string) object {
	if h.in.full && h.Shown != nil {
		o["body_html"] = h.Shown(text)
	}
	return o
}

func (h commentHandler) getComment() result {
	return ok(h.withHTML(h.commentObject(h.repo, h.comment), h.comment.Body))
}

func (h commentHandler) listComments() result {
	var found []*comment
	for _, c := range h.repo.comments {
		if c.issue == h.issue.Number && h.since(c.Updated) {
			found = append(found, c)
		}
	}
	return page(h.visit, found, func(c *comment) any { return h.commentObject(h.repo, c) })
}

func (h commentHandler) createComment() result {
	if no := h.locked("comment"); no != nil {
		return *no
	}
	body, no := h.commentBody()
	if no != nil {
		return *no
	}
	return created(h.commentObject(h.repo, h.addComment(h.repo, h.issue, Comment{Author: h.login(), Body: body})))
}

// commentBody reads the text of a comment. GitHub takes none that is blank.
func (h commentHandler) commentBody() (string, *result) {
	body, _ := field[string](h.visit, "body")
	if strings.TrimSpace(body) == "" {
		no := invalid(object{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body cannot be blank"})
		return "", &no
	}
	if len([]rune(body)) > mostBody {
		no := invalid(object{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"})
		return "", &no
	}
	return body, nil
}

// locked refuses what only people with a right to write may add. An app is
// none of them.
func (h commentHandler) locked(what string) *result {
	if !h.issue.Locked || !h.token.installation && h.has("write") {
		return nil
	}
	no := refuse(http.StatusForbidden, "Unable to create "+what+" because issue is locked.")
	return &no
}

// mayChange refuses to change a comment of somebody else.
func (h commentHandler) mayChange() *result {
	if h.has("write") || strings.EqualFold(h.comment.Author, h.login()) {
		return nil
	}
	no := refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	return &no
}

func (h commentHandler) editComment() result {
	if no := h.mayChange(); no != nil {
		return *no
	}
	body, no := h.commentBody()
	if no != nil {
		return *no
	}
	h.comment.Body, h.comment.Updated = body, h.tick()
	return ok(h.commentObject(h.repo, h.comment))
}

func (h commentHandler) deleteComment() result {
	if no := h.mayChange(); no != nil {
		return *no
	}
	h.repo.deleteComment(h.comment.ID)
	return nothing()
}
