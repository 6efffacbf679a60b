package issue

import (
	"context"

	"github.com/reprise-ci/reprise/internal/github"
)

// Right is something that a token has to be allowed, and a question that finds out without doing it.
type Right struct {
	Name string // as workflows write it
	Ask  func(ctx context.Context) error
}

// RightsOf lists what a run asks of a token: to push, and to open a pull request to base unless that is empty.
func RightsOf(gh *github.Client, owner, name, base string) []Right {
	rights := []Right{{"contents: write", func(ctx context.Context) error { return gh.MayPush(ctx, owner, name) }}}
	if base != "" {
		rights = append(rights, Right{"pull-requests: write", func(ctx context.Context) error { return gh.MayOpenPull(ctx, owner, name, base) }})
	}
	return rights
}
