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

	"github.com/reprise-ci/reprise/internal/placing"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/boundary"
	"github.com/reprise-ci/reprise/phases/budget"
	"github.com/reprise-ci/reprise/phases/checking"
	"github.com/reprise-ci/reprise/phases/files"
	"github.com/reprise-ci/reprise/phases/opened"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines"
)

// saveEvery is how often the cost of a call under way is saved.
const saveEvery = 2 * time.Second

// call has an agent do a step, and turns the result into an outcome.
func (e *Engine) call(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, effects, error) {
	p := e.Plan.Phase(d.Phase)
	text, err := e.document(ctx, run, d)
	if err != nil {
		return run, effects{}, err
	}
	if text != nil {
		return e.take(run, d, text)
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, effects{}, err
	}
	if asked := phases.Opens(e.Plan, run.Phase(d.Phase)); len(asked) > 0 && d.Do != phases.DoReview && boundary.AccessOf(e.Plan, d) == pipelines.AccessTree {
		err := e.Tree.Restore(ctx, opened.Paths(asked)...) // instructions may be there as the base has them
		if err == nil {
			err = placing.LayOut(e.Tree.Dir(), asked)
		}
		if err != nil {
			return run, effects{}, err
		}
	}
	t, err := e.task(ctx, run, d)
	if err != nil {
		return run, effects{}, err
	}
	start := e.Now()
	run, err = e.begin(run, d, phases.Beginning{At: start, Session: t.Session, Model: t.Model, Base: e.Tree.Tip()})
	if err != nil {
		return run, effects{}, err
	}
	t.Attempt = len(run.Attempts) // others may have begun meanwhile
	if err := e.makeFolder(phases.PhaseFolder(run, p)); err != nil {
		return run, effects{}, err
	}
	tip, err := e.Tree.Stage(ctx)
	if err != nil {
		return run, effects{}, err
	}
	before, _, _ := e.artifact(ctx, tip.Read, path.Join(phases.PhaseFolder(run, p), p.Writes)) // "" if there is none
	r, err := e.callInTree(ctx, run, d, t)
	x, err := e.evaluate(context.WithoutCancel(ctx), run, d, ended{r, err, before})
	if err != nil {
		return run, x, err
	}
	x.outcome = phases.StopRepeats(run, d, x.outcome)
	x.outcome.Usage, x.outcome.Model, x.outcome.Session = r.Usage, r.Model, r.Session
	x.outcome.End(start, e.Now())
	next, err := e.apply(run, d, x.outcome)
	if err != nil {
		return run, x, err
	}
	if d.Do == phases.DoReview && x.outcome.Status == metadata.Succeeded {
		x.files[path.Join(phases.PhaseFolder(run, p), phases.ReviewFile)] = []byte(files.Review(run.Language, next.Phase(d.Phase)))
	}
	return next, x, nil
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

// take takes a document that people have written as the work of a phase.
func (e *Engine) take(run metadata.Run, d phases.Decision, text []byte) (metadata.Run, effects, error) {
	p, at := e.Plan.Phase(d.Phase), e.Now()
	run, err := e.begin(run, d, phases.Beginning{At: at, Base: e.Tree.Tip()})
	if err != nil {
		return run, effects{}, err
	}
	file := path.Join(phases.PhaseFolder(run, p), p.Writes)
	o := phases.Outcome{At: at, Status: metadata.Succeeded, Written: &phases.Written{Digest: texts.Digest(text), Files: []string{file}}}
	next, err := e.apply(run, d, o)
	return next, effects{outcome: o, files: map[string][]byte{file: text}}, err
}

// callInTree calls the agent in the tree as the work has left it, and a
// reviewer in what a fresh clone of the work would have: an ignored file is not
// part of the work, and could be there to mislead the reviewer. Who may run
// commands and change nothing has a copy of that.
func (e *Engine) callInTree(ctx context.Context, run metadata.Run, d phases.Decision, t Task) (Result, error) {
	keep := checking.KeptBeside(e.Plan.Phase(d.Phase).Checks)
	back, err := func() error { return nil }, error(nil)
	switch {
	case t.Access == pipelines.AccessRun:
		back, err = e.Tree.Copy(ctx, "", copyFor(d), keep)
	case d.Do == phases.DoReview:
		back, err = e.Tree.SetAside(ctx, keep)
	}
	if err != nil {
		return Result{}, err
	}
	r, err := e.callAgent(ctx, run, d, t)
	if e := back(); e != nil {
		return r, e // of the tree, and nothing that the agent could be blamed for
	}
	return r, err
}

// copyFor names the copy for an agent that may run commands and change nothing. It
// is the same for each call of a session: programs look for theirs by the folder.
func copyFor(d phases.Decision) string {
	if d.Do == phases.DoReview {
		return "review"
	}
	return "work"
}

// dirOf is where the agent of a decision works.
func (e *Engine) dirOf(d phases.Decision) string {
	if boundary.AccessOf(e.Plan, d) == pipelines.AccessRun {
		return e.Tree.CopyDir(copyFor(d))
	}
	return e.Tree.Dir()
}

// makeFolder makes a folder of the tree. No link that somebody laid on the way
// leads out of it.
func (e *Engine) makeFolder(name string) error {
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // a folder is there or it is not
	return root.MkdirAll(filepath.FromSlash(name), 0o755)
}

// callAgent calls the agent, watching the budget while it works.
func (e *Engine) callAgent(ctx context.Context, run metadata.Run, d phases.Decision, t Task) (Result, error) {
	agent, err := e.Agent(d.Agent)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := withinBudget(ctx, run)
	defer cancel(nil)
	ctx, done := e.attend(ctx)
	defer done()
	w := observer{engine: e, run: run.Clone(), of: d, saved: e.Now(), end: cancel}
	t.Notify = w.notify
	r, err := agent.Run(ctx, t)
	r.Session, r.Model = e.withoutSecret(r.Session), e.withoutSecret(r.Model)
	if err != nil && !w.attempt().Confirmed {
		r.Session = "" // it ended before it had one
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.Text, r.Stderr, r.Structured = e.Mask(r.Text), e.Mask(r.Stderr), e.MaskAnswer(r.Structured)
	return r, err
}

// withinBudget gives a context for a call of an agent, which ends with errBudget
// when the time that the run has is used up, and a function that ends it earlier.
func withinBudget(ctx context.Context, run metadata.Run) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	remaining := budget.RemainingTime(run)
	if remaining <= 0 {
		return ctx, cancel // there is no limit
	}
	ctx, stop := context.WithTimeoutCause(ctx, remaining, errBudget)
	return ctx, func(cause error) { cancel(cause); stop() }
}

// observer follows a call of an agent while it works.
type observer struct {
	engine *Engine
	run    metadata.Run // with what is known of the open attempt; it is ours alone
	of     phases.Decision
	saved  time.Time // when that was last saved
	end    context.CancelCauseFunc
}

// attempt is the open attempt.
func (o *observer) attempt() *metadata.Attempt { return &o.run.Attempts[len(o.run.Attempts)-1] }

// notify takes a sign of life: it ends the call when a limit is reached, saves
// the session, and from time to time the cost, so that a kill does not lose
// them, and reports.
func (o *observer) notify(a Activity) {
	e := o.engine
	if budget.ReachedIn(o.run, a.Usage) != "" || e.today > 0 && a.Usage.USD >= e.today {
		o.end(errBudget)
	}
	a.Session = e.withoutSecret(a.Session)
	open := o.attempt()
	isNew := a.Session != "" && !open.Confirmed
	if a.Session != "" {
		open.Session, open.Confirmed = a.Session, true
	}
	open.Usage = a.Usage
	if now := e.Now(); isNew || now.Sub(o.saved) > saveEvery {
		o.saved = now
		o.run.Revision++
		if err := e.Store.Save(o.run); err != nil {
			o.end(fmt.Errorf("saving the session: %w", err))
		}
	}
	a.Text = e.Mask(a.Text)
	e.Report.Report(Event{At: e.Now(), Run: o.run, Of: o.of, Activity: &a})
}

// withoutSecret gives a name that an agent made up, unless there is a secret in it: a
// record with one is not committed, so that no start could go on.
func (e *Engine) withoutSecret(name string) string {
	if e.Mask(name) != name {
		return ""
	}
	return name
}

// session gives the id of the session to start or to resume.
func (e *Engine) session(run metadata.Run, d phases.Decision) string {
	if d.Resume > 0 {
		return run.Attempts[d.Resume-1].Session
	}
	return e.NewID()
}

// timeouts gives the limits of a step.
func timeouts(s pipelines.Step) (whole, idle time.Duration) {
	return time.Duration(s.Timeout), time.Duration(s.Idle)
}
