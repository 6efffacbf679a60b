package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/branch"
	"github.com/reprise-ci/reprise/phases/budget"
	"github.com/reprise-ci/reprise/phases/checking"
	"github.com/reprise-ci/reprise/phases/daily"
	"github.com/reprise-ci/reprise/phases/diagnosis"
	"github.com/reprise-ci/reprise/phases/others"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Engine carries out a pipeline. Every field is needed unless it says
// otherwise.
type Engine struct {
	branch.Journal // writes what came of each step

	Prompts *prompts.Set
	Store   Saver
	Checker Checker
	// Installer runs the commands of the setup; nil: Checker does.
	Installer Checker
	Report    Reporter

	// Agent gives the agent of that name in the pipeline.
	Agent func(name string) (Agent, error)
	// GetReady, if not nil, is told which agent is about to be called, and what its program
	// may reach of the network, so that what takes time can begin.
	GetReady func(agent string, n pipelines.Network)
	// CheckReport holds a structured answer against the phase's report, in
	// CUE; its error says everything that is wrong.
	CheckReport func(ctx context.Context, report string, value []byte) error
	// Matches says whether a rule's condition, in CUE, holds for facts. It is
	// needed if the plan has rules.
	Matches func(ctx context.Context, when string, facts []byte) (bool, error)

	// Results keeps what checks came to on this machine; nil: nothing does.
	Results checking.Results
	// Jobs is how many checks run side by side; 0: one after the other.
	Jobs int

	// Provisions are made before the first step; nil if the plan has no setup.
	Provisions Provisions

	// PauseAtGates stops after every phase that passed, for a person to look, until the next start.
	PauseAtGates bool

	// Beside goes on with a run whose parts are done at the same time, until it stops or
	// nothing of that is left to do; false says that there was nothing. Nil: they are
	// done one after the other.
	Beside func(ctx context.Context, run metadata.Run) (metadata.Run, bool, error)
	// Lane is the tree of a part that is done beside others, which is Tree then, and
	// Open opens the attempt of its decision in the record of the run. Both are nil for
	// the engine of the run itself.
	Lane branch.Lane
	Upon string // commit of the run's branch upon which the part is to come
	From string // commit whose code Lane has
	Open func(d phases.Decision, b phases.Beginning) (metadata.Run, error)

	// Others gives the open runs of the same repository besides this one; nil: agents are
	// told of none. Spent gives what each of its other runs has spent today; nil: no limit
	// holds for them together.
	Others func(ctx context.Context, run metadata.Run) ([]others.Run, error)
	Spent  func(ctx context.Context, run metadata.Run) ([]daily.Spent, error)

	// Due reports whether something comes before a decision that is not the engine's to
	// do: then Run returns, and the run goes on. May be nil.
	Due      func(ctx context.Context, run metadata.Run, d phases.Decision) bool
	Steering Steering // how people reach the run while it is under way; nil: not at all

	latest    metadata.Run // as it is while a step is under way
	today     float64      // US dollars that may still be spent on this day; 0: there is no limit
	skipAsked string       // of which phase, and in which generation, skip_if was asked last
	ran       ran          // what is known of commands

	// Elsewhere is the number of the newest attempt that another machine has
	// made. Agents' sessions up to that one are not on this machine and cannot
	// be resumed.
	Elsewhere int

	Issue prompts.Issue // as it read when the run began
	// See gives the issue with its images named, and their files; nil: it has none.
	See func(ctx context.Context, is prompts.Issue) (named prompts.Issue, files []string)

	NewID func() string // a UUID, for sessions
	Rand  io.Reader     // for fences around untrusted text
	Sleep func(ctx context.Context, d time.Duration) error
}

