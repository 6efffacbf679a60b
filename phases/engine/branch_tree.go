package engine

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Tree is the run's branch and the work tree on it.
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
	// Hidden lists what was written since a time and is not among Changes,
	// because the repository has it ignored.
	Hidden(ctx context.Context, since time.Time) ([]HiddenFiles, error)
	// Copy makes a tree of a commit, or of the tip, which empty is, in the folder that CopyDir
	// gives: with the run's own folder, and what keep names, as patterns of Protected. The
	// function it returns removes it.
	Copy(ctx context.Context, commit, name string, keep []string) (remove func() error, err error)
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
	// Stage takes changed paths as they are now, to be committed; with none it is
	// the tip.
	Stage(ctx context.Context, paths ...string) (StagedTree, error)
	// Commit makes one commit and, where asked, pushes it. When it returns
	// nil the commit is as durable and as public as it is meant to be.
	Commit(ctx context.Context, c BranchCommit) error
}

// Lane is a work tree beside that of the run, for a part that is done while others are.
type Lane interface {
	BranchTree
	// MoveTo brings the tree to the code of one commit, with the run's folder of another.
	MoveTo(ctx context.Context, code, folder string, at time.Time) error
	// Keep makes a commit of the code that is staged, upon a parent. It is on no branch.
	// If no code is staged, it is "".
	Keep(ctx context.Context, s StagedTree, parent, message string, at time.Time) (string, error)
	// Merge makes a commit, on no branch, with what the commits of the branch and of a part
	// have changed since base. No change of one of them gets to a path that refused is true of.
	Merge(ctx context.Context, base, branch, part string, at time.Time, refused func(path string) bool) (MergedBase, error)
}

// Merged is what a branch and a part have changed since another commit.
type MergedBase struct {
	Commit   string            // at Paths it has what the branch has
	Diff     metadata.Diff     // from the branch, the run's own folder left out; only without Paths
	Paths    []string          // in conflict
	Versions map[string][]byte // files for an agent: Paths as base, branch and part (yours) have them, and a list of those left out
}

// Hidden is a file, or a folder with a slash at its end, that is ignored.
type HiddenFiles struct {
	Path string // from the top of the tree
	Rule string // what says so, such as ".gitignore:3: build/"
}
