package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/checking"
	"github.com/reprise-ci/reprise/phases/daily"
	"github.com/reprise-ci/reprise/phases/message"
	"github.com/reprise-ci/reprise/phases/others"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Engine carries out a pipeline. Every field is needed unless it says
// otherwise.
type Engine struct {
	Plan    *pipelines.Pipeline
	Prompts *prompts.Set
	Tree    Tree
	Store   Saver
	Checker Checker
	// Installer runs the commands of the setup; nil: Checker does.
	Installer Checker
	Report    Reporter

	// Agent gives the agent of that name in the pipeline.
	Agent func(name string) (Agent, error)
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
	Lane Lane
	Upon string // commit of the run's branch upon which the part is to come
	From string // commit whose code Lane has
	Open func(d phases.Decision, b phases.Beginning) (metadata.Run, error)

	// Others gives the open runs of the same repository besides this one; nil: agents are
	// told of none. Spent gives what each of its other runs has spent today; nil: no limit
	// holds for them together.
	Others func(ctx context.Context, run metadata.Run) ([]others.Run, error)
	Spent  func(ctx context.Context, run metadata.Run) ([]daily.Spent, error)

	// Committed is told of each record that is on the branch from now on. Untold gives what
	// hooks have not taken, for the next record; nil: that keeps what it has. Both may be nil.
	Committed func(ctx context.Context, run metadata.Run)
	Untold    func() []metadata.Untold

	// Due reports whether something comes before a decision that is not the engine's to
	// do: then Run returns, and the run goes on. May be nil.
	Due      func(ctx context.Context, run metadata.Run, d phases.Decision) bool
	Steering Steering // how people reach the run while it is under way; nil: not at all

	// Owner names this process in the lease on the run. Every commit takes or
	// renews the lease for the time Hold; with an empty Owner there is no
	// lease. A run that has stopped keeps it until GiveBack, because one
	// process alone must do what follows from the stop. A process that is told
	// to stop gives it back at once.
	Owner      string
	Hold       time.Duration
	StaleLease bool             // the branch has the lease of a process that is gone
	until      time.Time        // the end of the lease that this process has; zero if it has none
	latest     metadata.Run     // as it is while a step is under way
	setUpAs    string           // digest of the setup that the tree has now
	before     *checking.Beside // the baseline under way; nil: none is
	beside     string           // the phase that it is beside
	today      float64          // US dollars that may still be spent on this day; 0: there is no limit
	asked      string           // of which phase, and in which generation, skip_if was asked last
	brokenBy   string           // digest of a setup that the work has broken: until it changes, only checks try it again

	// Elsewhere is the number of the newest attempt that another machine has
	// made. Agents' sessions up to that one are not on this machine and cannot
	// be resumed.
	Elsewhere int

	// Secrets knows what must not reach the branch: text is masked, and a file
	// that has such a thing is not committed. May be nil: then nothing is hidden.
	Secrets Secrets

	Issue prompts.Issue // as it read when the run began
	// See gives the issue with its images named, and their files; nil: it has none.
	See    func(ctx context.Context, is prompts.Issue) (named prompts.Issue, files []string)
	Frozen map[string][]byte // files of the first commit, or of one that takes them anew: issue, pipeline, prompts

	Now   func() time.Time
	NewID func() string // a UUID, for sessions
	Rand  io.Reader     // for fences around untrusted text
	Sleep func(ctx context.Context, d time.Duration) error
}

// ErrInterrupted is the cause of a context that was cancelled because reprise
// was told to stop.
var ErrInterrupted = errors.New("interrupted")

// ErrTimeUp is such a cause, too: the time that was allowed for this process is
// over.
var ErrTimeUp = fmt.Errorf("the time that this job may work is over: %w", ErrInterrupted)

// errBudget is the cause of a context that was cancelled because a limit was
// reached in the middle of a call.
var errBudget = errors.New("the budget is used up")

