package githubtest

import "github.com/reprise-ci/reprise/internal/github/githubtest/state"

// Comment is a comment on an issue or a pull request.
type Comment = state.Comment

// Reaction is what somebody thinks of a comment or an issue.
type Reaction = state.Reaction

// comments are comments, and what people think of them.
type comments struct{ in *world }

// AddComment adds a comment as somebody, whoever that is, and returns its id.
func (c comments) AddComment(repo string, number int, comment Comment) int64 {
	c.in.Lock()
	defer c.in.Unlock()
	return c.in.repository(repo).AddComment(c.in.thread(repo, number), comment).ID
}

// Comments are the comments of an issue, oldest first.
func (c comments) Comments(repo string, number int) []Comment {
	c.in.Lock()
	defer c.in.Unlock()
	var out []Comment
	for _, posted := range c.in.repository(repo).Comments.Of(number) {
		out = append(out, posted.Comment)
	}
	return out
}

// EditComment changes the text of a comment.
func (c comments) EditComment(repo string, id int64, body string) {
	c.in.Lock()
	defer c.in.Unlock()
	if posted := c.in.comment(repo, id); posted != nil {
		posted.Body, posted.Updated = body, c.in.Tick()
	}
}

// DeleteComment deletes a comment.
func (c comments) DeleteComment(repo string, id int64) {
	c.in.Lock()
	defer c.in.Unlock()
	if c.in.comment(repo, id) != nil {
		c.in.repository(repo).DeleteComment(id)
	}
}

// Reactions are the reactions to a comment, oldest first.
func (c comments) Reactions(repo string, comment int64) []Reaction {
	c.in.Lock()
	defer c.in.Unlock()
	var out []Reaction
	for _, r := range c.in.repository(repo).Reactions[state.Subject{Comment: comment}] {
		out = append(out, *r)
	}
	return out
}

// AddReaction reacts to a comment as somebody.
func (c comments) AddReaction(repo string, comment int64, login, content string) {
	c.in.Lock()
	defer c.in.Unlock()
	if c.in.comment(repo, comment) != nil {
		c.in.repository(repo).React(state.Subject{Comment: comment}, login, content)
	}
}
