package phases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
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
	Report  Reporter

	// Agent gives the agent of that name in the pipeline.
	Agent func(name string) (Agent, error)
	// CheckReport holds a structured answer against the phase's report, in
	// CUE; its error says everything that is wrong.
	CheckReport func(ctx context.Context, report string, value []byte) error
	// Matches says whether a rule's condition, in CUE, holds for facts. It is
	// needed if the plan has rules.
	Matches func(ctx context.Context, when string, facts []byte) (bool, error)

	// PauseAtGates stops after every phase that passed, for a person to look.
	// Starting again goes on.
	PauseAtGates bool

	// Steering is how people reach the run while it is under way; nil: not at all.
	Steering Steering

	// Owner names this process in the lease on the run, which every commit takes
	// or renews for Hold; empty: no lease is taken. It is kept until GiveBack,
	// also by a run that has stopped, because what follows from that is still to
	// be done, and by one process alone. One that is told to stop gives it back
	// at once.
	Owner string
	Hold  time.Duration
	Left  bool      // the branch has the lease of a process that is gone
	until time.Time // the end of the lease that this process has; zero if it has none
	done  bool      // the commit under way gives it back

	// Elsewhere is the number of the newest attempt that another machine has
	// made: agents' sessions of these are not here to be gone on with.
	Elsewhere int

	// Secrets knows what must not reach the branch: text is masked, and a file
	// that has such a thing is not committed. May be nil: then nothing is hidden.
	Secrets Secrets

	Issue  prompts.Issue     // as it read when the run began
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

// flushTime is how long an interrupted run has to save and push its state.
// GitHub kills a cancelled job ten seconds after it told it.
const flushTime = 5 * time.Second

// Run goes on with a run until it is completed, a person is needed, or ctx is
// cancelled. It returns the record as it was last committed; the error is
// nil when the record says how the run ended.
func (e *Engine) Run(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	for run.Status == metadata.Running {
		d := Decide(e.Plan, run)
		if d.Resume <= e.Elsewhere {
			d.Resume = 0
		}
		if ctx.Err() != nil && !d.Final() {
			return e.interrupted(ctx, run)
		}
		next, err := e.carryOut(ctx, run, d)
		if err != nil {
			return next, err
		}
		if run, err = e.steer(ctx, next); err != nil {
			return run, err
		}
	}
	return run, nil
}

// carryOut does what was decided and commits what came out of it. It returns
// the record as it was last committed.
func (e *Engine) carryOut(ctx context.Context, run metadata.Run, d Decision) (metadata.Run, error) {
	e.Report.Report(Event{At: e.Now(), Run: run, Decision: &d})
	run, err := e.Renew(ctx, run) // to tell people may have taken long
	if err != nil {
		return run, fmt.Errorf("%s: %w", heading(d), err)
	}
	next, effects, err := e.do(ctx, run, d)
	switch {
	case err != nil && ctx.Err() != nil:
		return e.interrupted(ctx, run)
	case err != nil:
		return run, fmt.Errorf("%s: %w", heading(d), err)
	}
	if next, err = e.consequences(ctx, run, next, d, &effects); err == nil {
		next, err = e.stopAfter(next, d)
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", heading(d), err)
	}
	err = e.record(ctx, next, d, effects)
	var kept *NotPushed
	if errors.As(err, &kept) {
		return next, fmt.Errorf("%s: %w", heading(d), err)
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", heading(d), err)
	}
	e.Report.Report(Event{At: e.Now(), Run: next, Of: d, Done: &effects.outcome})
	return next, nil
}

// stopAfter adds to a step that was the last one why it was: that needs no
// commit of its own.
func (e *Engine) stopAfter(next metadata.Run, d Decision) (metadata.Run, error) {
	if last := Decide(e.Plan, next); next.Status == metadata.Running && last.Final() && !d.Final() {
		return e.apply(next, last, Outcome{At: e.Now()})
	}
	if rec := next.Phase(d.Phase); e.PauseAtGates && next.Status == metadata.Running && rec != nil && rec.Status == metadata.PhaseCompleted {
		pause := Decision{Do: DoWait, Phase: d.Phase, Code: metadata.AwaitingPerson, Why: metadata.Because("paused_at_gate", "phase", d.Phase)}
		return e.apply(next, pause, Outcome{At: e.Now()})
	}
	return next, nil
}

// interrupted records that reprise was told to stop between two steps.
func (e *Engine) interrupted(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	next := Interrupt(run, e.Now())
	if errors.Is(context.Cause(ctx), ErrTimeUp) {
		next.Stop.Code, next.Stop.Why = metadata.TimedOut, metadata.Because("time_over")
	}
	if err := e.Amend(ctx, next, "interrupted"); err != nil {
		return run, err
	}
	return next, nil
}

// Begin commits the first record of a run, before anything is spent: a branch
// that cannot be pushed is noticed here. What an earlier run of the issue has
// left in the folder, because its branch was merged, is put aside: it stays in
// the history.
func (e *Engine) Begin(ctx context.Context, run metadata.Run) error {
	return e.commit(ctx, run, Commit{Message: message(run, "start: "+e.Plan.Name+" pipeline", "", "", 0, 0), Files: maps.Clone(e.Frozen), Anew: true})
}

