package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Engine carries out a pipeline: Run, step after step. What it needs for that is in groups, each of
// which is described where it is used. Every field is needed unless it says otherwise.
type Engine struct {
	Journal    // writes what came of each step
	Calls      // how agents are asked
	Commands   // how checks and the setup run
	Conditions // what CUE says of reports and rules
	OtherRuns  // what is known of other runs
	Part       // which part the engine works on; zero for the run itself

	Store    Saver
	Report   Reporter
	Steering Steering // how people reach the run while it is under way; nil: not at all
	Sleep    func(ctx context.Context, d time.Duration) error

	// Beside goes on with a run whose parts are done at the same time, until it stops or
	// nothing of that is left to do; false says that there was nothing. Nil: they are
	// done one after the other.
	Beside func(ctx context.Context, run metadata.Run) (metadata.Run, bool, error)
	// Due reports whether something comes before a decision that is not the engine's to
	// do: then Run returns, and the run goes on. May be nil.
	Due func(ctx context.Context, run metadata.Run, d phases.Decision) bool
	// PauseAtGates stops after every phase that passed, for a person to look, until the next start.
	PauseAtGates bool

	latest metadata.Run // as it is while a step is under way
}

// Diagnose examines a run and commits the record with what that cost, also where
// there is an error, unless no agent was called. Nothing is taken back.
func (e *Engine) Diagnose(ctx context.Context, run metadata.Run, symptom string) (metadata.Run, phases.Diagnosis, error) {
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
func (e *Engine) Examine(ctx context.Context, run metadata.Run, symptom string) (metadata.Run, phases.Diagnosis, error) {
	at := phases.Diagnosing(e.Plan, run)
	if e.Plan.Phase(at.Phase) == nil {
		return run, phases.Diagnosis{}, fmt.Errorf("phase %q is not in the pipeline: nobody can be asked about it", at.Phase)
	}
	if over := SpentUp(run); over != nil {
		return run, phases.Diagnosis{}, over
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, phases.Diagnosis{}, err
	}
	e.latest = run
	call, ended := e.attend(ctx)
	defer ended()
	d, used, err := e.consult(call, run, at, symptom)
	if to := e.standIn(at.Agent, err); to != "" {
		at.Agent = to
		var more metadata.Usage
		d, more, err = e.consult(call, phases.WithUsage(run, used), at, symptom)
		used = used.Plus(more)
	}
	d.By = at.Agent
	saw := d.Proposes()
	switch {
	case err != nil && ctx.Err() != nil:
		saw = metadata.Because("diagnosis_cut")
	case err != nil:
		saw = e.failed(err)
	}
	return phases.Diagnosed(run, at, saw, used, e.Now()), d, err
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
	return e.prompt(ctx, run, d)
}
