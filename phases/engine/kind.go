package engine

import (
	"cmp"
	"context"
	"fmt"
	"path"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// do carries out a step, and gives what came out of it. Broken is how the setup ended, if the work breaks it. The attempt
// is opened, and saved, before anything of it is done.
func (e *Engine) do(ctx context.Context, run metadata.Run, d phases.Decision, broken []metadata.CheckResult) (effects, error) {
	b, work, err := e.kind(ctx, run, d, broken)
	if err != nil {
		return effects{}, err
	}
	b.At, b.Base = e.Now(), cmp.Or(b.Base, e.Tree.Tip())
	begun, err := e.open(d, b)
	if err != nil {
		return effects{}, err
	}
	x, err := work(begun)
	x.outcome.End(b.At, e.Now())
	x.outcome.Tip = b.Base
	return x, err
}

// attempt is what is done in a step, with the record that has it open.
type attempt func(run metadata.Run) (effects, error)

// kind prepares the kind of work that a step is.
func (e *Engine) kind(ctx context.Context, run metadata.Run, d phases.Decision, broken []metadata.CheckResult) (b phases.Beginning, _ attempt, err error) {
	if d.Delay > 0 && e.Sleep(ctx, d.Delay) != nil {
		o := phases.Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Why: metadata.Because("interrupted_waiting")}
		return b, func(metadata.Run) (effects, error) { return effects{outcome: o}, nil }, nil
	}
	lane := run.Phase(d.Phase).Lane
	switch {
	case lane != nil && e.Lane == nil:
		return b, nil, fmt.Errorf("%s is done in a tree of its own, and nothing here has one", d.Phase)
	case lane != nil && d.Do == phases.DoIntegrate:
		b.Base = e.Upon
		return b, func(run metadata.Run) (effects, error) { return e.bringTogether(ctx, run, d, *lane) }, nil
	case d.Do == phases.DoIntegrate:
		return b, func(run metadata.Run) (effects, error) { return e.integrate(ctx, run, d) }, nil
	case d.Do == phases.DoCheck:
		return b, func(run metadata.Run) (effects, error) { return e.check(ctx, run, d, broken) }, e.Tree.Prepare(ctx)
	}
	if text, err := e.document(ctx, run, d); err != nil || text != nil {
		return b, func(run metadata.Run) (effects, error) { return e.writes(run, d, text, metadata.Diff{}), nil }, err
	}
	return e.call(ctx, run, d)
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
	back         *metadata.Rollback     // that the step led to
	before       []metadata.CheckResult // how checks ended on the base that had not run there
}

// step is what was decided on, and what came of it.
type step struct {
	of phases.Decision
	x  effects
}
