package git

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Asker gives the objects of names, one for each.
type asker func(ctx context.Context, names ...string) ([]object, error)

// ReadFile reads a file as it is in the first of the refs that has it. The error
// wraps fs.ErrNotExist where none does; it names ref.
func readFileOf(ctx context.Context, ask asker, refs []string, ref, path string) ([]byte, error) {
	for _, c := range refs {
		found, err := ask(ctx, c+":"+path)
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", path, ref, err)
		}
		switch found[0].Kind {
		case "":
		case "blob":
			return found[0].Data, nil
		default:
			return nil, fmt.Errorf("read %s at %s: is a folder, not a file", path, ref)
		}
	}
	return nil, fmt.Errorf("read %s at %s: %w", path, ref, fs.ErrNotExist)
}

// ReadPlain reads a file as it is in a commit, which is given by its full hash. What a
// symbolic link says is no text of anybody, and what it leads to is not read: the
// error wraps folders.ErrNoFile.
func readPlainOf(ctx context.Context, ask asker, commit, name string) ([]byte, error) {
	in, file := path.Split(name)
	found, err := ask(ctx, commit+":"+strings.TrimSuffix(in, "/"))
	if err != nil || found[0].Kind != "tree" {
		return nil, fmt.Errorf("read %s at %s: %w", name, commit, cmp.Or(err, fs.ErrNotExist))
	}
	inside, err := folderEntries(found[0].Data, len(commit)/2)
	if err != nil {
		return nil, fmt.Errorf("%s %w", in, err)
	}
	for _, e := range inside {
		if e.Name == file && !strings.HasPrefix(e.Mode, "100") {
			return nil, fmt.Errorf("read %s at %s: %w", name, commit, folders.ErrNoFile)
		}
	}
	return readFileOf(ctx, ask, []string{commit}, commit, name)
}
