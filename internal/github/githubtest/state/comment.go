package state

import "time"

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

// Posted is a comment in its place.
type Posted struct {
	Comment
	Issue int // its number
}

// Comments are all of a repository, oldest first.
type Comments []*Posted

// Find gives the comment of that id, or nil.
func (all Comments) Find(id int64) *Posted {
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Of are those of an issue.
func (all Comments) Of(number int) (of Comments) {
	for _, c := range all {
		if c.Issue == number {
			of = append(of, c)
		}
	}
	return of
}

// Reaction is what somebody thinks of a comment or an issue.
type Reaction struct {
	ID      int64
	Content string // +1, -1, laugh, confused, heart, hooray, rocket or eyes
	Author  string
	Created time.Time
}

// Subject is what a reaction belongs to: a comment by its id, or an issue by
// its number.
type Subject struct {
	Comment int64
	Issue   int
}
