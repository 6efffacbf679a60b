package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Source is something besides the record that a run goes by, such as a policy, the money of the day or the base. Before
// each step the sources are asked in order, and the first that has something comes before the step that was decided on.
// Nil: it has nothing.
type Source func(ctx context.Context, run metadata.Run, d phases.Decision) (Take, error)

// Take takes what a source has into the record, and gives that as it was last committed.
type Take func() (metadata.Run, error)

// first gives what the first source has that has something.
func first(ctx context.Context, all []Source, run metadata.Run, d phases.Decision) (Take, error) {
	for _, source := range all {
		if take, err := source(ctx, run, d); take != nil || err != nil {
			return take, err
		}
	}
	return nil, nil
}

// wait has a run wait for a person.
func (e *Engine) wait(ctx context.Context, run metadata.Run, phase string, code metadata.Code, why metadata.Reason) (Take, error) {
	return e.final(ctx, run, phases.Decision{Do: phases.DoWait, Phase: phase, Code: code, Why: why})
}

// final ends a run or has it wait, where that was decided.
func (e *Engine) final(ctx context.Context, run metadata.Run, d phases.Decision) (Take, error) {
	if !d.Final() {
		return nil, nil
	}
	return func() (metadata.Run, error) {
		run, err := e.announce(ctx, run, d)
		if err != nil {
			return run, err
		}
		return e.land(ctx, run, true, step{d, effects{outcome: phases.Outcome{At: e.Now()}}})
	}, nil
}

// announce says what comes next. As that may take long, it makes sure that no other process has the run.
func (e *Engine) announce(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	e.Report.Report(Event{At: e.Now(), Run: run, Decision: &d})
	next, err := e.Renew(ctx, run)
	if err != nil {
		return run, about(d, err)
	}
	return next, nil
}

// policy stops a run that would work or be completed against a policy: that may be newer than the run, and people and
// rules have changed what the run does.
func (e *Engine) policy(ctx context.Context, run metadata.Run, d phases.Decision) (Take, error) {
	if e.Policy == nil || ctx.Err() != nil || d.Do == phases.DoIntegrate || d.Final() && d.Do != phases.DoFinish {
		return nil, nil
	}
	err := e.Policy(ctx, phases.Effective(phases.On(e.Plan, run)))
	if !errors.As(err, new(pipelines.Mistakes)) {
		return nil, err
	}
	why := metadata.Because("against_policy", "error", e.Mask(text.Short(pipelines.OneLine(err.Error()), 600)))
	return e.wait(ctx, run, cmp.Or(d.Phase, run.CurrentPhase), metadata.ConfigInvalid, why)
}

// OtherRuns is what is known of other runs of the same repository.
type OtherRuns struct {
	// Others gives the open ones; nil: agents are told of none.
	Others func(ctx context.Context, run metadata.Run) ([]phases.OtherRun, error)
	// Spent gives what each has spent today; nil: no limit holds for them together.
	Spent func(ctx context.Context, run metadata.Run) ([]phases.DaySpent, error)

	today float64 // US dollars that may still be spent on this day; 0: there is no limit
}

// money stops a run if what all runs may spend in a day is spent.
func (e *Engine) money(ctx context.Context, run metadata.Run, d phases.Decision) (Take, error) {
	if ctx.Err() != nil || !d.Calls() {
		return nil, nil
	}
	today, why, err := e.RemainingToday(ctx, run)
	if e.today = today; why == "" || err != nil {
		return nil, err
	}
	return e.wait(ctx, run, d.Phase, metadata.BudgetExceeded, why)
}

// RemainingToday gives how many US dollars may still be spent on this day, 0 for any, and says which limit is reached.
func (e *Engine) RemainingToday(ctx context.Context, run metadata.Run) (usd float64, why metadata.Reason, err error) {
	b := e.Plan.Budget
	if b.DayUSD+b.RepoDayUSD == 0 {
		return 0, "", nil
	}
	var others []phases.DaySpent
	if e.Spent != nil {
		if others, err = e.Spent(ctx, run); err != nil {
			return 0, "", fmt.Errorf("what was spent today: %w", err)
		}
	}
	usd, why = phases.RemainingToday(b, run, others, e.Now())
	return usd, why, nil
}

