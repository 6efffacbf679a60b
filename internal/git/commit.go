package git

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/git/lfs"
)

// Commit is what goes into one commit: first what is staged, then Moves, then
// Files.
type Commit struct {
	Message string            // with trailers, UTF-8
	Files   map[string][]byte // files of the state folder and their content; written to the tree as well
	Stage   *Stage            // of the tip; nil: nothing
	Moves   map[string]string // files or folders of the state folder, from and to
	Gone    []string          // files and folders of the state folder that are removed, where they are
	Parents []string          // besides the tip: commits whose work is kept, and is not on the branch yet
	Time    time.Time         // of author and committer, recorded in UTC
	Merges  string            // commit that is merged, as the second parent; "" for none

	// Anew says that the state folder has Files and nothing else: what the tip
	// has there is removed. It goes with neither Moves nor staged files of that
	// folder.
	Anew bool

	// Shelve takes the state folder off the branch, and says so in a trailer of the
	// message. It stays in the work tree and in the commit before, which Options.Keep
	// names from then on and where it is read from; the next commit that is none of
	// this kind puts it back. It goes with nothing else, and does nothing where the
	// folder is off the branch already.
	Shelve bool

	// Aside makes the commit on the record that Options.Keep names, and leaves the
	// branch as it is, where the state folder is off that; else it is one like any
	// other. It has Files alone. It comes first, here as at the remote, or not at all.
	Aside bool
}

// Stage is what a commit is to take from the work tree, as objects of git. What
// is checked, counted and read is exactly what is committed, whatever happens
// to the files meanwhile. It holds until the next commit.
type Stage struct {
	Paths []string // whose changes it has

	tip      string // that it leads on from
	ops      []op
	pointers []lfs.Pointer // of Git LFS, among ops
}

// changes are what it does to the tip; nothing if it is nil.
func (s *Stage) changes() []op {
	if s == nil {
		return nil
	}
	return slices.Clone(s.ops)
}

// large are the pointers of Git LFS in it.
func (s *Stage) large() []lfs.Pointer {
	if s == nil {
		return nil
	}
	return s.pointers
}

// Staged is one path as it is about to be committed.
type Staged struct {
	Path string
	Type Type // None if it is to be removed
	Was  Type // what the tip has; None if it has nothing there
	Data []byte
}

func stagedOf(path, mode, was string) Staged {
	s := Staged{Path: path}
	if mode != "" {
		s.Type = typeOfMode(mode)
	}
	if strings.Trim(was, "0") != "" {
		s.Was = typeOfMode(was)
	}
	return s
}

// maxState is the size of the largest file of the state folder, and maxJudged
// that of the largest file that can be judged, in bytes.
const (
	maxState  = 64 << 20
	maxJudged = maxState
)

func checkMessage(c Commit) error {
	switch {
	case strings.TrimSpace(c.Message) == "":
		return errors.New("the message is empty")
	case strings.Contains(c.Message, "\x00"):
		return errors.New("the message holds a zero byte")
	case c.Time.IsZero():
		return errors.New("the time is missing")
	}
	return nil
}
