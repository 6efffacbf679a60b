package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// staged is what a commit is to take from a tree, as package engine wants to see it.
type staged struct {
	tree  Tree
	stage *git.Stage
}

// Stage takes changed paths as they are now, to be committed; without any, it is the tip.
func (t Tree) Stage(ctx context.Context, paths ...string) (engine.StagedTree, error) {
	stage, err := t.Repo.Stage(ctx, paths)
	return staged{t, stage}, err
}

// Each says of what is staged what Changes says of the files.
func (s staged) Each(ctx context.Context, f func(phases.Change, []byte) error) error {
	bare := bareFolders{tree: s.tree, known: map[string]bool{}, has: s.has(ctx)}
	return s.tree.EachStaged(ctx, s.stage, func(one git.Staged) error {
		c, err := s.change(ctx, one, bare)
		if err != nil {
			return err
		}
		return f(c, one.Data)
	})
}

// has reports whether the commit will have something at a path or below, as far as nothing is removed. It is not asked
// of a folder where none of bareParts changes.
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
		_, err := s.tree.ReadFile(ctx, s.tree.Tip(), name)
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
	return c, s.tree.judge(ctx, &c, one.Data, plainFile(one.Was), func() ([]byte, error) { return one.Data, nil })
}

func (s staged) Read(ctx context.Context, name string) ([]byte, error) {
	return s.tree.ReadStaged(ctx, s.stage, name)
}

func (s staged) Diff(ctx context.Context, from string) (string, metadata.Diff, error) {
	return s.tree.diff(ctx, from, s.stage)
}

// besides adds to a commit what comes from trees of parts.
func (t Tree) besides(ctx context.Context, c engine.BranchCommit, g *git.Commit) error {
	if g.Parents = c.Parents; c.Merges != "" {
		g.Parents = append(slices.Clip(g.Parents), c.Merges)
	}
	for _, s := range c.Beside {
		one := s.(staged)
		files, gone, err := one.tree.State(ctx, one.stage)
		if err != nil {
			return err
		}
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
	stage, err := t.RestoreTree(ctx, c.Take, ".reprise")
	g.Stage = stage
	return err
}

// bareParts make git take a folder for a bare repository, whose configuration it runs for whoever works in there.
var bareParts = []string{"HEAD", "objects", "refs"}

// bareFolders finds folders that have come to look like a bare repository.
type bareFolders struct {
	tree  Tree
	has   func(path string) bool // in what is looked at
	known map[string]bool        // by folder
}

// above reports whether a path lies in such a folder. One that the last commit has is somebody's choice.
func (b bareFolders) above(ctx context.Context, p string) (bool, error) {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		is, known := b.known[dir]
		if !known {
			var err error
			if is, err = b.look(ctx, dir); err != nil {
				return false, err
			}
			b.known[dir] = is
		}
		if is || dir == "." {
			return is, nil
		}
	}
}

func (b bareFolders) look(ctx context.Context, dir string) (bool, error) {
	for _, part := range bareParts {
		if !b.has(path.Join(dir, part)) {
			return false, nil
		}
	}
	for _, part := range bareParts {
		_, err := b.tree.ReadFile(ctx, b.tree.Tip(), path.Join(dir, part))
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return false, nil // an error says that it is a folder
}

// leakGuard is what keeps secrets off a branch.
type leakGuard struct {
	*secrets.Finder
	repo Checkout
}

// maxLeaks is how many values, and how many shapes, a file is searched for: an agent can write any number.
const maxLeaks = 20

// Leaks finds secrets in a file that the last commit lacks. The first values and shapes are enough to refuse it.
func (g leakGuard) Leaks(ctx context.Context, path string, data []byte) (out []engine.Leak, err error) {
	hits, err := g.Find(data)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	before, err := g.repo.ReadFile(ctx, g.repo.Tip(), path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	had, found := map[string]bool{}, map[bool]int{}
	for _, h := range hits {
		if found[h.Known] == maxLeaks {
			continue
		}
		text := h.Value(data)
		was, asked := had[text]
		if !asked {
			if was, err = g.had(ctx, before, text); err != nil {
				return nil, err
			}
			had[text] = was
		}
		if !was {
			found[h.Known]++
			out = append(out, engine.Leak{Line: h.Line(data), Name: h.Name, Known: h.Known})
		}
	}
	return out, nil
}

// had reports whether the last commit has a text: in that file, or in any.
func (g leakGuard) had(ctx context.Context, before []byte, text string) (bool, error) {
	if bytes.Contains(before, []byte(text)) {
		return true, nil
	}
	tree, ok := g.repo.(Tree)
	if !ok || strings.Contains(text, "\x00") || strings.Trim(text, "\r\n") == "" {
		return false, nil
	}
	return tree.Holds(ctx, text)
}
