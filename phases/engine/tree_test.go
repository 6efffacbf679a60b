package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// folderTree is a Tree on a plain folder: a commit is a copy of all its files.
type folderTree struct {
	t       *testing.T
	dir     string
	commits []map[string]string
	log     []BranchCommit
	fail    error // of the next commit
	hidden  []HiddenFiles
	kept    []string // what copies were made, and when they were removed
}

func newFolderTree(t *testing.T, files map[string]string) *folderTree {
	tree := &folderTree{t: t, dir: t.TempDir()}
	for name, body := range files {
		tree.write(name, body)
	}
	tree.commits = append(tree.commits, tree.read())
	return tree
}

func (f *folderTree) write(name, body string) {
	f.t.Helper()
	name = filepath.Join(f.dir, name)
	testenv.Put(f.t, name, body)
}

func (f *folderTree) read() map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(f.dir, p)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			all[rel] = "-> " + target
			return err
		}
		b, err := os.ReadFile(p)
		all[rel] = string(b)
		return err
	})
	testenv.Must(f.t, err)
	return all
}

func (f *folderTree) tip() map[string]string { return f.commits[len(f.commits)-1] }

func (f *folderTree) Dir() string                   { return f.dir }
func (f *folderTree) Tip() string                   { return fmt.Sprintf("%040x", len(f.commits)-1) }
func (f *folderTree) Prepare(context.Context) error { return nil }

// CopyDir is this tree: what the copy has of it is a test of its own.
func (f *folderTree) CopyDir(string) string { return f.dir }

func (f *folderTree) Copy(_ context.Context, _, name string) (func() error, error) {
	f.kept = append(f.kept, name)
	return func() error { f.kept = append(f.kept, name+" removed"); return nil }, nil
}

func (f *folderTree) Paths(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(f.tip())), nil
}

func (f *folderTree) Hidden(context.Context, time.Time) ([]HiddenFiles, error) {
	return f.hidden, nil
}

func (f *folderTree) Changes(context.Context) ([]phases.Change, error) {
	var out []phases.Change
	now := f.read()
	for name, body := range now {
		old, had := f.tip()[name]
		if had && old == body {
			continue
		}
		kind := phases.FileKind
		if strings.HasPrefix(body, "-> ") {
			kind = phases.SymlinkKind
		}
		out = append(out, phases.Change{Path: name, Kind: kind, New: !had, Size: int64(len(body)), Holds: phases.ContentOf([]byte(body)), Held: phases.ContentOf([]byte(old))})
	}
	for name := range f.tip() {
		if _, has := now[name]; !has {
			out = append(out, phases.Change{Path: name, Kind: phases.FileKind, Gone: true})
		}
	}
	slices.SortFunc(out, func(a, b phases.Change) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func (f *folderTree) Restore(ctx context.Context, paths ...string) error {
	changes, _ := f.Changes(ctx)
	for _, c := range changes {
		if len(paths) > 0 && !slices.Contains(paths, c.Path) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(f.dir, c.Path)); err != nil {
			return err
		}
		if !c.New {
			f.write(c.Path, f.tip()[c.Path])
		}
	}
	return nil
}

func (f *folderTree) Patch(ctx context.Context) ([]byte, error) {
	changes, _ := f.Changes(ctx)
	return fmt.Append(nil, changes), nil
}

func (f *folderTree) WithOthers(_ context.Context, commit, _ string) (string, error) {
	return commit, nil
}

func (f *folderTree) WithBase(_ context.Context, commit, _, _ string) (string, error) {
	return commit, nil
}

func (f *folderTree) Diff(_ context.Context, from string) (string, metadata.Diff, error) {
	return f.compare(f.tip(), from)
}

// of gives the files of a commit.
func (f *folderTree) of(commit string) (map[string]string, error) {
	var n int
	if _, err := fmt.Sscanf(commit, "%x", &n); err != nil {
		return nil, fmt.Errorf("no commit %q", commit)
	}
	return f.commits[n], nil
}

func (f *folderTree) ReadFile(_ context.Context, commit, name string) ([]byte, error) {
	files, err := f.of(commit)
	if body, has := files[name]; has {
		return []byte(body), err
	}
	return nil, cmp.Or(err, fs.ErrNotExist)
}

// compare says in what files differ from a commit.
func (f *folderTree) compare(files map[string]string, from string) (string, metadata.Diff, error) {
	was, err := f.of(from)
	if err != nil {
		return "", metadata.Diff{}, err
	}
	var d metadata.Diff
	var text strings.Builder
	for name, body := range files {
		if !strings.HasPrefix(name, ".reprise/") && was[name] != body {
			d.Files++
			fmt.Fprintf(&text, "%s: %s\n", name, body)
		}
	}
	return text.String(), d, nil
}

// folderStage is what is staged of a folderTree.
type folderStage struct {
	tree    *folderTree
	changes []phases.Change
	files   map[string]string // of the commit
}

func (f *folderTree) Stage(ctx context.Context, paths ...string) (StagedTree, error) {
	s := folderStage{tree: f, files: maps.Clone(f.tip())}
	if len(paths) == 0 {
		return s, nil
	}
	now := f.read()
	changes, err := f.Changes(ctx)
	for _, c := range changes {
		if !slices.Contains(paths, c.Path) {
			continue
		}
		s.changes = append(s.changes, c)
		if s.files[c.Path] = now[c.Path]; c.Gone {
			delete(s.files, c.Path)
		}
	}
	return s, err
}

func (s folderStage) Each(_ context.Context, do func(phases.Change, []byte) error) error {
	for _, c := range s.changes {
		if err := do(c, []byte(s.files[c.Path])); err != nil {
			return err
		}
	}
	return nil
}

func (s folderStage) Read(_ context.Context, name string) ([]byte, error) {
	body, has := s.files[name]
	if !has {
		return nil, fs.ErrNotExist
	}
	return []byte(body), nil
}

func (s folderStage) Diff(_ context.Context, from string) (string, metadata.Diff, error) {
	return s.tree.compare(s.files, from)
}

func (f *folderTree) Commit(_ context.Context, c BranchCommit) error {
	if f.fail != nil {
		return f.fail
	}
	next := maps.Clone(f.tip())
	if c.Staged != nil {
		next = maps.Clone(c.Staged.(folderStage).files)
	}
	if c.Take != "" {
		code, err := f.of(c.Take)
		if err != nil {
			return err
		}
		inFolder := func(name string) bool { return strings.HasPrefix(name, ".reprise/") }
		maps.DeleteFunc(next, func(name, _ string) bool { return !inFolder(name) })
		for name, body := range code {
			if !inFolder(name) {
				f.write(name, body)
				next[name] = body
			}
		}
	}
	for from, to := range c.Moves {
		if _, has := next[from]; !has {
			return fmt.Errorf("move %s: the newest commit has no such file", from)
		}
		next[to] = next[from]
		delete(next, from)
		if err := os.Remove(filepath.Join(f.dir, from)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f.write(to, next[to])
	}
	for name, body := range c.Files {
		f.write(name, string(body))
		next[name] = string(body)
	}
	f.commits, f.log = append(f.commits, next), append(f.log, c)
	return nil
}
