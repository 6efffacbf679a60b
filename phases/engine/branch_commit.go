package engine

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Staged is what a commit is to take from the tree. Once staged, nothing that is
// done to the files changes it: whatever the record says of the work is read from
// here. It holds until the next commit.
type StagedTree interface {
	// Each gives every path to f, and what it is about to be committed with. The
	// first error ends it.
	Each(ctx context.Context, f func(c phases.Change, data []byte) error) error
	// Read gives a file of the run's folder as the commit will have it. The error
	// wraps fs.ErrNotExist if it will have none there.
	Read(ctx context.Context, path string) ([]byte, error)
	// Diff gives how the commit will differ from another one, the run's own folder
	// left out.
	Diff(ctx context.Context, from string) (string, metadata.Diff, error)
}

// NotPushed is the error of a commit that was made here and did not get any
// further: it is part of the run, and pushed with the next one.
type NotPushed struct{ Err error }

// Error says what kept it.
func (e *NotPushed) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotPushed) Unwrap() error { return e.Err }

// Commit is what goes into one commit.
type BranchCommit struct {
	Message string
	Files   map[string][]byte // written by reprise; paths from the top of the repository
	Staged  StagedTree        // comes first; nil: nothing
	Take    string            // commit whose code comes first, in place of Staged; empty: none
	Beside  []StagedTree      // of other trees: what of it lies in the run's folder
	Parents []string          // besides the tip
	Moves   map[string]string // new paths in the run's folder, by the old ones
	Gone    []string          // files and folders of the run's folder that are removed, where they are
	At      time.Time
	Anew    bool   // the run's folder has Files and nothing else
	Shelve  bool   // the run's folder is taken off the branch; goes with nothing else
	Aside   bool   // the branch stays as it is, if the run's folder is off it; goes with Files alone
	Merges  string // a commit that is merged, whose changes are among those of Staged; "" for none
}
