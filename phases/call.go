package phases

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// saveEvery is how often the cost of a call under way is saved.
const saveEvery = 2 * time.Second

// call lets an agent do a step and turns what it brought into an outcome.
func (e *Engine) call(ctx context.Context, run metadata.Run, d Decision) (metadata.Run, effects, error) {
	p := e.Plan.Phase(d.Phase)
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, effects{}, err
	}
	t, err := e.task(ctx, run, d)
	if err != nil {
		return run, effects{}, err
	}
	start := e.Now()
	run, err = e.begin(run, d, Beginning{At: start, Session: t.Session, Model: t.Model, Base: e.Tree.Tip()})
	if err != nil {
		return run, effects{}, err
	}
	if err := e.makeFolder(e.folder(run, p)); err != nil {
		return run, effects{}, err
	}
	before, _, _ := e.artifact(path.Join(e.folder(run, p), p.Writes)) // "" if there is none
	r, err := e.ask(ctx, run, d, t)
	x, err := e.weigh(context.WithoutCancel(ctx), run, d, r, before, err)
	if err != nil {
		return run, x, err
	}
	x.outcome = stopRepeats(run, d, x.outcome)
	x.outcome.At = e.Now()
	x.outcome.Duration = max(0, x.outcome.At.Sub(start)) // the clock may have been put back
	x.outcome.Usage, x.outcome.Model = r.Usage, r.Model
	x.outcome.Session = r.Session
	next, err := e.apply(run, d, x.outcome)
	if err != nil {
		return run, x, err
	}
	if d.Do == DoReview && x.outcome.Status == metadata.Succeeded {
		x.files[path.Join(e.folder(run, p), ReviewFile)] = []byte(reviewText(run.Language, next.Phase(d.Phase)))
	}
	return next, x, nil
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

func (e *Engine) folder(run metadata.Run, p *pipelines.Phase) string {
	return path.Join(Folder(run.IssueNumber), p.Folder)
}

// ask calls the agent, watching the budget while it works.
func (e *Engine) ask(ctx context.Context, run metadata.Run, d Decision, t Task) (Result, error) {
	agent, err := e.Agent(d.Agent)
	if err != nil {
		return Result{}, err
	}
	run = run.Clone() // what Notify keeps up to date; the caller's stays as it is
	if left := secondsLeft(run); left > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, left, errBudget)
		defer stop()
	}
	ctx, done := e.attend(ctx)
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	saved := e.Now()
	t.Notify = func(a Activity) {
		if reached, _ := overBudget(with(run, a.Usage)); reached != "" {
			cancel(errBudget)
		}
		// What a kill must not hide: the session, and now and then the cost.
		a.Session = e.harmless(a.Session)
		open := &run.Attempts[len(run.Attempts)-1]
		news := a.Session != "" && !open.Confirmed
		if a.Session != "" {
			open.Session, open.Confirmed = a.Session, true
		}
		open.Usage = a.Usage
		if now := e.Now(); news || now.Sub(saved) > saveEvery {
			saved = now
			run.Revision++
			if err := e.Store.Save(run); err != nil {
				cancel(fmt.Errorf("saving the session: %w", err))
			}
		}
		a.Text = e.mask(a.Text)
		e.Report.Report(Event{At: e.Now(), Run: run, Of: d, Activity: &a})
	}
	r, err := agent.Run(ctx, t)
	r.Session, r.Model = e.harmless(r.Session), e.harmless(r.Model)
	if err != nil && !run.Attempts[len(run.Attempts)-1].Confirmed {
		r.Session = "" // it ended before it had one
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.Text, r.Stderr, r.Structured = e.mask(r.Text), e.mask(r.Stderr), e.maskAnswer(r.Structured)
	return r, err
}

// harmless gives a name that an agent made up, unless there is a secret in it: a
// record with one is not committed, so that no start could go on.
func (e *Engine) harmless(name string) string {
	if e.mask(name) != name {
		return ""
	}
	return name
}

// access is what the decision's agent may do: what the phase grants, at most
// what the agent is trusted with, and only reading for a review.
func (e *Engine) access(d Decision) pipelines.Access {
	granted := e.Plan.Phase(d.Phase).Access
	if d.Do == DoReview {
		granted = pipelines.AccessRead
	}
	order := []pipelines.Access{pipelines.AccessNone, pipelines.AccessRead, pipelines.AccessArtifacts, pipelines.AccessTree}
	limit := e.Plan.Agents[d.Agent].Access
	for _, a := range order {
		if a == granted || (limit != "" && a == limit) {
			return a
		}
	}
	return granted
}

func (e *Engine) boundary(run metadata.Run, d Decision) boundary {
	p := e.Plan.Phase(d.Phase)
	return boundary{access: e.access(d), state: Folder(run.IssueNumber), folder: e.folder(run, p), protect: e.Plan.Protect, agents: programs(e.Plan), limits: e.Plan.Limits}
}

// session gives the id to start or to go on with.
func (e *Engine) session(run metadata.Run, d Decision) string {
	if d.Resume > 0 {
		return run.Attempts[d.Resume-1].Session
	}
	return e.NewID()
}

// timeouts gives the limits of a step.
func timeouts(s pipelines.Step) (whole, idle time.Duration) {
	return time.Duration(s.Timeout), time.Duration(s.Idle)
}
