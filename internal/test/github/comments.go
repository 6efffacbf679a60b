package github

import (
	"cmp"
	"slices"
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

// posted is a comment in its place.
type posted struct {
	Comment
	issue int // its number
}

// Reaction is what somebody thinks of a comment or an issue.
type Reaction struct {
	ID      int64
	Content string // +1, -1, laugh, confused, heart, hooray, rocket or eyes
	Author  string
	Created time.Time
}

// subject is what a reaction belongs to: a comment by its id, or an issue by its number.
type subject struct {
	comment int64
	issue   int
}

// comment gives the comment of that id, or nil.
func (r *repository) comment(id int64) *posted {
	if i := slices.IndexFunc(r.comments, func(c *posted) bool { return c.ID == id }); i >= 0 {
		return r.comments[i]
	}
	return nil
}

// commentsOf are those of an issue.
func (r *repository) commentsOf(number int) (of []*posted) {
	for _, c := range r.comments {
		if c.issue == number {
			of = append(of, c)
		}
	}
	return of
}

// AddComment adds a comment as somebody, whoever that is, and returns its id.
func (s *Server) AddComment(repo string, number int, comment Comment) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repository(repo).addComment(s.thread(repo, number), comment).ID
}

func (r *repository) addComment(is *Issue, c Comment) *posted {
	now := r.server.tick()
	c.Author = cmp.Or(c.Author, "octocat")
	if c.Created.IsZero() {
		c.Created = now
	}
	if c.Updated.IsZero() {
		c.Updated = c.Created
	}
	c.ID, is.Updated = r.server.newID(), now
	added := &posted{Comment: c, issue: is.Number}
	r.comments = append(r.comments, added)
	return added
}

// Comments are the comments of an issue, oldest first.
func (s *Server) Comments(repo string, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Comment
	for _, c := range s.repository(repo).commentsOf(number) {
		out = append(out, c.Comment)
	}
	return out
}

// EditComment changes the text of a comment.
func (s *Server) EditComment(repo string, id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.comment(repo, id); c != nil {
		c.Body, c.Updated = body, s.tick()
	}
}

// DeleteComment deletes a comment.
func (s *Server) DeleteComment(repo string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.comment(repo, id) != nil {
		s.repository(repo).deleteComment(id)
	}
}

// deleteComment takes a comment away with what people thought of it.
func (r *repository) deleteComment(id int64) {
	r.comments = slices.DeleteFunc(r.comments, func(c *posted) bool { return c.ID == id })
	delete(r.reactions, subject{comment: id})
}

// Reactions are the reactions to a comment, oldest first.
func (s *Server) Reactions(repo string, comment int64) []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Reaction
	for _, r := range s.repository(repo).reactions[subject{comment: comment}] {
		out = append(out, *r)
	}
	return out
}

// AddReaction reacts to a comment as somebody.
func (s *Server) AddReaction(repo string, comment int64, login, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.comment(repo, comment) != nil {
		s.repository(repo).react(subject{comment: comment}, login, content)
	}
}

// react adds a reaction, unless it is there. It reports whether it is new.
func (r *repository) react(to subject, login, content string) (*Reaction, bool) {
	for _, old := range r.reactions[to] {
		if old.Content == content && strings.EqualFold(old.Author, login) {
			return old, false
		}
	}
	added := &Reaction{ID: r.server.newID(), Content: content, Author: login, Created: r.server.tick()}
	r.reactions[to] = append(r.reactions[to], added)
	return added, true
}
