// Package quarantine is a folder with the objects of what is staged, and nothing else,
// until a commit is made of them.
package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Quarantine is a folder with the objects of what is staged, and nothing else.
// Only a commit moves its objects to those of the run. So what was refused,
// such as a secret, is never among them, not even as an object that no commit
// has.
type quarantine struct {
	Dir  string
	Into string // the folder where the objects of the run are
}

// Environ are the variables of a command whose objects go to the quarantine.
func (q quarantine) Environ() []string {
	return []string{"GIT_OBJECT_DIRECTORY=" + q.Dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotePath(q.Into)}
}

// Empty throws away what was staged before.
func (q quarantine) Empty() error {
	if err := os.RemoveAll(q.Dir); err != nil {
		return err
	}
	return os.MkdirAll(q.Dir, 0o755)
}

// Release moves the objects of a commit that is about to be made.
func (q quarantine) Release(ids []string) error {
	for _, id := range ids {
		err := folders.TakeOver(objectFile(q.Into, id), objectFile(q.Dir, id))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // then a commit has it already
			return err
		}
	}
	return nil
}

// file is where an object lies that has a file of its own.
func objectFile(folder, id string) string { return filepath.Join(folder, id[:2], id[2:]) }
