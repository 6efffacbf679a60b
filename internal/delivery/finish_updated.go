package delivery

import (
	"context"
	"slices"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// updated gives the newest commit of the base that is in the branch, and the commits by which people have merged the
// base and done nothing else: GitHub has a button for that on the page of a pull request.
func updated(ctx context.Context, w *workspace.Workspace) (from string, updates []string, err error) {
	from = w.Run.BaseCommit
	log, err := w.Repo.Log(ctx, from)
	if err != nil {
		return "", nil, err
	}
	newest := ""
	for _, c := range slices.Backward(log) {
		if len(c.Parents) != 2 {
			continue
		}
		if ours, err := w.Made(ctx, c); err != nil {
			return "", nil, err
		} else if ours {
			continue
		}
		if newest == "" {
			if newest, _, err = w.Repo.FindBase(ctx, BaseName(w.Run, w.Source), from); err != nil {
				return "", nil, err
			}
		}
		if is, err := w.Git().Updates(ctx, c, newest, from); err != nil {
			return "", nil, err
		} else if !is {
			continue
		}
		updates = append(updates, c.Commit)
		later, err := w.Git().Ancestry(ctx, from)
		if err != nil {
			return "", nil, err
		}
		if slices.ContainsFunc(later, func(o git.LogEntry) bool { return o.Commit == c.Parents[1] }) {
			from = c.Parents[1]
		}
	}
	return from, updates, nil
}
