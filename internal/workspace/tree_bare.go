package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
)

// bareParts are what git takes a folder for a bare repository by. It then runs
// what the configuration in there names, for whoever works in that folder.
var bareParts = []string{"HEAD", "objects", "refs"}

// bareFolders finds folders that have come to look like a bare repository.
type bareFolders struct {
	tree  Tree
	has   func(path string) bool // in what is looked at
	known map[string]bool        // by folder
}

// above reports whether a path lies in such a folder. One that the last commit
// has already is somebody's choice.
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
		_, err := b.tree.Repo.ReadFile(ctx, b.tree.Repo.Tip(), path.Join(dir, part))
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return false, nil // an error says that it is a folder
}
