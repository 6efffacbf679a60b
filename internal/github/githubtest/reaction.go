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
func (r *repository) rollup(self string, to subject) object {
	out := object{"url": self + "/reactions", "total_count": len(r.reactions[to])}
	for _, name := range []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"} {
		n := 0
		for _, x := range r.reactions[to] {
			if x.Content == name {
				n++
			}
		}
		out[name] = n
	}
	return out
}

// subject is what the path of a request names.
func (v *visit) subject() subject {
	if v.comment != nil {
		return subject{comment: v.comment.ID}
	}
	return subject{issue: v.issue.Number}
}

func (v *visit) reactionObject(r *Reaction) any {
	return object{"id": r.ID, "node_id": node("REA", r.ID), "user": v.user(r.Author), "content": r.Content, "created_at": stamp(r.Created)}
}

func (v *visit) listReactions() result {
	all := slices.Clone(v.repo.reactions[v.subject()])
	if content := v.in.query.Get("content"); content != "" {
		all = slices.DeleteFunc(all, func(r *Reaction) bool { return r.Content != content })
	}
	return page(v, all, v.reactionObject)
}

func (v *visit) createReaction() result {
	if no := v.locked("reaction"); no != nil {
		return *no
	}
	content, _ := field[string](v, "content")
	r, fresh := v.react(v.repo, v.subject(), v.login(), content)
	if !fresh {
		return ok(v.reactionObject(r))
	}
	return created(v.reactionObject(r))
}

func (v *visit) deleteReaction() result {
	to, id := v.subject(), v.number("reaction_id")
	i := slices.IndexFunc(v.repo.reactions[to], func(r *Reaction) bool { return r.ID == id })
	switch {
	case i < 0:
		return notFound()
	case !strings.EqualFold(v.repo.reactions[to][i].Author, v.login()):
		return refuse(http.StatusForbidden, "Must be the author of the reaction.")
	}
	v.repo.reactions[to] = slices.Delete(v.repo.reactions[to], i, i+1)
	return nothing()
}