// Diagnose examines a run and commits the record with what that cost, also where
// there is an error, unless no agent was called. Nothing is taken back.
func (e *Engine) Diagnose(ctx context.Context, run metadata.Run, symptom string) (metadata.Run, diagnosis.Diagnosis, error) {
	next, d, err := e.Examine(ctx, run, symptom)
	if next.Revision == run.Revision {
		return run, d, err
	}
	noted := metadata.Follow(run, next)
	if noted == nil {
		noted = e.Amend(ctx, next, next.Decisions[len(next.Decisions)-1].Phase+": diagnosed")
	}
	if noted != nil {
		return run, d, errors.Join(err, noted)
	}
	return next, d, err
}

// Examine lets an agent look at a run and say whether it has to go back. The
// symptom is what a person has seen, or empty. It returns the record with a
// decision and the cost, for the caller to commit; a diagnosis is no step of a
// phase, so there is no attempt. With an error the record has the cost, too; if
// no agent was called, it is the record that was given. If people end the call,
// see Steering, the error is an ErrSteered.
func (e *Engine) Examine(ctx context.Context, run metadata.Run, symptom string) (metadata.Run, diagnosis.Diagnosis, error) {
	at := diagnosis.Diagnosing(e.Plan, run)
	if e.Plan.Phase(at.Phase) == nil {
		return run, diagnosis.Diagnosis{}, fmt.Errorf("phase %q is not in the pipeline: nobody can be asked about it", at.Phase)
	}
	if over := SpentUp(run); over != nil {
		return run, diagnosis.Diagnosis{}, over
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, diagnosis.Diagnosis{}, err
	}
	e.latest = run
	call, ended := e.attend(ctx)
	defer ended()
	c := consultation{e.Guard, e.briefing(), e.Agent}
	d, used, err := c.consult(call, run, at, symptom)
	if to := c.standIn(at.Agent, err); to != "" {
		at.Agent = to
		var more metadata.Usage
		d, more, err = c.consult(call, budget.WithUsage(run, used), at, symptom)
		used = used.Plus(more)
	}
	d.By = at.Agent
	saw := d.Proposes()
	switch {
	case err != nil && ctx.Err() != nil:
		saw = metadata.Because("diagnosis_cut")
	case err != nil:
		saw = c.failed(err)
	}
	return diagnosis.Diagnosed(run, at, saw, used, e.Now()), d, err
}

// Steer asks people, if there is a way to.
func (e *Engine) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if e.Steering == nil || ctx.Err() != nil {
		return run, nil
	}
	return e.Steering.Steer(ctx, run)
}

// attend is Attend for the one step that is under way.
func (e *Engine) attend(ctx context.Context) (context.Context, func()) {
	run := e.latest
	return e.Attend(ctx, func() metadata.Run { return run })
}

// Attend gives the context for what is under way and people may end, as the record is
// that now gives: another goroutine asks. The function that it returns is called when
// that has ended.
func (e *Engine) Attend(ctx context.Context, now func() metadata.Run) (context.Context, func()) {
	if e.Steering == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		if err := e.Steering.Urgent(ctx, now); err != nil {
			cancel(err)
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// Prompt gives the exact words for a decision.
func (e *Engine) Prompt(ctx context.Context, run metadata.Run, d phases.Decision) (string, error) {
	return e.briefing().prompt(ctx, run, d)
}

func (e *Engine) briefing() briefing {
	return briefing{e.Plan, e.Tree, e.Prompts, e.Issue, e.See, e.Others, e.NewID, e.Rand}
}

func (e *Engine) evaluator() evaluator { return evaluator{e.Guard, e.Plan, e.Tree, e.CheckReport} }

func (e *Engine) rules() rules { return rules{e.Plan, e.Issue, e.Matches, e.Now, e.Tree.Dir()} }

func (e *Engine) runner() runner {
	return runner{
		Journal: &e.Journal, checker: e.Checker, installer: e.Installer, provisions: e.Provisions, results: e.Results, jobs: e.Jobs,
		store: e.Store, report: e.Report.Report, attend: e.attend, isLane: e.Lane != nil, ran: &e.ran,
	}
}
