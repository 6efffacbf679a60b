package engine

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// BranchTree is the run's branch and the work tree on it.
type BranchTree interface {
	// Dir is the absolute path of the work tree.
	Dir() string
	// Tip is the commit that the tree was last equal to.
	Tip() string
	// Prepare makes the tree ready for an agent to look around in.
	Prepare(ctx context.Context) error
	// Changes lists what differs from the tip, the run's own folder included.
	Changes(ctx context.Context) ([]phases.Change, error)
	// Paths lists the files that the tip has, the run's own folder left out.
	Paths(ctx context.Context) ([]string, error)
	// Hidden lists what was written since a time and is not among Changes, because the repository has it ignored.
	Hidden(ctx context.Context, since time.Time) ([]HiddenFiles, error)
	// Copy makes a tree of a commit, or of the tip, which empty is, in the folder that CopyDir gives, with the run's own
	// folder and what the setup has made. The function it returns removes it.
	Copy(ctx context.Context, commit, name string) (remove func() error, err error)
	// CopyDir is the absolute path of the copy of that name.
	CopyDir(name string) string
	// Restore takes paths back to the tip; none means all.
	Restore(ctx context.Context, paths ...string) error
	// Patch gives everything that differs from the tip, in git's format.
	Patch(ctx context.Context) ([]byte, error)
	// Diff gives how the tip differs from a commit, the run's own folder left out.
	Diff(ctx context.Context, from string) (string, metadata.Diff, error)
	// WithBase gives a commit, on no branch, with what another one has and what the base
	// has changed from one of its commits to a later one.
	WithBase(ctx context.Context, commit, from, to string) (string, error)
	// WithOthers gives a commit, on no branch, with what another one has and what others than the run have put on the
	// branch since a third one.
	WithOthers(ctx context.Context, commit, since string) (string, error)
	// ReadFile gives a file of a commit, or an error that wraps fs.ErrNotExist.
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	// Stage takes changed paths as they are now, to be committed; with none it is the tip.
	Stage(ctx context.Context, paths ...string) (StagedTree, error)
	// Commit makes one commit. When it returns nil that is as durable and as public as it is meant to be.
	Commit(ctx context.Context, c BranchCommit) error
}

// lane is a work tree beside that of the run, for a part that is done while others are.
type lane interface {
	BranchTree
	// MoveTo brings the tree to the code of one commit, with the run's folder of another.
	MoveTo(ctx context.Context, code, folder string, at time.Time) error
	// Keep makes a commit of the staged code, upon a parent and on no branch; "" if no code is staged.
	Keep(ctx context.Context, s StagedTree, parent, message string, at time.Time) (string, error)
	// Merge makes a commit, on no branch, with what the commits of the branch and of a part
	// have changed since base. No change of one of them gets to a path that refused is true of.
	Merge(ctx context.Context, base, branch, part string, at time.Time, refused func(path string) bool) (MergedBase, error)
}

// MergedBase is what a branch and a part have changed since another commit.
type MergedBase struct {
	Commit   string            // at Paths it has what the branch has
	Diff     metadata.Diff     // from the branch, the run's own folder left out; only without Paths
	Paths    []string          // in conflict
	Versions map[string][]byte // files for an agent: Paths as base, branch and part (yours) have them, and a list of those left out
}

// HiddenFiles is a file, or a folder with a slash at its end, that is ignored.
type HiddenFiles struct {
	Path string // from the top of the tree
	Rule string // what says so, such as ".gitignore:3: build/"
}

// StagedTree is what a commit is to take from the tree, whatever is done to the files meanwhile: what the record says of
// the work is read from here. It holds until the next commit.
type StagedTree interface {
	// Each gives every path to f, and what it is about to be committed with. The first error ends it.
	Each(ctx context.Context, f func(c phases.Change, data []byte) error) error
	// Read gives a file of the run's folder as the commit will have it, or an error that wraps fs.ErrNotExist.
	Read(ctx context.Context, path string) ([]byte, error)
	// Diff gives how the commit will differ from another one, the run's own folder left out.
	Diff(ctx context.Context, from string) (string, metadata.Diff, error)
}

// NotPushed is the error of a commit that was made here and did not get any
// further: it is part of the run, and pushed with the next one.
type NotPushed struct {
	Err error

	// Rule is what the remote said where it refuses the commit itself, and Withdraw takes that back; what this returns
	// makes it again. Nil: something else has kept the commit from it.
	Rule     string
	Withdraw func(ctx context.Context) (again func(context.Context) error, err error)
}

// Error says what kept it.
func (e *NotPushed) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotPushed) Unwrap() error { return e.Err }

// BranchCommit is what goes into one commit.
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
	Shelve  bool   // the run's folder is taken off the branch; goes with nothing else
	Aside   bool   // the branch stays as it is, if the run's folder is off it; goes with Files alone
	Merges  string // a commit that is merged, whose changes are among those of Staged; "" for none
	States  string // path at which the statement on the run is made; "" for none
}
