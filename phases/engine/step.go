package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/placing"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/boundary"
	"github.com/reprise-ci/reprise/phases/checking"
	"github.com/reprise-ci/reprise/phases/files"
	"github.com/reprise-ci/reprise/phases/opened"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines"
)

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
	e.getReady(run, d)
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
	t, err := e.briefing().task(ctx, run, d, e.remaining(run))
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
	before, _, _ := e.evaluator().artifact(ctx, tip.Read, path.Join(phases.PhaseFolder(run, p), p.Writes)) // "" if there is none
	r, err := e.callInTree(ctx, run, d, t)
	x, err := e.evaluator().evaluate(context.WithoutCancel(ctx), run, d, ended{r, err, before})
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

// getReady says that an agent is about to be called, if a decision is to call one at once.
func (e *Engine) getReady(run metadata.Run, d phases.Decision) {
	if e.GetReady != nil && d.Calls() && d.Delay == 0 {
		e.GetReady(d.Agent, phases.SettingsIn(e.Plan, run, e.Plan.Phase(d.Phase), d.Step()).Network)
	}
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
	w := observer{Guard: e.Guard, store: e.Store, report: e.Report, now: e.Now, today: e.today, run: run.Clone(), of: d, saved: e.Now(), end: cancel}
	t.Notify = w.notify
	r, err := agent.Run(ctx, t)
	r.Session, r.Model = withoutSecret(e.Guard, r.Session), withoutSecret(e.Guard, r.Model)
	if err != nil && !w.attempt().Confirmed {
		r.Session = "" // it ended before it had one
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.Text, r.Stderr, r.Structured = e.Mask(r.Text), e.Mask(r.Stderr), e.MaskAnswer(r.Structured)
	return r, err
}

// check runs the phase's commands, and takes the outcome into the record. Where the
// work breaks the setup, that is the outcome: nothing else could be run.
func (e *Engine) check(ctx context.Context, run metadata.Run, d phases.Decision, broken []metadata.CheckResult) (metadata.Run, effects, error) {
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, effects{}, err
	}
	start := e.Now()
	run, err := e.begin(run, d, phases.Beginning{At: start, Base: e.Tree.Tip()})
	if err != nil {
		return run, effects{}, err
	}
	o := phases.Outcome{Status: metadata.Succeeded, Checks: broken, Why: checking.WhyFailed(broken)}
	if broken == nil {
		run, o, err = e.runner().runChecks(ctx, run, e.Plan.Phase(d.Phase))
	}
	if err != nil {
		return run, effects{}, err
	}
	if o.Status == metadata.Succeeded {
		o.Why = checking.HowEnded(o.Checks) // who was told to stop has a reason
	}
	o.End(start, e.Now())
	x := effects{outcome: o}
	if o.Status == metadata.Succeeded {
		file := path.Join(phases.PhaseFolder(run, e.Plan.Phase(d.Phase)), phases.ChecksFile)
		x.files = map[string][]byte{file: []byte(files.Checks(run.Language, d.Phase, o.Checks))}
	}
	next, err := e.apply(run, d, o)
	return next, x, err
}
