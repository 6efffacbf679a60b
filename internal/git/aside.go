package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// asideDir holds, below the root of the run, what Take took out of the work
// tree: files 0, 1, 2 and so on, and asideList their paths, each ended by NUL.
const (
	asideDir  = "aside"
	asideList = asideDir + "/paths"
)

// asideFiles is what was taken out of the folder tree of a root, which Top is.
type asideFiles struct{ Root, Top *os.Root }

// Take takes files and folders out of the work tree, but for what keep names. The function it returns puts everything back, in place of what was written there
// meanwhile; PutBack does so after an interruption.
func (a asideFiles) Take(all []string, keep func(path string) bool) (putBack func() error, err error) {
	var paths []string
	for _, name := range all {
		rest, err := a.without(name, keep)
		if err != nil {
			return nil, err
		}
		paths = append(paths, rest...)
	}
	if len(paths) == 0 {
		return func() error { return nil }, nil
	}
	if err := a.move(paths); err != nil {
		return nil, errors.Join(err, a.PutBack())
	}
	return a.PutBack, nil
}

// without gives a file or folder or, if a part of the folder is to be kept, the
// rest of it.
func (a asideFiles) without(name string, keep func(string) bool) (rest []string, err error) {
	name = strings.TrimSuffix(name, "/")
	if keep(name) {
		return nil, nil
	}
	info, err := a.Top.Lstat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	folders.UnlockAbove(a.Top, name+"/x")
	entries, err := folders.List(a.Top, name)
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

func (a asideFiles) move(paths []string) error {
	if err := a.Root.MkdirAll(asideDir, 0o700); err != nil {
		return err
	}
	if err := a.Root.WriteFile(asideList, []byte(strings.Join(paths, "\x00")+"\x00"), 0o600); err != nil {
		return err
	}
	for i, name := range paths {
		folders.UnlockAbove(a.Top, name+"/x") // a locked folder cannot be moved
		if err := a.Root.Rename(path.Join("tree", name), path.Join(asideDir, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

// PutBack puts back what was taken, if anything was. What cannot be put back
// because a folder above it is gone, as after a rollback, is dropped: no commit
// has it.
func (a asideFiles) PutBack() error {
	list, err := a.Root.ReadFile(asideList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	for i, name := range records(list) {
		aside := path.Join(asideDir, strconv.Itoa(i))
		if _, err := a.Root.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			continue // it was not taken, or is back
		}
		if above, err := a.Top.Lstat(path.Dir(name)); err != nil || !above.IsDir() || folders.Beyond(a.Top, name) {
			continue
		}
		folders.UnlockAbove(a.Top, name)
		if err := folders.RemoveWithin(a.Top, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put back %s: %w", name, err)
		}
		if err := a.Root.Rename(aside, path.Join("tree", name)); err != nil {
			return fmt.Errorf("put back %s: %w", name, err)
		}
	}
	if err := folders.Remove(a.Root, asideDir); err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	return nil
}
