package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// maxPatch is the most of a broken call's changes that is kept, in bytes.
const maxPatch = 1 << 20

// tree is the branch as package phases wants to see it.
type tree struct {
	repo checkout
	base string // commit that the branch started from: its instructions to agents count
}

func (t tree) Dir() string { return t.repo.Tree() }
func (t tree) Tip() string { return t.repo.Tip() }

// Prepare makes the playground anew. Instructions to agents that another agent
// wrote, and hid by a .gitignore, are not left for the next one.
func (t tree) Prepare(ctx context.Context) error {
	_, err := t.repo.Tidy(ctx, git.Guard{Base: t.base, Instruct: phases.Instructs})
	return err
}

func (t tree) Changes(ctx context.Context) ([]phases.Change, error) {
	changes, err := t.repo.Changes(ctx)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	top, err := os.OpenRoot(t.repo.Tree())
	if err != nil {
		return nil, err
	}
	defer top.Close()
	out := make([]phases.Change, len(changes))
	bare := bareFolders{tree: t, top: top, known: map[string]bool{}}
	for i, c := range changes {
		out[i] = phases.Change{
			Path: c.Path, Kind: kindOf(c), New: c.Was == git.None, Gone: c.Type == git.None, Size: c.Size,
			Runs: c.Type == git.Executable && c.Was != git.Executable, Twin: c.Twin, Behind: c.Behind, Large: c.Large,
		}
		if !plainFile(c.Type) || metadata.CheckPath(c.Path) != nil {
			continue // it is not kept anyway
		}
		if in, err := bare.above(ctx, c.Path); err != nil {
			return nil, fmt.Errorf("look around %s: %w", c.Path, err)
		} else if in && out[i].New {
			out[i].Kind = phases.Nested
			continue
		}
		if err := t.read(ctx, top, &out[i], plainFile(c.Was)); err != nil {
			return nil, fmt.Errorf("look at %s: %w", c.Path, err)
		}
	}
	return out, nil
}

// Hidden names each rule as people find it.
func (t tree) SetAside(ctx context.Context, keep []string) (func() error, error) {
	if len(keep) == 0 {
		return t.repo.SetAside(ctx, nil)
	}
	return t.repo.SetAside(ctx, func(path string) bool { return phases.Matches(path, keep) })
}

func (t tree) Hidden(ctx context.Context, since time.Time) ([]phases.Hidden, error) {
	all, err := t.repo.Hidden(ctx, since)
	var out []phases.Hidden
	for _, h := range all {
		out = append(out, phases.Hidden{Path: h.Path, Rule: fmt.Sprintf("%s:%d: %s", h.File, h.Line, h.Pattern)})
	}
	return out, err
}

func plainFile(t git.Type) bool { return t == git.File || t == git.Executable }

// read notes what a file holds, and what the tip has there, if it has a file
// there and that matters. A file with a second name somewhere is none: what is behind it may
// lie outside the tree.
func (t tree) read(ctx context.Context, top *os.Root, c *phases.Change, was bool) error {
	f, info, err := folders.Open(top, c.Path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, folders.ErrNoFile) {
		c.Kind = phases.Other // it cannot be committed either
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		c.Kind = phases.Other
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(f, phases.HeadSize))
	if err != nil {
		return err
	}
	if c.Holds = phases.ContentOf(head); !c.Holds.Opaque() || !was {
		return nil
	}
	before, err := t.repo.Held(ctx, c.Path, phases.HeadSize)
	c.Held = phases.ContentOf(before)
	return err
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
	g := git.Commit{Message: c.Message, Files: c.Files, Paths: c.Paths, Moves: c.Moves, Anew: c.Anew, Time: c.At.UTC().Truncate(time.Second)}
	if c.Judge != nil {
		g.Judge = func(ctx context.Context, s git.Staged) error {
			change, err := t.staged(ctx, s)
			if err != nil {
				return err
			}
			return c.Judge(ctx, change, s.Data)
		}
	}
	made, err := t.repo.Commit(ctx, g)
	if err != nil && made != "" {
		return &phases.NotPushed{Err: err}
	}
	return err
}

// staged says of what is about to be committed what Changes says of a file.
func (t tree) staged(ctx context.Context, s git.Staged) (phases.Change, error) {
	c := phases.Change{
		Path: s.Path, Kind: kindOf(git.Change{Type: s.Type}), New: s.Was == git.None, Size: int64(len(s.Data)),
		Runs: s.Type == git.Executable && s.Was != git.Executable,
	}
	if !plainFile(s.Type) {
		return c, nil
	}
	if c.Holds = phases.ContentOf(s.Data); !c.Holds.Opaque() || !plainFile(s.Was) {
		return c, nil
	}
	before, err := t.repo.Held(ctx, s.Path, phases.HeadSize)
	c.Held = phases.ContentOf(before)
	return c, err
}
