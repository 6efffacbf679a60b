package inbox

import (
	"context"
	"fmt"
	"maps"
	"net/url"

	"github.com/reprise-ci/reprise/internal/github"
)

// SameWorkflows reports whether .github is the same in a commit or branch as in one
// of some others. A job for a review runs the workflow file of the pull request's
// own branch: one that was changed there is not to be obeyed.
func SameWorkflows(ctx context.Context, gh *github.Client, owner, name, branch string, others ...string) (bool, error) {
	mine, err := workflows(ctx, gh, owner, name, branch)
	if err != nil {
		return false, err
	}
	for _, other := range others {
		theirs, err := workflows(ctx, gh, owner, name, other)
		if err != nil {
			return false, err
		}
		if maps.Equal(mine, theirs) {
			return true, nil
		}
	}
	return false, nil
}

// workflows gives what is in .github: for each file or folder the hash of its
// content; nothing if it is not there.
func workflows(ctx context.Context, gh *github.Client, owner, name, ref string) (map[string]string, error) {
	var list []struct {
		Name string `json:"name"`
		SHA  string `json:"sha"`
	}
	_, err := gh.Ask(ctx, owner, name, github.Request{
		What: fmt.Sprintf("read .github on %s of %s/%s", ref, owner, name), Needs: "contents: read",
		Path: "/contents/.github?ref=" + url.QueryEscape(ref),
	}, &list)
	if github.IsKind(err, github.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range list {
		out[f.Name] = f.SHA
	}
	return out, nil
}
