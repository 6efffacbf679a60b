// Package engine carries out a run: a loop that asks package phases what comes
// next, lets an agent or a check do that, and commits record and work together.
//
// An Engine reaches the outside only through its ports: Agent, Checker, Provisions,
// Reporter, Store and Steering, and the Tree and the secrets of its Journal. What an agent
// left behind is evaluated into an Outcome, and phases.Apply makes the next record of it.
// An error is something else: it stops the process and leaves the record as it was.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Engine carries out a pipeline: Run, step after step. What it needs for that is in groups, each of
// which is described where it is used. Every field is needed unless it says otherwise.
type Engine struct {
	Journal    // writes what came of each step
	Calls      // how agents are asked
	Commands   // how checks and the setup run
	Conditions // what CUE says of reports and rules
	OtherRuns  // what is known of other runs
	part       // which part the engine works on; zero for the run itself

	Store    saver
	Report   Reporter
	Steering Steering // how people reach the run while it is under way; nil: not at all
	Sleep    func(ctx context.Context, d time.Duration) error

	Lanes   *Lanes   // does parts of phases at the same time; nil: they are done one after the other
	Sources []Source // what else the run goes by, such as its base

	// PauseAtGates stops after every phase that passed, for a person to look, until the next start.
	PauseAtGates bool

	open func(d phases.Decision, b phases.Beginning) (metadata.Run, error) // opens the attempt of a step in the record of the run
}

// attend gives the context for what is under way and people may end, as the record is that now gives: another
// goroutine asks. The function that it returns is called when that has ended.
func (e *Engine) attend(ctx context.Context, now func() metadata.Run) (context.Context, func()) {
	if e.Steering == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var asking sync.WaitGroup
	asking.Go(func() {
		if err := e.Steering.Urgent(ctx, now); err != nil {
			cancel(err)
		}
	})
	return ctx, func() { cancel(nil); asking.Wait() }
}

// saver keeps the record on this machine between two commits.
type saver interface {
	Save(run metadata.Run) error
}

// checker runs a phase's check in a tree. Some may run at the same time.
type checker interface {
	Check(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error)
}

// Provisions are what the setup of the pipeline makes for the work tree.
type Provisions interface {
	// Due says whether the setup has to run, and gives the digest of its commands and of what they depend on.
	Due(ctx context.Context) (digest string, due bool, err error)
	// OfWork says whether what it depends on comes from the work, and not from the base: then what was made serves that
	// work alone, and code that an agent has written may have had a part in it.
	OfWork() bool
	// Make has run carry out the commands in a tree as a fresh clone has it. If that returns true, what they leave that
	// git ignores is kept under the digest, and is in the tree from then on.
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

// ErrInterrupted is the cause of a context that was cancelled because reprise was told to stop.
var ErrInterrupted = errors.New("interrupted")

// ErrTimeUp is such a cause, too: the time that was allowed for this process is over.
var ErrTimeUp = fmt.Errorf("the time that this job may work is over: %w", ErrInterrupted)

// ErrTokenUp is a cause of that kind: the token that work is pushed with ends soon.
var ErrTokenUp = fmt.Errorf("the token of this job ends soon: %w", ErrTimeUp)

// ErrSteered is the cause of a context that was cancelled because people want
// the run to go another way than the step under way does.
var ErrSteered = errors.New("people asked for something else")

// ErrCancelled is such a cause, too: people want nothing that is under way.
var ErrCancelled = fmt.Errorf("people have cancelled the run: %w", ErrSteered)

// errBudget is the cause of a context that was cancelled because a limit was reached in the middle of a call.
var errBudget = errors.New("the budget is used up")

// stopped is the outcome of a step that was ended from outside: because the
// time of the job is over, or for another reason.
func stopped(cause error, why metadata.Reason) phases.Outcome {
	o := phases.Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: why}
	if errors.Is(cause, ErrTimeUp) {
		o.Code, o.Why = metadata.TimedOut, whyUp(cause)
	}
	return o
}

// whyUp says why the time of this process is over.
func whyUp(cause error) metadata.Reason {
	if errors.Is(cause, ErrTokenUp) {
		return metadata.Because("token_over")
	}
	return metadata.Because("time_over")
}

// Steering is how people reach a run that is under way.
type Steering interface {
	// Steer is asked between two steps and when the run has stopped. It carries out what people have asked for since, and
	// returns the record to go on with; an error ends the process.
	Steer(ctx context.Context, run metadata.Run) (metadata.Run, error)
	// Urgent is called while a step is under way. It returns an ErrSteered once people want something that ends a step of
	// the record that now gives, or nil when ctx is done.
	Urgent(ctx context.Context, now func() metadata.Run) error
}
