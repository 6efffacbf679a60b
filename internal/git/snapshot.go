package git

import (
	"context"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/folders"
)

// snapshot is the work tree as an index of its own, whose objects go to a place
// of their own.
type snapshot struct {
	env    []string
	remove func()
}

func (x *index) snapshot(ctx context.Context, changes []Change, how []string) (snapshot, error) {
	none := snapshot{remove: func() {}}
	if len(changes) == 0 {
		return none, nil
	}
	if err := x.syncIndex(ctx); err != nil {
		return none, err
	}
	dir, err := os.MkdirTemp(x.dir, "snapshot-")
	if err != nil {
		return none, err
	}
	s := snapshot{
		remove: func() { os.RemoveAll(dir) },
		env: []string{
			"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
			"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"),
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotePath(x.objects()),
		},
	}
	err = os.Mkdir(filepath.Join(dir, "objects"), 0o755)
	if err == nil {
		err = folders.CopyFile(filepath.Join(dir, "index"), x.home("index"))
	}
	if err == nil {
		err = x.updateIndex(ctx, s.env, how, sortChanges(changes))
	}
	if err != nil {
		s.remove()
		return none, err
	}
	return s, nil
}

// sortChanges says what an index has to do to show the changes. Repositories,
// pipes and devices are left out.
func sortChanges(changes []Change) code {
	var c code
	for _, ch := range changes {
		switch {
		case ch.Kind == Deleted:
			c.drop = append(c.drop, ch.Path)
		case ch.Type != Repository && ch.Type != Other:
			c.take = append(c.take, ch.Path)
		}
	}
	return c
}
