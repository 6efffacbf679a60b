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
	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// asideDir holds, below the root of the run, what SetAside took out of the work
// tree: files 0, 1, 2 and so on, and in asideList their paths, each ended by NUL.
const (
	asideDir  = "aside"
	asideList = asideDir + "/paths"
)

// aside is what was taken out of the work tree for a while.
type aside struct{ *tree }

// take takes files out of the work tree, see Repo.SetAside.
func (a aside) take(ctx context.Context, keep func(path string) bool) (putBack func() error, err error) {
	paths, err := a.untracked(ctx, keep)
	if err != nil {
		return nil, fmt.Errorf("set aside what is not in the commit: %w", err)
	}
	if len(paths) == 0 {
		return func() error { return nil }, nil
	}
	if err := a.move(paths); err != nil {
		return nil, errors.Join(fmt.Errorf("set aside what is not in the commit: %w", err), a.putBack())
	}
	return a.putBack, nil
}

// untracked lists files and whole folders of which the tip has nothing.
func (a aside) untracked(ctx context.Context, keep func(string) bool) ([]string, error) {
	out, err := a.git(ctx, "ls-files", "-z", "-o", "--directory", "--no-empty-directory")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range pathname.Records(out) {
		name = strings.TrimSuffix(name, "/")
		if pathname.Under(name, a.opt.State) || pathname.Under(a.opt.State, name) {
			continue
		}
		rest, err := a.without(name, keep)
		if err != nil {
			return nil, err
		}
		paths = append(paths, rest...)
	}
	return paths, nil
}

// without gives a file or folder or, if a part of the folder is to be kept, the
// rest of it.
func (a aside) without(name string, keep func(string) bool) (rest []string, err error) {
	if keep == nil {
		return []string{name}, nil
	}
	if keep(name) {
		return nil, nil
	}
	info, err := a.top.Lstat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	folders.UnlockAbove(a.top, name+"/x")
	entries, err := folders.List(a.top, name)
	if err != nil {
		return nil, err
	}
	whole := true
	for _, e := range entries {
		inner, err := a.without(path.Join(name, e.Name()), keep)
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

func (a aside) move(paths []string) error {
	if err := a.root.MkdirAll(asideDir, 0o700); err != nil {
		return err
	}
	if err := a.root.WriteFile(asideList, []byte(strings.Join(paths, "\x00")+"\x00"), 0o600); err != nil {
		return err
	}
	for i, name := range paths {
		folders.UnlockAbove(a.top, name+"/x") // a locked folder cannot be moved
		if err := a.root.Rename(path.Join("tree", name), path.Join(asideDir, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

// putBack puts back what was set aside, if anything was. What cannot be put back
// because a folder above it is gone, as after a rollback, is dropped: no commit
// has it.
func (a aside) putBack() error {
	list, err := a.root.ReadFile(asideList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	for i, name := range pathname.Records(list) {
		aside := path.Join(asideDir, strconv.Itoa(i))
		if _, err := a.root.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			continue // it was not taken, or is back
		}
		if above, err := a.top.Lstat(path.Dir(name)); err != nil || !above.IsDir() || folders.Beyond(a.top, name) {
			continue
		}
		folders.UnlockAbove(a.top, name)
		if err := folders.RemoveWithin(a.top, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put back %s: %w", name, err)
		}
		if err := a.root.Rename(aside, path.Join("tree", name)); err != nil {
			return fmt.Errorf("put back %s: %w", name, err)
		}
	}
	if err := folders.Remove(a.root, asideDir); err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	return nil
}
