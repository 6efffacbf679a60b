// Package quarantine is a folder with the objects of what is staged, and nothing else,
// until a commit is made of them.
package quarantine

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git/objects"
	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// Quarantine is a folder with the objects of what is staged, and nothing else.
// Only a commit moves its objects to those of the run. So what was refused,
// such as a secret, is never among them, not even as an object that no commit
// has.
type Quarantine struct {
	Dir  string
	Into string // the folder where the objects of the run are
}

// Environ are the variables of a command whose objects go to the quarantine.
func (q Quarantine) Environ() []string {
	return []string{"GIT_OBJECT_DIRECTORY=" + q.Dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + pathname.Quote(q.Into)}
}

// Empty throws away what was staged before.
func (q Quarantine) Empty() error {
	if err := os.RemoveAll(q.Dir); err != nil {
		return err
	}
	return os.MkdirAll(q.Dir, 0o755)
}

// loose is the path of an object below a folder of objects.
func loose(folder, id string) string { return filepath.Join(folder, id[:2], id[2:]) }

// Get gives an object of what is staged; one without a kind if it is not there. One of
// more than limit bytes is a *objects.TooLarge. Its file is read here, since another
// process for a few files would take longer than all the rest; the format is that of
// "Git Internals - Git Objects" in Pro Git.
func (q Quarantine) Get(id string, limit int64) (objects.Object, error) {
	if !objects.IsHash(id) {
		return objects.Object{}, nil
	}
	f, err := os.Open(loose(q.Dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return objects.Object{}, nil
	}
	if err != nil {
		return objects.Object{}, err
	}
	defer f.Close()
	o, err := readLoose(f, limit)
	if large := (*objects.TooLarge)(nil); err != nil && !errors.As(err, &large) {
		err = fmt.Errorf("read object %s of what is staged: %w", id[:12], err)
	}
	o.ID = id
	return o, err
}

// readLoose reads an object from a file of its own.
func readLoose(f io.Reader, limit int64) (objects.Object, error) {
	inflated, err := zlib.NewReader(f)
	if err != nil {
		return objects.Object{}, err
	}
	r := bufio.NewReader(inflated)
	head, err := r.ReadString(0)
	if err != nil {
		return objects.Object{}, err
	}
	kind, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	size, err := strconv.ParseInt(length, 10, 64)
	switch {
	case err != nil || size < 0:
		return objects.Object{}, fmt.Errorf("it begins with %q", head)
	case limit != objects.Unlimited && size > limit:
		return objects.Object{}, &objects.TooLarge{Size: size}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return objects.Object{}, err
	}
	return objects.Object{Kind: kind, Data: data}, nil
}

// Release moves the objects of a commit that is about to be made.
func (q Quarantine) Release(ids []string) error {
	for _, id := range ids {
		err := folders.TakeOver(loose(q.Into, id), loose(q.Dir, id))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // then a commit has it already
			return err
		}
	}
	return nil
}
