package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// caches are what every program finds again in its home: what tools have
// downloaded and built, and nothing that tells them what to do.
func caches() []string {
	return []string{
		".cache", "go/pkg/mod", ".npm/_cacache", ".local/share/pnpm/store", ".cargo/registry", ".cargo/git",
		".m2/repository", ".gradle/caches", ".nuget/packages",
	}
}

// renew takes a home away but for what keep names, so that what one call leaves there decides nothing about the next.
// No link there is followed.
func renew(state, home string, keep []string) error {
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
	for _, pattern := range keep {
		for _, name := range found(root, old, pattern) {
			_ = root.Chmod(path.Join(old, path.Dir(name)), 0o700) // what lies in a folder that cannot be written to cannot be moved
			if info, err := root.Lstat(path.Join(old, name)); err == nil && info.IsDir() {
				_ = root.Chmod(path.Join(old, name), 0o700) // nor can a folder that cannot be written to
			}
			if err := root.MkdirAll(path.Join(home, path.Dir(name)), 0o700); err != nil {
				return err
			}
			_ = root.Rename(path.Join(old, name), path.Join(home, name)) // what cannot be moved begins anew
		}
	}
	return folders.Remove(root, old)
}

// found lists the files and folders below a folder whose path has a pattern of
// path.Match, reached by folders alone.
func found(root *os.Root, dir, pattern string) []string {
	names := []string{""}
	for part := range strings.SplitSeq(pattern, "/") {
		var next []string
		for _, name := range names {
			if info, err := root.Lstat(path.Join(dir, name)); err != nil || !info.IsDir() {
				continue
			}
			entries, _ := folders.List(root, path.Join(dir, name)) // of what cannot be read nothing is kept
			for _, e := range entries {
				if ok, _ := path.Match(part, e.Name()); ok && (e.IsDir() || e.Type().IsRegular()) {
					next = append(next, path.Join(name, e.Name()))
				}
			}
		}
		names = next
	}
	return names
}
