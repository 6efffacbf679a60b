// Package state is what a GitHub in memory keeps: accounts, tokens, and repositories with
// their issues, comments, pull requests, branches and runs of workflows. It knows nothing
// of HTTP, and not how GitHub writes what there is.
package state

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// State is all that is kept. Its lock is held by whoever reads or changes it.
type State struct {
	sync.Mutex
	Clock
	Accounts Accounts
	Tokens   map[string]*Token
	Content  Limit // on creating content

	repositories map[string]*Repository // by name in small letters
}

// New is one with nothing in it.
func New() *State {
	return &State{
		Clock: Clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), lastID: 1000}, Accounts: Accounts{}, Tokens: map[string]*Token{}, repositories: map[string]*Repository{},
	}
}

// Find finds owner/name; nil if it is not there.
func (s *State) Find(fullName string) *Repository { return s.repositories[strings.ToLower(fullName)] }

// Repository finds owner/name, or adds it.
func (s *State) Repository(fullName string) *Repository {
	r := s.Find(fullName)
	if r == nil {
		owner, name, _ := strings.Cut(fullName, "/")
		r = newRepository(owner, name, &s.Clock)
		s.repositories[strings.ToLower(fullName)] = r
	}
	return r
}

// Repositories are all that there are, oldest first.
func (s *State) Repositories() []*Repository {
	var all []*Repository
	for _, r := range s.repositories {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Repository) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// IssueByID finds an issue wherever it is.
func (s *State) IssueByID(id int64) (*Repository, *Issue) {
	for _, r := range s.repositories {
		for _, is := range r.Issues {
			if is.ID == id {
				return r, is
			}
		}
	}
	return nil, nil
}

// HasParent reports whether an issue is below another one.
func (s *State) HasParent(id int64) bool {
	for _, r := range s.repositories {
		for _, children := range r.Children {
			if slices.Contains(children, id) {
				return true
			}
		}
	}
	return false
}

// orphan takes an issue away from its parent.
func (s *State) orphan(id int64) {
	for _, r := range s.repositories {
		for n, children := range r.Children {
			r.Children[n] = slices.DeleteFunc(children, func(child int64) bool { return child == id })
		}
	}
}

// DeleteIssue takes an issue away, with its comments.
func (s *State) DeleteIssue(r *Repository, number int) { s.take(r, number, Gone{}) }

func (s *State) take(r *Repository, number int, gone Gone) Comments {
	if is := r.Issues[number]; is != nil {
		s.orphan(is.ID)
	}
	return r.remove(number, gone)
}

// Transfer moves an issue and its comments to another repository, where it gets a number
// of its own. The old place leads to the new one.
func (s *State) Transfer(from *Repository, is *Issue, to *Repository) (number int) {
	moved := *is
	moved.Number = 0
	to.AddIssue(&moved)
	for _, c := range s.take(from, is.Number, Gone{to, moved.Number}) {
		c.Issue = moved.Number
		to.Comments = append(to.Comments, c)
	}
	slices.SortFunc(to.Comments, func(a, b *Posted) int { return cmp.Compare(a.ID, b.ID) })
	return moved.Number
}