// Rewind carries out a rewind that Back computed, as one commit.
func (e *Engine) Rewind(ctx context.Context, r Rewound) error {
	if err := follows(r.Before, r.Run); err != nil {
		return err
	}
	e.present(r.Moves)
	subject := fmt.Sprintf("%s: taken back to %s", r.Entry.ToPhase, r.Entry.ToStep)
	return e.commit(ctx, r.Run, Commit{
		Message: message(r.Run, subject, r.Entry.Reason, r.Entry.ToPhase, 0, 0, string(r.Entry.ToStep)),
		Files:   r.Files, Moves: r.Moves, Paths: r.Paths,
	})
}

// present leaves out of moves what a later call has removed.
func (e *Engine) present(moves map[string]string) {
	for from := range moves {
		if _, _, wrong := e.artifact(from); wrong != "" {
			delete(moves, from)
		}
	}
}

// Refreeze commits a record together with what it goes on with: the files of
// Frozen. What says in a few words what that is.
func (e *Engine) Refreeze(ctx context.Context, run metadata.Run, what string) error {
	return e.commit(ctx, run, Commit{Message: message(run, "refresh: "+what, "", "", 0, 0), Files: maps.Clone(e.Frozen)})
}

// Amend commits a record that changed with no work attached, such as a retry.
func (e *Engine) Amend(ctx context.Context, run metadata.Run, subject string) error {
	return e.commit(ctx, run, Commit{Message: message(run, subject, "", run.CurrentPhase, 0, 0)})
}

// effects is what doing a decision left to be committed.
type effects struct {
	outcome Outcome
	files   map[string][]byte
	paths   []string
	judge   func(ctx context.Context, c Change, data []byte) error // of paths; nil: none is asked about
	moves   map[string]string                                      // of a rollback that the step led to
	back    *metadata.Rollback
}

// do carries out a decision and applies what came out of it.
func (e *Engine) do(ctx context.Context, run metadata.Run, d Decision) (metadata.Run, effects, error) {
	if d.Final() {
		o := Outcome{At: e.Now()}
		next, err := e.apply(run, d, o)
		return next, effects{outcome: o}, err
	}
	if d.Delay > 0 {
		waiting, done := e.attend(ctx)
		err := e.Sleep(waiting, d.Delay)
		done()
		if err != nil {
			o := Outcome{At: e.Now(), Status: metadata.Cut, Code: metadata.RunCancelled, Why: metadata.Because("interrupted_waiting")}
			begun, err := e.begin(run, d, Beginning{At: e.Now(), Base: e.Tree.Tip()})
			if err != nil {
				return run, effects{}, err
			}
			next, err := e.apply(begun, d, o)
			return next, effects{outcome: o}, err
		}
	}
	if d.Do == DoCheck {
		return e.check(ctx, run, d)
	}
	return e.call(ctx, run, d)
}

// check runs the phase's commands on the work as a fresh clone of it would have
// it: a file that no clone has could make them pass.
func (e *Engine) check(ctx context.Context, run metadata.Run, d Decision) (next metadata.Run, x effects, err error) {
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, effects{}, err
	}
	start := e.Now()
	if run, err = e.begin(run, d, Beginning{At: start, Base: e.Tree.Tip()}); err != nil {
		return run, effects{}, err
	}
	ctx, done := e.attend(ctx)
	defer done()
	o := Outcome{Status: metadata.Succeeded}
	var wrong []metadata.Reason
	putBack, err := e.Tree.SetAside(ctx, keptForChecks(e.Plan.Phase(d.Phase)))
	if err != nil {
		return run, effects{}, err
	}
	defer func() { // after the tree is restored
		if e := putBack(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	for _, c := range e.Plan.Phase(d.Phase).Checks {
		r, err := e.Checker.Check(ctx, e.Tree.Dir(), c)
		if err != nil && ctx.Err() == nil {
			return run, effects{}, fmt.Errorf("check %s: %w", c.Name, err)
		}
		if ctx.Err() != nil {
			o = Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: metadata.Because("interrupted")}
			if errors.Is(context.Cause(ctx), ErrTimeUp) {
				o.Code, o.Why = metadata.TimedOut, metadata.Because("time_over")
			}
			break
		}
		r.Output = e.mask(r.Output)
		o.Checks = append(o.Checks, r)
		if !r.Pass {
			wrong = append(wrong, exited(r))
		}
	}
	if o.Status == metadata.Succeeded {
		o.Why = metadata.All(wrong...)
	}
	o.At = e.Now()
	o.Duration = max(0, o.At.Sub(start))
	// What a check leaves behind, such as build output, is not work.
	if err := e.Tree.Restore(context.WithoutCancel(ctx)); err != nil {
		return run, effects{}, err
	}
	x.outcome = o
	if o.Status == metadata.Succeeded {
		file := path.Join(e.folder(run, e.Plan.Phase(d.Phase)), ChecksFile)
		x.files = map[string][]byte{file: []byte(checksText(run.Language, d.Phase, o.Checks))}
	}
	next, err = e.apply(run, d, o)
	return next, x, err
}

