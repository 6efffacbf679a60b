package main

import (
	"context"
	"path"
	"time"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// maxPatch is the most of a broken call's changes that is kept, in bytes.
const maxPatch = 1 << 20

// tree is the branch as package phases wants to see it.
type tree struct{ repo *git.Repo }

func (t tree) Dir() string { return t.repo.Tree() }
func (t tree) Tip() string { return t.repo.Tip() }

func (t tree) Prepare(ctx context.Context) error { return t.repo.ResetPlayground(ctx) }

func (t tree) Changes(ctx context.Context) ([]phases.Change, error) {
	changes, err := t.repo.Changes(ctx)
	out := make([]phases.Change, len(changes))
	for i, c := range changes {
		out[i] = phases.Change{Path: c.Path, Kind: kindOf(c), New: c.Was == git.None, Gone: c.Type == git.None}
	}
	return out, err
}

func kindOf(c git.Change) phases.Kind {
	what := c.Type
	if what == git.None {
		what = c.Was
	}
	switch what {
	case git.File, git.Executable:
		return phases.File
	case git.Symlink:
		return phases.Symlink
	case git.Repository:
		return phases.Nested
	}
	return phases.Other
}

func (t tree) Restore(ctx context.Context, paths ...string) error {
	if len(paths) == 0 {
		return t.repo.RestoreAll(ctx)
	}
	return t.repo.Restore(ctx, paths)
}

func (t tree) Patch(ctx context.Context) ([]byte, error) { return t.repo.Patch(ctx, maxPatch) }

func (t tree) Diff(ctx context.Context, from string) (string, metadata.Diff, error) {
	text, stat, err := t.repo.Diff(ctx, from, path.Dir(phases.Folder("x")))
	return text, metadata.Diff{Files: stat.Files, Lines: stat.Added + stat.Deleted, Added: stat.Added, Deleted: stat.Deleted}, err
}

func (t tree) Commit(ctx context.Context, c phases.Commit) error {
	_, err := t.repo.Commit(ctx, git.Commit{Message: c.Message, Files: c.Files, Paths: c.Paths, Moves: c.Moves, Time: c.At.UTC().Truncate(time.Second)})
	return err
}