// condition asks what skip_if of the phase says that comes next, if it has not begun.
func (e *Engine) condition(ctx context.Context, run metadata.Run, d phases.Decision) (Take, error) {
	phase, asked := phases.SkipDue(phases.On(e.Plan, run), d)
	if asked == nil || ctx.Err() != nil {
		return nil, nil
	}
	holds, why, err := e.holds(ctx, run, phase, *asked)
	switch {
	case ctx.Err() != nil: // it is asked again when the run goes on
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: skip_if: %w", phase, err)
	case why.Code() == "skip_if_unclear":
		return e.wait(ctx, run, phase, metadata.ConfigInvalid, why)
	case !holds:
		return nil, nil
	}
	return func() (metadata.Run, error) {
		next := phases.LeaveOut(run, phase, why, e.Now())
		err := metadata.Follow(run, next)
		if err == nil {
			err = e.Amend(ctx, next, phase+": left out")
		}
		if err != nil {
			return run, err
		}
		e.Report.Report(Event{At: e.Now(), Run: next})
		return next, nil
	}, nil
}

// leave ends the work on a run whose parts other machines are to do.
func (e *Engine) leave(ctx context.Context, run metadata.Run, _ phases.Decision) (Take, error) {
	if e.Lanes == nil || e.Lanes.Leave == nil || ctx.Err() != nil {
		return nil, nil
	}
	if parts := phases.PartsOfWave(phases.On(e.Plan, run)); parts != nil {
		return nil, e.Lanes.Leave(parts)
	}
	return nil, nil
}

// end records that reprise was told to stop before the step that comes next.
func (e *Engine) end(ctx context.Context, run metadata.Run, d phases.Decision) (Take, error) {
	if ctx.Err() == nil || d.Final() {
		return nil, nil
	}
	return func() (metadata.Run, error) {
		next := phases.Interrupt(run, e.Now())
		if cause := context.Cause(ctx); errors.Is(cause, ErrTimeUp) {
			next.Stop.Code, next.Stop.Why = metadata.TimedOut, whyUp(cause)
		}
		if err := e.Amend(ctx, next, "interrupted"); err != nil {
			return run, err
		}
		return next, nil
	}, nil
}

// holds says whether a condition of skip_if holds, and why, or why that cannot be said.
func (e *Engine) holds(ctx context.Context, run metadata.Run, phase string, asked pipelines.SkipIf) (bool, metadata.Reason, error) {
	unclear := func(err error) (bool, metadata.Reason, error) {
		return false, metadata.Because("skip_if_unclear", "at", "phases."+phase+".skip_if.when", "error", e.Mask(phases.OneLine(err.Error()))), nil
	}
	patch, stat, err := e.Tree.Diff(ctx, run.BaseCommit)
	if err != nil {
		return false, "", err
	}
	changed, named := phases.ChangedInPatch(patch)
	slices.Sort(changed)
	if named != stat.Files {
		return unclear(fmt.Errorf("%d files are changed, and only %d of them can be named", stat.Files, named))
	}
	tree := map[string]bool{}
	if len(asked.Tree) > 0 {
		paths, err := e.Tree.Paths(ctx)
		if err != nil {
			return false, "", err
		}
		tree = phases.InTree(paths, asked.Tree)
	}
	known, err := phases.FactsBefore(run, phase, e.Issue, map[string]any{"files": append([]string{}, changed...), "tree": tree})
	if err != nil {
		return unclear(err)
	}
	holds, err := e.Matches(ctx, asked.When, known)
	if err != nil {
		return unclear(err)
	}
	if !holds {
		return false, "", nil
	}
	return true, metadata.Because("skip_if_holds", "facts", phases.AboutFacts(asked.When, known)), nil
}