// keptForChecks are the files beside the commit that the checks of a phase ask
// for: what one of them keeps, all find, as they follow on each other.
func keptForChecks(p *pipelines.Phase) (keep []string) {
	for _, c := range p.Checks {
		keep = append(keep, c.Keep...)
	}
	return keep
}

// begin opens the attempt of a decision, and saves that before anything of it
// is done.
func (e *Engine) begin(run metadata.Run, d Decision, b Beginning) (metadata.Run, error) {
	begun := Begin(run, d, b)
	if err := follows(run, begun); err != nil {
		return run, err
	}
	return begun, e.Store.Save(begun)
}

// apply gives the record after a decision and its outcome.
func (e *Engine) apply(run metadata.Run, d Decision, o Outcome) (metadata.Run, error) {
	next := Apply(e.Plan, run, d, o)
	return next, follows(run, next)
}

// follows refuses a record that cannot come after another.
func follows(run, next metadata.Run) error {
	if err := metadata.CheckNext(run, next); err != nil {
		return fmt.Errorf("the next record would not follow on this one, nothing was saved: %w", err)
	}
	return nil
}

// record commits the record together with the work it describes.
func (e *Engine) record(ctx context.Context, run metadata.Run, d Decision, x effects) error {
	e.present(x.moves)
	subject := heading(d) + ": " + result(run, d, x.outcome)
	why := Say(run.Language, x.outcome.Why)
	if d.Final() {
		why = Say(run.Language, d.Why)
	}
	if x.back != nil {
		why = strings.TrimSpace(fmt.Sprintf("%s\n\nTaken back to %s %s: %s", why, x.back.ToPhase, x.back.ToStep, x.back.Reason))
	}
	n, cost := 0, 0.0
	if !d.Final() {
		n, cost = len(run.Attempts), x.outcome.Usage.USD
	}
	return e.commit(ctx, run, Commit{
		Message: message(run, subject, why, d.Phase, n, cost, string(d.Do)),
		Files:   x.files, Paths: x.paths, Moves: x.moves, Judge: x.judge,
	})
}

// GiveBack commits that this process is done with a run that has stopped, and
// returns that record. Where it has no lease there is nothing to give back.
func (e *Engine) GiveBack(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if !e.Holds() && !e.Left {
		return run, nil
	}
	next := Touch(run, e.Now())
	e.done = true
	defer func() { e.done = false }()
	if err := e.Amend(ctx, next, "done, the run is free"); err != nil {
		return run, err
	}
	return next, nil
}

// Holds reports whether this process has the lease, as far as it knows.
func (e *Engine) Holds() bool { return !e.until.IsZero() }

// Lapsed reports whether this process had the lease and cannot know any more
// that it still has: another one may work on the run.
func (e *Engine) Lapsed() bool { return e.Holds() && !e.Now().Before(e.until) }

// Renew commits that this process is still at work if its lease has run out,
// and returns that record: before anything is spent it has to know that no
// other one has taken the run.
func (e *Engine) Renew(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if !e.Lapsed() {
		return run, nil
	}
	next := Touch(run, e.Now())
	if err := e.Amend(ctx, next, "still at work"); err != nil {
		return run, err
	}
	return next, nil
}

// lease says who works on a run, and until when if nothing more is heard. A
// process that is told to stop gives it back; one whose step people have ended
// goes on.
func (e *Engine) lease(ctx context.Context, run metadata.Run) *metadata.Lease {
	if e.Owner == "" || e.done || run.Status == metadata.Interrupted && ctx.Err() != nil {
		return nil
	}
	return &metadata.Lease{Owner: e.Owner, Fence: run.Execution.Attempt, Expires: e.Now().Add(e.Hold)}
}

// commit is the one place where a record is saved, committed and pushed.
func (e *Engine) commit(ctx context.Context, run metadata.Run, c Commit) error {
	run.Execution.Lease = e.lease(ctx, run)
	data, err := metadata.Format(run)
	if err != nil {
		return fmt.Errorf("the next record would be invalid, nothing was saved: %w", err)
	}
	if c.Files == nil {
		c.Files = map[string][]byte{}
	}
	record := path.Join(Folder(run.IssueNumber), metadata.File)
	c.Files[record] = data
	if err := e.keep(c.Files, record); err != nil {
		return err
	}
	c.Message = e.mask(c.Message)
	c.At = run.UpdatedAt
	ctx, stop := linger(ctx)
	defer stop()
	if err := e.Tree.Commit(ctx, c); err != nil {
		return err
	}
	e.until, e.Left = time.Time{}, false
	if lease := run.Execution.Lease; lease != nil {
		e.until = lease.Expires
	}
	return nil
}

// linger gives a context that outlives ctx by flushTime, so that being told
// to stop never cuts a commit in half.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, cancel) })
	return longer, func() { stop(); cancel() }
}
