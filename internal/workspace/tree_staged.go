package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// staged is what a commit is to take from a tree, as package phases wants to see
// it.
type staged struct {
	tree  Tree
	stage *git.Stage
}

// Stage takes changed paths as they are now, to be committed; without any, it is
// the tip.
func (t Tree) Stage(ctx context.Context, paths ...string) (engine.StagedTree, error) {
	stage, err := t.Repo.Stage(ctx, paths)
	return staged{t, stage}, err
}

// Each says of what is staged what Changes says of the files.
func (s staged) Each(ctx context.Context, f func(phases.Change, []byte) error) error {
	bare := bareFolders{tree: s.tree, known: map[string]bool{}, has: s.has(ctx)}
	return s.tree.Repo.EachStaged(ctx, s.stage, func(one git.Staged) error {
		c, err := s.change(ctx, one, bare)
		if err != nil {
			return err
		}
		return f(c, one.Data)
	})
}

// has reports whether the commit will have something at a path or below it, as
// far as nothing is removed. In a folder where it changes none of bareParts it is not
// asked: that folder is what it was.
func (s staged) has(ctx context.Context) func(name string) bool {
	names := map[string]bool{}
	for _, p := range s.stage.Paths {
		for ; p != "."; p = path.Dir(p) {
			names[p] = true
		}
	}
	return func(name string) bool {
		if names[name] {
			return true
		}
		if dir := path.Dir(name); !slices.ContainsFunc(bareParts, func(part string) bool { return names[path.Join(dir, part)] }) {
			return false
		}
		_, err := s.tree.Repo.ReadFile(ctx, s.tree.Repo.Tip(), name)
		return !errors.Is(err, fs.ErrNotExist)
	}
}

func (s staged) change(ctx context.Context, one git.Staged, bare bareFolders) (phases.Change, error) {
	c := phases.Change{
		Path: one.Path, Kind: kindOf(git.Change{Type: one.Type, Was: one.Was}), New: one.Was == git.None, Gone: one.Type == git.None,
		Size: int64(len(one.Data)), Runs: one.Type == git.Executable && one.Was != git.Executable,
	}
	if !plainFile(one.Type) {
		return c, nil
	}
	if in, err := bare.above(ctx, c.Path); err != nil {
		return c, err
	} else if in && c.New {
		c.Kind = phases.NestedKind
	}
	if c.Holds = phases.ContentOf(one.Data); !c.Holds.Opaque() || !plainFile(one.Was) {
		return c, nil
	}
	before, err := s.tree.Repo.Held(ctx, one.Path, phases.HeadSize)
	c.Held = phases.ContentOf(before)
	return c, err
}

func (s staged) Read(ctx context.Context, name string) ([]byte, error) {
	return s.tree.Repo.ReadStaged(ctx, s.stage, name)
}

func (s staged) Diff(ctx context.Context, from string) (string, metadata.Diff, error) {
	return s.tree.diff(ctx, from, s.stage)
}

// besides adds to a commit what comes from trees of parts.
func (t Tree) besides(ctx context.Context, c engine.BranchCommit, g *git.Commit) error {
	g.Parents = c.Parents
	for _, s := range c.Beside {
		one := s.(staged)
		files, gone := one.tree.Repo.(*git.Repo).State(one.stage)
		for name, data := range files {
			if g.Files[name] == nil {
				g.Files[name] = data
			}
		}
		g.Gone = append(g.Gone[:len(g.Gone):len(g.Gone)], gone...)
	}
	if c.Take == "" {
		return nil
	}
	stage, err := t.Repo.RestoreTree(ctx, c.Take, ".reprise")
	g.Stage = stage
	return err
}
