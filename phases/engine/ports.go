package engine

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Saver keeps the record on this machine between two commits.
type Saver interface {
	Save(run metadata.Run) error
}

// Checker runs a phase's check in a tree. Some may run at the same time.
type Checker interface {
	Check(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error)
}

// Provisions are what the setup of the pipeline makes for the work tree.
type Provisions interface {
	// Due says whether the setup has to run, and gives the digest of its commands
	// and of what they depend on.
	Due() (digest string, due bool, err error)
	// Make has run carry out the commands in a tree as a fresh clone of the work has
	// it. If it returns true, what they leave that git ignores is kept under the
	// digest, and is in the tree from then on.
	Make(ctx context.Context, digest string, run func() (bool, error)) error
	// Give brings back into the tree what has been removed of it.
	Give(ctx context.Context) error
}

// Reporter is told how a run goes. It cannot stop it.
type Reporter interface {
	Report(e Event)
}

// Quiet is a Reporter that reports nothing, for runs that nobody watches.
type Quiet struct{}

// Report does nothing.
func (Quiet) Report(Event) {}

// Event is one thing worth telling. One of Decision, Done and Activity is set, or
// none: then the newest decision of the run says what changed between two steps.
type Event struct {
	At       time.Time
	Run      metadata.Run
	Decision *phases.Decision // about to be carried out
	Done     *phases.Outcome  // of the decision in Of
	Of       phases.Decision
	Activity *Activity // from the agent of the decision in Of
}
