package engine

import (
	"cmp"
	"context"
	"fmt"
	"path"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// do carries out a decision, for land to take what came out of it into the record that it
// returns: the one with the open attempt. Broken is how the setup ended, if the work breaks it.
func (e *Engine) do(ctx context.Context, run metadata.Run, d phases.Decision, broken []metadata.CheckResult) (metadata.Run, effects, error) {
	if d.Final() {
		return run, effects{outcome: phases.Outcome{At: e.Now()}}, nil
	}
	if d.Delay > 0 {
		waiting, done := e.attend(ctx)
		err := e.Sleep(waiting, d.Delay)
		done()
		if err != nil {
			return e.attempt(run, d, phases.Beginning{}, func(*metadata.Run) (effects, error) {
				return effects{outcome: phases.Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Why: metadata.Because("interrupted_waiting")}}, nil
			})
		}
	}
	switch lane := run.Phase(d.Phase).Lane; {
	case lane != nil && e.Lane == nil:
		return run, effects{}, fmt.Errorf("%s is done in a tree of its own, and nothing here has one", d.Phase)
	case lane != nil && d.Do == phases.DoIntegrate:
		return e.attempt(run, d, phases.Beginning{Base: e.Upon}, func(run *metadata.Run) (effects, error) { return e.bringTogether(ctx, run, d, *lane) })
	case d.Do == phases.DoCheck:
		if err := e.Tree.Prepare(ctx); err != nil {
			return run, effects{}, err
		}
		return e.attempt(run, d, phases.Beginning{}, func(run *metadata.Run) (effects, error) { return e.check(ctx, run, d, broken) })
	case d.Do == phases.DoIntegrate:
		return e.attempt(run, d, phases.Beginning{}, func(run *metadata.Run) (effects, error) { return e.integrate(ctx, *run, d) })
	}
	switch text, err := e.document(ctx, run, d); {
	case err != nil:
		return run, effects{}, err
	case text != nil:
		return e.attempt(run, d, phases.Beginning{}, func(run *metadata.Run) (effects, error) {
			return e.writes(*run, d, text, metadata.Diff{}), nil
		})
	}
	return e.call(ctx, run, d)
}

// attempt opens the attempt of a decision, saves that before anything of it is done, and has it done.
func (e *Engine) attempt(run metadata.Run, d phases.Decision, b phases.Beginning, work func(run *metadata.Run) (effects, error)) (metadata.Run, effects, error) {
	b.At, b.Base = e.Now(), cmp.Or(b.Base, e.Tree.Tip())
	begun, err := phases.Begin(run, d, b), error(nil)
	if e.Open != nil {
		begun, err = e.Open(d, b)
	} else if err = metadata.Follow(run, begun); err == nil {
		e.latest = begun.Clone() // the step works on it
		err = e.Store.Save(begun)
	}
	if err != nil {
		return run, effects{}, err
	}
	x, err := work(&begun)
	x.outcome.End(b.At, e.Now())
	x.outcome.Tip = b.Base
	return begun, x, err
}

// apply gives the record after a decision and its outcome.
func (e *Engine) apply(run metadata.Run, d phases.Decision, o phases.Outcome) (metadata.Run, error) {
	next := phases.Apply(phases.On(e.Plan, run), d, o)
	return next, metadata.Follow(run, next)
}

// writes has reprise write the artifact of a phase.
func (e *Engine) writes(run metadata.Run, d phases.Decision, text []byte, changed metadata.Diff) effects {
	p := e.Plan.Phase(d.Phase)
	file := path.Join(phases.PhaseFolder(run, p), p.Writes)
	return effects{
		BranchCommit: BranchCommit{Files: map[string][]byte{file: text}},
		outcome:      phases.Outcome{Status: metadata.Succeeded, Written: &phases.Written{Digest: phases.DigestOf(text), Files: []string{file}, Diff: changed}},
	}
}

// effects is what has to be committed after a decision was carried out.
type effects struct {
	BranchCommit // without its message
	outcome      phases.Outcome
	back         *metadata.Rollback // that the step led to
}