// Run goes on with a run until it is completed, a person is needed, or ctx is
// cancelled. It returns the record as it was last committed; the error is
// nil when the record says how the run ended.
func (e *Engine) Run(ctx context.Context, run metadata.Run) (last metadata.Run, err error) {
	defer func() { err, e.before = errors.Join(err, e.before.End()), nil }()
	for run.Status == metadata.Running {
		e.latest = run
		if e.before != nil && e.Beside != nil { // parts are checked in their lanes; an error comes again below
			if next, err := e.baseline(ctx, run, phases.Decide(e.Plan, run)); err == nil {
				run = next
			}
		}
		if ctx.Err() == nil {
			next, err := e.beforehand(ctx, run, phases.Decide(e.Plan, run))
			steered := errors.Is(err, ErrSteered) // while a command was asked, which is asked again then
			if err != nil && !steered {
				return next, err
			}
			if steered || next.Revision != run.Revision {
				if run, err = e.Steer(ctx, next); err != nil {
					return run, err
				}
				continue
			}
		}
		if e.before == nil && e.Beside != nil && ctx.Err() == nil {
			next, did, err := e.Beside(ctx, run)
			if err == nil && did {
				next, err = e.Steer(ctx, next)
			}
			if err != nil {
				return next, err
			}
			if run = next; did {
				continue
			}
		}
		d := phases.Decide(e.Plan, run)
		if d.Resume <= e.Elsewhere {
			d.Resume = 0
		}
		if ctx.Err() != nil && !d.Final() {
			return e.interrupted(ctx, run)
		}
		if e.Due != nil && e.Due(ctx, run, d) {
			return run, nil
		}
		next, err := e.carryOut(ctx, run, d)
		if err != nil {
			return next, err
		}
		if run, err = e.Steer(ctx, next); err != nil {
			return run, err
		}
	}
	return run, nil
}

