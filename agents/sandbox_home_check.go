package agents

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// caches are what a check finds again in its home: what tools have downloaded
// and built, and nothing that tells them what to do.
func caches() []string {
	return []string{
		".cache", "go/pkg/mod", ".npm/_cacache", ".local/share/pnpm/store", ".cargo/registry", ".cargo/git",
		".m2/repository", ".gradle/caches", ".nuget/packages",
	}
}

// renew takes a home away but for its caches, so that what one check leaves
// there, such as the settings of a tool, decides nothing about the next. What
// was there is never followed where it leads out of state.
func renew(state, home string) error {
	root, err := os.OpenRoot(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is no home yet
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it that a close could lose
	old := home + ".old"
	if err := folders.Remove(root, old); err != nil {
		return err
	}
	err = root.Rename(home, old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range caches() {
		if !leadsTo(root, old, c) {
			continue
		}
		_ = root.Chmod(path.Join(old, c), 0o700) // a folder that cannot be written to cannot be moved
		if err := root.MkdirAll(path.Join(home, path.Dir(c)), 0o700); err != nil {
			return err
		}
		_ = root.Rename(path.Join(old, c), path.Join(home, c)) // a cache that cannot be moved begins anew
	}
	return folders.Remove(root, old)
}

// leadsTo reports whether a path below a folder is a folder, by folders alone.
func leadsTo(root *os.Root, dir, below string) bool {
	for part := range strings.SplitSeq(below, "/") {
		dir = path.Join(dir, part)
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
