package wire

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID                   int64
	NodeID               string // of the GraphQL API; empty if there is none
	Body                 string // Markdown; line ends may be \r\n
	Author               User
	URL                  string    // for people; empty if the forge gave none that is safe to keep
	CreatedAt, UpdatedAt time.Time // zero if the forge did not say
	// Association is what the forge calls the author in this repository, such as
	// MEMBER. It says who may have a right, and not who has.
	Association string

	Reactions Reactions
}

// Reactions are how many have reacted to a comment, whoever they are: anybody may. 0 also if
// the forge did not say.
type Reactions struct{ Eyes, Confused, Rocket, ThumbsDown int }

// None reports whether nobody has, as far as the forge says.
func (r Reactions) None() bool { return r == Reactions{} }

// Edited reports whether a comment may not read any more as it did when it was
// written. It may not if one of the two times is unknown.
func (c Comment) Edited() bool {
	return c.CreatedAt.IsZero() || c.UpdatedAt.IsZero() || !c.CreatedAt.Equal(c.UpdatedAt)
}

// IsStranger reports whether the forge calls the author somebody who can hardly have
// a right.
func (c Comment) IsStranger() bool {
	return !slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, c.Association)
}

// CommentForm is what is read of a comment.
type CommentForm struct {
	ID        int64       `json:"id"`
	NodeID    string      `json:"node_id"`
	Body      string      `json:"body"`
	User      AccountForm `json:"user"`
	URL       string      `json:"html_url"`
	IssueURL  string      `json:"issue_url"`
	CreatedAt moment      `json:"created_at"`
	UpdatedAt moment      `json:"updated_at"`

	Association string          `json:"author_association"`
	Reactions   json.RawMessage `json:"reactions"` // other forges have lists there, or nothing
}

// Comment gives the comment, with addresses that are safe to keep.
func (w CommentForm) Comment() Comment {
	type reactions struct {
		Eyes, Confused, Rocket int
		ThumbsDown             int `json:"-1"`
	}
	var reacted reactions
	if json.Unmarshal(w.Reactions, &reacted) != nil {
		reacted = reactions{}
	}
	c := Comment{
		Reactions: Reactions(reacted),
		ID:        w.ID, NodeID: w.NodeID, Body: w.Body, Author: w.User.User(), URL: CommentURL(w.URL),
		CreatedAt: w.CreatedAt.Time, UpdatedAt: w.UpdatedAt.Time, Association: w.Association,
	}
	if c.Author.Login == "" {
		c.Author.Login = "ghost" // as GitHub shows those who have left
	}
	return c
}

var fragmentForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`) })

// CommentURL is SafeURL with the fragment that leads to one comment.
func CommentURL(address string) string {
	out := SafeURL(address)
	u, err := url.Parse(strings.TrimSpace(address))
	if out == "" || err != nil || !fragmentForm().MatchString(u.Fragment) {
		return out
	}
	return out + "#" + u.Fragment
}