// carryOut does what was decided and commits what came out of it. It returns
// the record as it was last committed.
func (e *Engine) carryOut(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	run, broken, err := e.setUp(ctx, run, d)
	if err == nil && run.Status == metadata.Running {
		run, err = e.baseline(ctx, run, d)
	}
	switch {
	case errors.Is(err, ErrSteered) || err == nil && run.Status != metadata.Running:
		return run, nil
	case err != nil && ctx.Err() != nil:
		return e.interrupted(ctx, run)
	case err != nil:
		return run, err
	}
	if text, err := e.document(ctx, run, d); err == nil && text != nil { // an error comes again when it is taken
		d.Agent, d.Why = metadata.Given, metadata.Because("document_given", "file", run.ExternalDocuments[d.Phase])
	}
	e.Report.Report(Event{At: e.Now(), Run: run, Decision: &d})
	if run, err = e.Renew(ctx, run); err != nil { // to tell people may have taken long
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	next, effects, err := e.do(ctx, run, d, broken)
	switch {
	case err != nil && ctx.Err() != nil:
		return e.interrupted(ctx, run)
	case err != nil:
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	if next, err = e.consequences(ctx, run, next, d, &effects); err == nil {
		next, err = e.stopAfter(ctx, next, d)
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	err = e.record(ctx, next, d, effects)
	var kept *NotPushed
	if errors.As(err, &kept) {
		return next, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", message.Heading(d), err)
	}
	e.Report.Report(Event{At: e.Now(), Run: next, Of: d, Done: &effects.outcome})
	return next, nil
}

// stopAfter adds to the last step why the run stops after it, so that this
// needs no commit of its own.
func (e *Engine) stopAfter(ctx context.Context, next metadata.Run, d phases.Decision) (metadata.Run, error) {
	last := phases.Decide(e.Plan, next)
	if next.Status == metadata.Running && last.Final() && !d.Final() && (e.Due == nil || !e.Due(ctx, next, last)) {
		return e.apply(next, last, phases.Outcome{At: e.Now()})
	}
	if rec := next.Phase(d.Phase); e.PauseAtGates && next.Status == metadata.Running && rec != nil && rec.Status == metadata.PhaseCompleted {
		pause := phases.Decision{Do: phases.DoWait, Phase: d.Phase, Code: metadata.AwaitingPerson, Why: metadata.Because("paused_at_gate", "phase", d.Phase)}
		return e.apply(next, pause, phases.Outcome{At: e.Now()})
	}
	return next, nil
}

// interrupted records that reprise was told to stop between two steps.
func (e *Engine) interrupted(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	next := phases.Interrupt(run, e.Now())
	if errors.Is(context.Cause(ctx), ErrTimeUp) {
		next.Stop.Code, next.Stop.Why = metadata.TimedOut, metadata.Because("time_over")
	}
	if err := e.Amend(ctx, next, "interrupted"); err != nil {
		return run, err
	}
	return next, nil
}

// effects is what has to be committed after a decision was carried out.
type effects struct {
	outcome phases.Outcome
	files   map[string][]byte
	staged  Staged   // nil: nothing
	beside  []Staged // of parts whose code is in the commits of heads
	heads   []string
	take    string            // commit whose code goes to the branch; empty: none
	moves   map[string]string // of a rollback that the step led to
	back    *metadata.Rollback
}

// do carries out a decision and applies what came out of it. Broken is how the
// setup ended, if the work breaks it.
func (e *Engine) do(ctx context.Context, run metadata.Run, d phases.Decision, broken []metadata.CheckResult) (metadata.Run, effects, error) {
	if d.Final() {
		o := phases.Outcome{At: e.Now()}
		next, err := e.apply(run, d, o)
		return next, effects{outcome: o}, err
	}
	if d.Delay > 0 {
		waiting, done := e.attend(ctx)
		err := e.Sleep(waiting, d.Delay)
		done()
		if err != nil {
			o := phases.Outcome{At: e.Now(), Status: metadata.Cut, Code: metadata.RunCancelled, Why: metadata.Because("interrupted_waiting")}
			begun, err := e.begin(run, d, phases.Beginning{At: e.Now(), Base: e.Tree.Tip()})
			if err != nil {
				return run, effects{}, err
			}
			next, err := e.apply(begun, d, o)
			return next, effects{outcome: o}, err
		}
	}
	switch lane := run.Phase(d.Phase).Lane; {
	case lane != nil && e.Lane == nil:
		return run, effects{}, fmt.Errorf("%s is done in a tree of its own, and nothing here has one", d.Phase)
	case lane != nil && d.Do == phases.DoIntegrate:
		return e.bringTogether(ctx, run, d, *lane)
	}
	switch d.Do {
	case phases.DoCheck:
		return e.check(ctx, run, d, broken)
	case phases.DoIntegrate:
		return e.integrate(ctx, run, d)
	}
	return e.call(ctx, run, d)
}

// Aside gives an engine for a part that is done beside others, in a tree of its own.
func (e *Engine) Aside(lane Lane) *Engine {
	a := *e
	a.Tree, a.Lane, a.Beside, a.Steering, a.Committed, a.Untold = lane, lane, nil, nil, nil, nil
	a.Owner, a.until, a.StaleLease, a.setUpAs, a.brokenBy = "", time.Time{}, false, "", ""
	return &a
}

// Ready has the setup run in the tree of the run, if it never did so well: one that was
// never good is no fault of a part. The run stops if it fails.
func (e *Engine) Ready(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	if run.Setup != nil && phases.Broken(run.Setup) == nil {
		return run, nil
	}
	next, _, err := e.setUp(ctx, run, d)
	return next, err
}

// Work is what a step of a part came to that was done beside others. It is not in the
// record of the run yet.
type Work struct {
	Of phases.Decision
	x  effects
}

// Cut is the work of a step that was begun and ended without anything, because of cause. Why says so.
func (e *Engine) Cut(d phases.Decision, cause error, why metadata.Reason) Work {
	o := stopped(cause, why)
	o.At = e.Now()
	return Work{d, effects{outcome: o}}
}

// Do carries out a decision about a part in its lane. What comes of it lies in commits
// that no branch has, until Land.
func (e *Engine) Do(ctx context.Context, run metadata.Run, d phases.Decision) (Work, error) {
	var broken []metadata.CheckResult
	var err error
	if d.Do != phases.DoIntegrate { // which sets up what the parts come to together
		run, broken, err = e.setUp(ctx, run, d)
	}
	if err != nil {
		return Work{}, err
	}
	_, x, err := e.do(ctx, run, d, broken)
	if err != nil || x.staged == nil {
		return Work{d, x}, err
	}
	m := message.Commit{Subject: message.Heading(d)}
	x.outcome.Head, err = e.Lane.Keep(context.WithoutCancel(ctx), x.staged, e.From, e.mask(m.Text(run)), x.outcome.At)
	x.beside, x.staged = []Staged{x.staged}, nil
	return Work{d, x}, err
}

// begin opens the attempt of a decision, and saves that before anything of it
// is done.
func (e *Engine) begin(run metadata.Run, d phases.Decision, b phases.Beginning) (metadata.Run, error) {
	if e.Open != nil {
		return e.Open(d, b)
	}
	begun := phases.Begin(run, d, b)
	if err := metadata.Follow(run, begun); err != nil {
		return run, err
	}
	e.latest = begun.Clone() // the step works on it
	return begun, e.Store.Save(begun)
}

// apply gives the record after a decision and its outcome.
func (e *Engine) apply(run metadata.Run, d phases.Decision, o phases.Outcome) (metadata.Run, error) {
	next := phases.Apply(e.Plan, run, d, o)
	return next, metadata.Follow(run, next)
}
