package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// maxPatch is the most of a broken call's changes that is kept, in bytes.
const maxPatch = 1 << 20

// tree is the branch as package phases wants to see it.
type tree struct {
	repo    *git.Repo
	protect []string // the pipeline's own protected paths
}

func (t tree) Dir() string { return t.repo.Tree() }
func (t tree) Tip() string { return t.repo.Tip() }

// Prepare makes the playground anew. Instructions to agents that another agent
// wrote, and hid by a .gitignore, are not left for the next one.
func (t tree) Prepare(ctx context.Context) error {
	_, err := t.repo.Tidy(ctx, func(p string) bool { return phases.Protected(p, t.protect) })
	return err
}

func (t tree) Changes(ctx context.Context) ([]phases.Change, error) {
	changes, err := t.repo.Changes(ctx)
	out := make([]phases.Change, len(changes))
	for i, c := range changes {
		out[i] = phases.Change{Path: c.Path, Kind: kindOf(c), New: c.Was == git.None, Gone: c.Type == git.None, Size: c.Size}
		if c.Type == git.File && t.linked(c.Path) {
			out[i].Kind = phases.Other
		}
	}
	return out, err
}

// linked reports whether a file has a second name somewhere: what is behind
// it may lie outside the tree.
func (t tree) linked(p string) bool {
	info, err := os.Lstat(filepath.Join(t.repo.Tree(), filepath.FromSlash(p)))
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
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

func (t tree) Patch(ctx context.Context) ([]byte, error) {
	patch, err := t.repo.Patch(ctx, maxPatch)
	if errors.Is(err, git.ErrTooLarge) {
		return fmt.Appendf(nil, "What the call had changed is not kept: %v\n", err), nil
	}
	return patch, err
}

func (t tree) Diff(ctx context.Context, from string) (string, metadata.Diff, error) {
	text, stat, err := t.repo.Diff(ctx, from, path.Dir(phases.Folder("x")))
	return text, metadata.Diff{Files: stat.Files, Lines: stat.Added + stat.Deleted, Added: stat.Added, Deleted: stat.Deleted}, err
}

func (t tree) Commit(ctx context.Context, c phases.Commit) error {
	made, err := t.repo.Commit(ctx, git.Commit{Message: c.Message, Files: c.Files, Paths: c.Paths, Moves: c.Moves, Time: c.At.UTC().Truncate(time.Second)})
	if err != nil && made != "" {
		return &phases.NotPushed{Err: err}
	}
	return err
}
