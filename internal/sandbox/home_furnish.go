package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/pipelines"
)

// offered is the file that names the home whose caches are copied into others, and with
// what is in it now. It is not there while that may change.
const offered = "offered"

// given is the file that says what was copied into a home.
func given(home string) string { return home + ".given" }

// offers gives what is offered to a program with an access, and the home that has it; "" if
// nothing is. It is for those who may run commands.
func offers(state string, access pipelines.Access) (now []byte, home string, err error) {
	if access != pipelines.AccessTree && access != pipelines.AccessRun {
		return nil, "", nil
	}
	now, err = os.ReadFile(filepath.Join(state, offered))
	home, _, _ = strings.Cut(string(now), "\n")
	return now, home, ignoreMissing(err)
}

// furnish copies into a home the caches of the one that gives them, if it has not got them. Nothing that agents and
// checks leave in theirs gets there.
func furnish(ctx context.Context, state, home string, what Home, access pipelines.Access) error {
	if what.Gives {
		return ignoreMissing(os.Remove(filepath.Join(state, offered)))
	}
	now, from, err := offers(state, access)
	if err != nil || from == "" {
		return err
	}
	root, err := os.OpenRoot(state)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()                      // what is copied is closed by then
	had, _ := os.ReadFile(filepath.Join(state, given(home))) // there may be none
	same := string(had) == string(now)
	for _, cache := range caches() {
		if len(found(root, from, cache)) == 0 { // nor where a link leads to it
			continue
		}
		if _, err := root.Lstat(path.Join(home, cache)); err == nil && same {
			continue
		}
		to := path.Join(home, cache)
		err := errors.Join(ignoreMissing(root.Remove(given(home))), ignoreMissing(folders.Remove(root, to)), root.MkdirAll(path.Dir(to), 0o700))
		if err == nil {
			err = folders.Copy(ctx, root, path.Join(from, cache), root, to)
		}
		if err != nil {
			return fmt.Errorf("copy %s of the setup: %w", cache, err)
		}
	}
	return root.WriteFile(given(home), now, 0o600)
}

// toolsOf gives the home whose programs others may run and cannot change; "" if there is none.
func toolsOf(state, home string, what Home, access pipelines.Access) string {
	from := home
	if !what.Gives {
		_, from, _ = offers(state, access) // furnish has said what is wrong with it
	}
	if from == "" {
		return ""
	}
	return filepath.Join(state, filepath.Base(from))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

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
