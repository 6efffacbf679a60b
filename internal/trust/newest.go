package trust

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"github.com/reprise-ci/reprise/internal/git"
)

// Newest gives the place of the newest commit of a run in the log of its branch; -1 if there
// is none. Anybody can write the trailer of the run or copy it with a message, so its record,
// which is read at a commit, has to have gone on, too.
func Newest(log []git.LogEntry, issue string, read func(commit string) ([]byte, error)) (int, error) {
	for i, c := range log {
		if !slices.Contains(c.Trailers, git.Trailer{Key: "Reprise-Issue", Value: issue}) {
			continue
		}
		if len(c.Parents) == 0 {
			return i, nil
		}
		now, err := read(c.Commit)
		before, none := read(c.Parents[0])
		for _, err := range []error{err, none} {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return 0, err
			}
		}
		if !bytes.Equal(now, before) {
			return i, nil
		}
	}
	return -1, nil
}
