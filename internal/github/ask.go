package github

import (
	"context"
	"net/http"
)

// Request is a call for which Client has no method.
type Request struct {
	What       string // verb and object, such as "read the reviews of pull request 8"
	Needs      string // the permission that a token must have, such as "pull-requests: read"
	Method     string
	Path       string // below the repository, such as /pulls/8/reviews
	Body       any    // nil: none
	Known      string // the tag of an answer that the caller has
	Repeatable bool   // doing it twice does the same as doing it once, though it is a POST
}

// Answer is what an answer is besides its content.
type Answer struct {
	Header http.Header
	Same   bool // it is the one that is known, and nothing was read
	More   bool // another page follows
	Last   int  // of the first page of a list of hundreds, the number of the last; 0: the forge does not say
}

// FindOrMake finds something, or makes it if it is not there, and leaves no more
// than one, also where the answer to a request is lost.
func FindOrMake[T any](ctx context.Context, c *Client, find func() (T, bool, error), make func() (T, error)) (T, error) {
	return once(ctx, c.retry, find, make)
}
