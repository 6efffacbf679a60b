package phases

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Tree is the run's branch and the work tree on it.
type Tree interface {
	// Dir is the absolute path of the work tree.
	Dir() string
	// Tip is the commit that the tree was last equal to.
	Tip() string
	// Prepare makes the tree ready for an agent to look around in.
	Prepare(ctx context.Context) error
	// Changes lists what differs from the tip, the run's own folder included.
	Changes(ctx context.Context) ([]Change, error)
	// Hidden lists what was written since a time and is not among Changes,
	// because the repository has it ignored.
	Hidden(ctx context.Context, since time.Time) ([]Hidden, error)
	// SetAside leaves in the tree what the tip has, the run's own folder and what
	// keep names, as patterns of Protected, until the function it returns is called.
	SetAside(ctx context.Context, keep []string) (putBack func() error, err error)
	// Restore takes paths back to the tip; none means all.
	Restore(ctx context.Context, paths ...string) error
	// Patch gives everything that differs from the tip, in git's format.
	Patch(ctx context.Context) ([]byte, error)
	// Diff gives what changed since a commit, the run's own folder left out.
	Diff(ctx context.Context, from string) (string, metadata.Diff, error)
	// Commit makes one commit and, where asked, pushes it. When it returns
	// nil the commit is as durable and as public as it is meant to be.
	Commit(ctx context.Context, c Commit) error
}

// NotPushed is the error of a commit that was made here and did not get any
// further: it is part of the run, and pushed with the next one.
type NotPushed struct{ Err error }

// Error says what kept it.
func (e *NotPushed) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotPushed) Unwrap() error { return e.Err }

// Commit is what goes into one commit.
type Commit struct {
	Message string
	Files   map[string][]byte // written by reprise; paths from the top of the repository
	Paths   []string          // changed in the tree, to be taken along
	Moves   map[string]string
	At      time.Time
	Anew    bool // the run's folder has Files and nothing else

	// Judge, if not nil, is asked about each of Paths that is there, with what
	// is about to be committed. Its error keeps the commit from being made.
	Judge func(ctx context.Context, c Change, data []byte) error
}

// Hidden is a file, or a folder with a slash at its end, that is ignored.
type Hidden struct {
	Path string
	Rule string // what says so, such as ".gitignore:3: build/"
}

// Saver keeps the record on this machine between two commits.
type Saver interface {
	Save(run metadata.Run) error
}

// Checker runs a phase's check in the work tree.
type Checker interface {
	Check(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error)
}

// Reporter is told how a run goes. It cannot stop it.
type Reporter interface {
	Report(e Event)
}

// Event is one thing worth telling. Exactly one of Decision, Done and Activity
// is set.
type Event struct {
	At       time.Time
	Run      metadata.Run
	Decision *Decision // about to be carried out
	Done     *Outcome  // of the decision in Of
	Of       Decision
	Activity *Activity // from the agent of the decision in Of
}
