package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Reaction is what somebody thinks of a comment or an issue.
type Reaction struct {
	ID      int64
	Content string // +1, -1, laugh, confused, heart, hooray, rocket or eyes
	Author  string
	Created time.Time
}

// subject is what a reaction belongs to: a comment by its id, or an issue by
// its number.
type subject struct {
	comment int64
	issue   int
}

// reactions are all of a repository.
type reactions map[subject][]*Reaction

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
	if s.commentNamed(repo, comment) != nil {
		s.react(s.repository(repo), subject{comment: comment}, login, content)
	}
}

// react adds a reaction, unless it is there. It reports whether it is new.
func (s *Server) react(r *repository, to subject, login, content string) (*Reaction, bool) {
	for _, old := range r.reactions[to] {
		if old.Content == content && strings.EqualFold(old.Author, login) {
			return old, false
		}
	}
	added := &Reaction{ID: s.id(), Content: content, Author: login, Created: s.tick()}
	r.reactions[to] = append(r.reactions[to], added)
	return added, true
}

// rollup counts the reactions.
func (all reactions) rollup(self string, to subject) object {
	out := object{"url": self + "/reactions", "total_count": len(all[to])}
	for _, name := range []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"} {
		n := 0
		for _, x := range all[to] {
			if x.Content == name {
				n++
			}
		}
		out[name] = n
	}
	return out
}

// reactionHandler answers requests about reactions.
type reactionHandler struct{ *visit }

// subject is what the path of a request names.
func (h reactionHandler) subject() subject {
	if h.comment != nil {
		return subject{comment: h.comment.ID}
	}
	return subject{issue: h.issue.Number}
}

func (h reactionHandler) reactionObject(r *Reaction) any {
	return object{"id": r.ID, "node_id": node("REA", r.ID), "user": h.user(r.Author), "content": r.Content, "created_at": stamp(r.Created)}
}

func (h reactionHandler) listReactions() result {
	all := slices.Clone(h.repo.reactions[h.subject()])
	if content := h.in.query.Get("content"); content != "" {
		all = slices.DeleteFunc(all, func(r *Reaction) bool { return r.Content != content })
	}
	return page(h.visit, all, h.reactionObject)
}

func (h reactionHandler) createReaction() result {
	if no := commentHandler(h).locked("reaction"); no != nil {
		return *no
	}
	content, _ := field[string](h.visit, "content")
	r, fresh := h.react(h.repo, h.subject(), h.login(), content)
	if !fresh {
		return ok(h.reactionObject(r))
	}
	return created(h.reactionObject(r))
}

func (h reactionHandler) deleteReaction() result {
	to, id := h.subject(), h.number("reaction_id")
	i := slices.IndexFunc(h.repo.reactions[to], func(r *Reaction) bool { return r.ID == id })
	switch {
	case i < 0:
		return notFound()
	case !strings.EqualFold(h.repo.reactions[to][i].Author, h.login()):
		return refuse(http.StatusForbidden, "Must be the author of the reaction.")
	}
	h.repo.reactions[to] = slices.Delete(h.repo.reactions[to], i, i+1)
	return nothing()
}
