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
