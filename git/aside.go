package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// asideDir holds, below the root of the run, what SetAside took out of the work
// tree: files 0, 1, 2 and so on, and in asideList their paths, each ended by NUL.
const (
	asideDir  = "aside"
	asideList = asideDir + "/paths"
)

// SetAside takes out of the work tree what the tip does not have, also what a
// .gitignore hides, so that a program meets what a fresh clone of the commit has.
// What keep names stays. The state folder is left alone. The function it returns
// puts everything back, in the place of what has come there meanwhile; after an
// interruption Tidy does that.
func (r *Repo) SetAside(ctx context.Context, keep func(path string) bool) (putBack func() error, err error) {
	paths, err := r.untracked(ctx, keep)
	if err != nil {
		return nil, fmt.Errorf("set aside what is not in the commit: %w", err)
	}
	if len(paths) == 0 {
		return func() error { return nil }, nil
	}
	if err := r.takeAside(paths); err != nil {
		return nil, errors.Join(fmt.Errorf("set aside what is not in the commit: %w", err), r.putBack())
	}
	return r.putBack, nil
}

// untracked lists files and whole folders of which the tip has nothing.
func (r *Repo) untracked(ctx context.Context, keep func(string) bool) ([]string, error) {
	out, err := r.git(ctx, "ls-files", "-z", "-o", "--directory", "--no-empty-directory")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range records(out) {
		name = strings.TrimSuffix(name, "/")
		if under(name, r.opt.State) || under(r.opt.State, name) {
			continue
		}
		rest, err := r.without(name, keep)
		if err != nil {
			return nil, err
		}
		paths = append(paths, rest...)
	}
	return paths, nil
}

// without gives a file or folder, or what of a folder is not to be kept.
func (r *Repo) without(name string, keep func(string) bool) (rest []string, err error) {
	if keep == nil {
		return []string{name}, nil
	}
	if keep(name) {
		return nil, nil
	}
	info, err := r.top.Lstat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	folders.UnlockAbove(r.top, name+"/x")
	entries, err := folders.List(r.top, name)
	if err != nil {
		return nil, err
	}
	whole := true
	for _, e := range entries {
		inner, err := r.without(path.Join(name, e.Name()), keep)
		if err != nil {
			return nil, err
		}
		whole = whole && len(inner) == 1 && inner[0] == path.Join(name, e.Name())
		rest = append(rest, inner...)
	}
	if whole {
		return []string{name}, nil
	}
	return rest, nil
}

func (r *Repo) takeAside(paths []string) error {
	if err := r.root.MkdirAll(asideDir, 0o700); err != nil {
		return err
	}
	if err := r.root.WriteFile(asideList, []byte(strings.Join(paths, "\x00")+"\x00"), 0o600); err != nil {
		return err
	}
	for i, name := range paths {
		folders.UnlockAbove(r.top, name+"/x") // a locked folder cannot be moved
		if err := r.root.Rename(path.Join("tree", name), path.Join(asideDir, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

// putBack puts back what was set aside, if anything was. What cannot be put back
// because a folder above it is gone, as after a rollback, is dropped: no commit
// has it.
func (r *Repo) putBack() error {
	list, err := r.root.ReadFile(asideList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	for i, name := range records(list) {
		aside := path.Join(asideDir, strconv.Itoa(i))
		if _, err := r.root.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			continue // it was not taken, or is back
		}
		if above, err := r.top.Lstat(path.Dir(name)); err != nil || !above.IsDir() || beyond(r.top, name) {
			continue
		}
		folders.UnlockAbove(r.top, name)
		if err := removeAll(r.top, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put back %s: %w", name, err)
		}
		if err := r.root.Rename(aside, path.Join("tree", name)); err != nil {
			return fmt.Errorf("put back %s: %w", name, err)
		}
	}
	if err := folders.Remove(r.root, asideDir); err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	return nil
}
