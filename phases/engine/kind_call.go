package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// call has an agent do a step, and turns the result into an outcome.
func (e *Engine) call(ctx context.Context, run metadata.Run, d phases.Decision) (b phases.Beginning, _ attempt, err error) {
	p := e.Plan.Phase(d.Phase)
	if err := e.Tree.Prepare(ctx); err != nil {
		return b, nil, err
	}
	if asked := phases.Opens(e.Plan, run.Phase(d.Phase)); len(asked) > 0 && d.Do != phases.DoReview && phases.AccessOf(e.Plan, d) == pipelines.AccessTree {
		err := e.Tree.Restore(ctx, phases.OpenedPaths(asked)...) // instructions may be there as the base has them
		if err == nil {
			err = layOutOpened(e.Tree.Dir(), asked)
		}
		if err != nil {
			return b, nil, err
		}
	}
	t, err := e.task(ctx, run, d)
	b.Session, b.Model = t.Session, t.Model
	return b, func(run metadata.Run) (effects, error) {
		t.Attempt = len(run.Attempts) // others may have begun meanwhile
		if err := e.makeFolder(phases.PhaseFolder(run, p)); err != nil {
			return effects{}, err
		}
		tip, err := e.Tree.Stage(ctx)
		if err != nil {
			return effects{}, err
		}
		before, _, _ := e.artifact(ctx, tip.Read, path.Join(phases.PhaseFolder(run, p), p.Writes)) // "" if there is none
		r, err := e.callInTree(ctx, run, d, t)
		x, err := e.evaluate(context.WithoutCancel(ctx), run, d, ended{r, err, before})
		if err == nil && x.outcome.Verdict != nil {
			x.outcome, err = e.weighLate(ctx, run, p, x.outcome)
		}
		x.outcome = phases.StopRepeats(run, d, x.outcome)
		x.outcome.Usage, x.outcome.Model, x.outcome.Session = r.Usage, r.Model, r.Session
		return x, err
	}, err
}

// document gives what people have written as the work of the phase that a decision begins:
// the first that it has, unless it was taken back for a reason; nil: nothing.
func (e *Engine) document(ctx context.Context, run metadata.Run, d phases.Decision) ([]byte, error) {
	if rec := run.Phase(d.Phase); run.ExternalDocuments[d.Phase] == "" || d.Do != phases.DoExecute || rec.Written > 0 || rec.RollbackContext != nil {
		return nil, nil
	}
	tip, err := e.Tree.Stage(ctx)
	if err != nil {
		return nil, err
	}
	text, err := tip.Read(ctx, phases.GivenFile(run, d.Phase))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // what older runs name is not always here
	}
	return text, err
}

// callInTree calls the agent in the tree as the work has left it, and a reviewer in what a fresh clone of the work
// would have: an ignored file is not part of the work, and could be there to mislead the reviewer.
func (e *Engine) callInTree(ctx context.Context, run metadata.Run, d phases.Decision, t Task) (Result, error) {
	if !e.inCopy(d) {
		return e.callAgent(ctx, run, d, t)
	}
	remove, err := e.Tree.Copy(ctx, "", copyFor(d))
	if err != nil {
		return Result{}, err
	}
	removeOther, other := func() error { return nil }, copyFor(d)+"-run"
	t.Fresh = func(ctx context.Context) (dir string, err error) {
		again, err := e.Tree.Copy(ctx, "", other)
		if err == nil {
			removeOther = again
		}
		return e.Tree.CopyDir(other), err
	}
	r, err := e.callAgent(ctx, run, d, t)
	if e := errors.Join(removeOther(), remove()); e != nil {
		return r, e // of the copies, and nothing that the agent could be blamed for
	}
	return r, err
}

// makeFolder makes a folder of the tree. No link that somebody laid on the way leads out of it.
func (e *Engine) makeFolder(name string) error {
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return err
	}
	defer root.Close() // a folder is there or it is not
	return root.MkdirAll(filepath.FromSlash(name), 0o755)
}

// callAgent calls the agent, watching the budget while it works.
func (e *Engine) callAgent(ctx context.Context, run metadata.Run, d phases.Decision, t Task) (Result, error) {
	w := observer{Engine: e, run: run.Clone(), of: d, saved: e.Now()}
	r, err := e.ask(ctx, run, d.Agent, t, w.notify)
	r.Session, r.Model = e.withoutSecret(r.Session), e.withoutSecret(r.Model)
	if err != nil && !w.open().Confirmed && !t.Resume {
		r.Session = "" // it ended before it had one
	}
	return r, err
}

// ask calls an agent within the budget, and masks its words. Seen is told what it does, and may end the call.
func (e *Engine) ask(ctx context.Context, run metadata.Run, name string, t Task, seen func(a Activity, end context.CancelCauseFunc)) (Result, error) {
	agent, err := e.Agent(name)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := withinBudget(ctx, run)
	defer cancel(nil)
	t.Notify = func(a Activity) {
		if phases.LimitReachedIn(run, a.Usage) != "" {
			cancel(errBudget)
		}
		seen(a, cancel)
	}
	r, err := agent.Run(ctx, t)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.Text, r.Stderr, r.Structured = e.Mask(r.Text), e.Mask(r.Stderr), e.maskAnswer(r.Structured)
	return r, err
}

// saveEvery is how often the cost of a call under way is saved.
const saveEvery = 2 * time.Second

// observer follows a call of an agent while it works.
type observer struct {
	*Engine
	run   metadata.Run // with what is known of the open attempt; it is ours alone
	of    phases.Decision
	saved time.Time // when that was last saved
}

// open is the open attempt.
func (o *observer) open() *metadata.Attempt { return &o.run.Attempts[len(o.run.Attempts)-1] }

// notify takes a sign of life: it ends the call when a limit is reached, saves the session, and from time to time the
// cost, so that a kill does not lose them, and reports.
func (o *observer) notify(a Activity, end context.CancelCauseFunc) {
	if o.today > 0 && a.Usage.USD >= o.today {
		end(errBudget)
	}
	a.Session = o.withoutSecret(a.Session)
	open := o.open()
	isNew := a.Session != "" && !open.Confirmed
	if a.Session != "" {
		open.Session, open.Confirmed = a.Session, true
	}
	open.Usage = a.Usage
	if now := o.Now(); isNew || now.Sub(o.saved) > saveEvery {
		o.saved = now
		o.run.Revision++
		if err := o.Store.Save(o.run); err != nil {
			end(fmt.Errorf("saving the session: %w", err))
		}
	}
	a.Text = o.Mask(a.Text)
	o.Report.Report(Event{At: o.Now(), Run: o.run, Of: o.of, Activity: &a})
}

// withoutSecret gives a name that an agent made up, unless there is a secret in it: a
// record with one is not committed, so that no start could go on.
func (e *Engine) withoutSecret(name string) string {
	if e.Mask(name) != name {
		return ""
	}
	return name
}
