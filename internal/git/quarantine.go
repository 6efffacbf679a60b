package git

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

// quarantine is a folder with the objects of what is staged, and nothing else.
// Only a commit moves its objects to those of the run. So what was refused,
// such as a secret, is never among them, not even as an object that no commit
// has.
type quarantine struct {
	dir  string
	into string // the folder where the objects of the run are
}

// environ are the variables of a command whose objects go to the quarantine.
func (q quarantine) environ() []string {
	return []string{"GIT_OBJECT_DIRECTORY=" + q.dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + pathname.Quote(q.into)}
}

// empty throws away what was staged before.
func (q quarantine) empty() error {
	if err := os.RemoveAll(q.dir); err != nil {
		return err
	}
	return os.MkdirAll(q.dir, 0o755)
}

// looseObject is the path of an object below a folder of objects.
func looseObject(folder, id string) string { return filepath.Join(folder, id[:2], id[2:]) }

// get gives an object of what is staged; one without a kind if it is not there. One of more than limit bytes is a *objects.TooLarge. Its file is read here, since
// another process for a few files would take longer than all the rest; the
// format is that of "Git Internals - Git Objects" in Pro Git.
func (q quarantine) get(id string, limit int64) (object, error) {
	if !objects.IsHash(id) {
		return object{}, nil
	}
	f, err := os.Open(looseObject(q.dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return object{}, nil
	}
	if err != nil {
		return object{}, err
	}
	defer f.Close()
	o, err := readLoose(f, limit)
	if large := (*objects.TooLarge)(nil); err != nil && !errors.As(err, &large) {
		err = fmt.Errorf("read object %s of what is staged: %w", short(id), err)
	}
	o.ID = id
	return o, err
}

// readLoose reads an object from a file of its own.
func readLoose(f io.Reader, limit int64) (object, error) {
	inflated, err := zlib.NewReader(f)
	if err != nil {
		return object{}, err
	}
	r := bufio.NewReader(inflated)
	head, err := r.ReadString(0)
	if err != nil {
		return object{}, err
	}
	kind, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	size, err := strconv.ParseInt(length, 10, 64)
	switch {
	case err != nil || size < 0:
		return object{}, fmt.Errorf("it begins with %q", head)
	case limit != objects.Unlimited && size > limit:
		return object{}, &objects.TooLarge{Size: size}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return object{}, err
	}
	return object{Kind: kind, Data: data}, nil
}

// release moves the objects of a commit that is about to be made.
func (q quarantine) release(ids []string) error {
	for _, id := range ids {
		err := folders.TakeOver(looseObject(q.into, id), looseObject(q.dir, id))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // then a commit has it already
			return err
		}
	}
	return nil
}
