package github

import "github.com/reprise-ci/reprise/internal/github/wire"

// What the client reads and writes, as wire describes it.
type (
	Comment = wire.Comment
	Issue   = wire.Issue
	Pull    = wire.Pull
	User    = wire.User
	// Reactions are how many have reacted to a comment.
	Reactions = wire.Reactions
)
