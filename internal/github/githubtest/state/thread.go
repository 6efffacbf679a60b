package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// AddIssue adds an issue, or replaces the one with its number. One that is to be a pull
// request becomes one of a branch of its own.
func (r *Repository) AddIssue(is *Issue) {
	if is.Number == 0 {
		is.Number = r.nextNumber()
	}
	is.Author, is.State = cmp.Or(is.Author, "octocat"), cmp.Or(is.State, "open")
	if is.Updated.IsZero() {
		is.Updated = r.clock.Time()
	}
	if is.Created.IsZero() {
		is.Created = is.Updated
	}
	is.ID, is.Labels = r.clock.NewID(), slices.Clone(is.Labels)
	if old := r.Issues[is.Number]; old != nil {
		is.ID = old.ID
	}
	r.Issues[is.Number] = is
	delete(r.Gone, is.Number)
	if is.Pull && r.Pulls[is.Number] == nil {
		r.Pulls[is.Number] = &Pull{Number: is.Number, ID: r.clock.NewID(), Head: fmt.Sprintf("change-%d", is.Number), Base: r.DefaultBranch, HeadRepository: r.FullName()}
	}
}

func (r *Repository) nextNumber() int {
	n := 0
	for taken := range r.Issues {
		n = max(n, taken)
	}
	for taken := range r.Gone {
		n = max(n, taken)
	}
	return n + 1
}

// AddPull adds a pull request.
func (r *Repository) AddPull(p Pull) *Pull {
	is := &Issue{Number: p.Number, Title: p.Title, Body: p.Body, Author: p.Author, State: p.State, Pull: true, Updated: r.clock.Tick()}
	r.AddIssue(is)
	p.Number, p.ID = is.Number, r.clock.NewID()
	p.Base, p.HeadRepository = cmp.Or(p.Base, r.DefaultBranch), cmp.Or(p.HeadRepository, r.FullName())
	r.Pulls[p.Number] = &p
	return &p
}

// AddComment adds a comment to an issue.
func (r *Repository) AddComment(is *Issue, c Comment) *Posted {
	now := r.clock.Tick()
	c.Author = cmp.Or(c.Author, "octocat")
	if c.Created.IsZero() {
		c.Created = now
	}
	if c.Updated.IsZero() {
		c.Updated = c.Created
	}
	c.ID, is.Updated = r.clock.NewID(), now
	added := &Posted{Comment: c, Issue: is.Number}
	r.Comments = append(r.Comments, added)
	return added
}

// DeleteComment takes a comment away with what people thought of it.
func (r *Repository) DeleteComment(id int64) {
	r.Comments = slices.DeleteFunc(r.Comments, func(c *Posted) bool { return c.ID == id })
	delete(r.Reactions, Subject{Comment: id})
}

// React adds a reaction, unless it is there. It reports whether it is new.
func (r *Repository) React(to Subject, login, content string) (*Reaction, bool) {
	for _, old := range r.Reactions[to] {
		if old.Content == content && strings.EqualFold(old.Author, login) {
			return old, false
		}
	}
	added := &Reaction{ID: r.clock.NewID(), Content: content, Author: login, Created: r.clock.Tick()}
	r.Reactions[to] = append(r.Reactions[to], added)
	return added, true
}

// remove takes an issue away, and returns its comments.
func (r *Repository) remove(number int, gone Gone) Comments {
	delete(r.Issues, number)
	delete(r.Pulls, number)
	r.Gone[number] = gone
	of := r.Comments.Of(number)
	r.Comments = slices.DeleteFunc(r.Comments, func(c *Posted) bool { return c.Issue == number })
	return of
}
