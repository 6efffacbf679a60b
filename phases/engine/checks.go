package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/checking"
	"github.com/reprise-ci/reprise/phases/files"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/protection"
)

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
		run, o, err = e.runChecks(ctx, run, e.Plan.Phase(d.Phase))
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

// integrate brings the parts of a phase together. Their work is in the tree: what
// is left is an artifact that says what was done where.
func (e *Engine) integrate(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, effects, error) {
	p, start := e.Plan.Phase(d.Phase), e.Now()
	run, err := e.begin(run, d, phases.Beginning{At: start, Base: e.Tree.Tip()})
	if err != nil {
		return run, effects{}, err
	}
	tip, err := e.Tree.Stage(ctx)
	if err != nil {
		return run, effects{}, err
	}
	_, changed, err := e.diff(ctx, tip, run, p, run.Phase(d.Phase))
	if err != nil {
		return run, effects{}, err
	}
	text := []byte(e.Mask(files.Parts(run, d.Phase)))
	file := path.Join(phases.PhaseFolder(run, p), p.Writes)
	o := phases.Outcome{
		At: e.Now(), Status: metadata.Succeeded, Written: &phases.Written{Digest: texts.Digest(text), Files: []string{file}, Diff: changed},
	}
	o.End(start, o.At)
	next, err := e.apply(run, d, o)
	return next, effects{outcome: o, files: map[string][]byte{file: text}}, err
}

// mostApart is how many paths at which parts do not go together are recorded.
const mostApart = 100

// bringTogether brings the work of a part together with what went in since it began, and
// runs the checks of the part on what both come to: nothing is on the branch that was not
// checked as it stands there.
func (e *Engine) bringTogether(ctx context.Context, run metadata.Run, d phases.Decision, lane metadata.Lane) (metadata.Run, effects, error) {
	p, start := e.Plan.Phase(d.Phase), e.Now()
	run, err := e.begin(run, d, phases.Beginning{At: start, Base: e.Upon})
	if err != nil {
		return run, effects{}, err
	}
	refused := func(path string) bool {
		return protection.Protected(path, e.Plan.Protect) || metadata.CheckPath(path) != nil
	}
	merged, err := e.Lane.Merge(ctx, lane.Base, e.Upon, lane.Head, start, refused)
	if err == nil {
		err = e.Lane.MoveTo(ctx, merged.Commit, e.Upon, start)
	}
	if err != nil {
		return run, effects{}, err
	}
	o, n := phases.Outcome{Status: metadata.Succeeded}, len(merged.Paths)
	if n == 0 && len(p.Checks) > 0 {
		if _, o.Checks, err = e.setUp(ctx, run, d); err == nil && o.Checks == nil { // lock files of the others may have come in
			run, o, err = e.runChecks(ctx, run, p)
		}
		if err != nil {
			return run, effects{}, err
		}
	}
	x := effects{files: map[string][]byte{}}
	switch {
	case o.Status != metadata.Succeeded: // told to stop
	case n > 0 || checking.RulingOf(o.Checks) == metadata.Fail:
		o.Status, o.Code = metadata.Unsuccessful, metadata.Conflicts
		o.Why = metadata.All(metadata.Because("parts_apart", "n", n), checking.WhyFailed(o.Checks))
		o.Conflict = &metadata.Conflict{Parts: phases.IntegratedSince(run, d.Phase), Paths: merged.Paths[:min(n, mostApart)]}
		if o.Base = e.Upon; lane.Conflict == nil {
			o.Head = merged.Commit
		} else {
			merged.Versions[phases.BeforeFile], err = e.workBefore(ctx, lane, start)
		}
		for name, data := range merged.Versions {
			x.files[path.Join(phases.ConflictFolder(run, p), name)] = data
		}
	default:
		x.take = merged.Commit
		written := phases.Written{Files: run.Phase(d.Phase).OutputFiles}
		_, written.Diff, err = e.Tree.Diff(ctx, e.Upon)
		o.Written = &written
	}
	o.End(start, e.Now())
	x.outcome = o
	return run, x, err
}

// workBefore gives the work of a part that could not be brought together with others.
func (e *Engine) workBefore(ctx context.Context, lane metadata.Lane, at time.Time) ([]byte, error) {
	if err := e.Lane.MoveTo(ctx, lane.Head, e.Upon, at); err != nil {
		return nil, err
	}
	diff, _, err := e.Tree.Diff(ctx, lane.Base)
	return []byte(e.Mask(texts.Cut(diff, 64<<10))), err
}

// runChecks runs the checks of a phase on the work.
func (e *Engine) runChecks(ctx context.Context, run metadata.Run, p *pipelines.Phase) (next metadata.Run, o phases.Outcome, err error) {
	ctx, done := e.attend(ctx)
	defer done()
	c, err := e.round(ctx, p.Checks)
	if err != nil {
		return run, o, err
	}
	o.Checks, err = c.All(ctx, p.Checks)
	// Without a sandbox, a check may have changed the tree itself.
	err = errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx)))
	if err == nil && ctx.Err() == nil {
		run, err = e.knowBefore(ctx, run, p, o.Checks)
	}
	switch {
	case ctx.Err() != nil:
		return run, stopped(context.Cause(ctx), metadata.Because("interrupted")), nil
	case err != nil:
		return run, phases.Outcome{}, err
	}
	o.Status, o.Why = metadata.Succeeded, checking.WhyFailed(o.Checks)
	return run, o, nil
}

// knowBefore notes which checks fail as they did before. Where that is not known of one that
// fails, because the base was merged or the baseline never ended, it runs on the base now.
func (e *Engine) knowBefore(ctx context.Context, run metadata.Run, p *pipelines.Phase, checks []metadata.CheckResult) (metadata.Run, error) {
	if unknown := checking.Unknown(p.Checks, checks, run.Baseline); e.Plan.Baseline && run.BaseCommit != "" && len(unknown) > 0 {
		do, start := phases.Decision{Do: phases.DoBaseline, Phase: p.Name, Why: metadata.Because("baseline_again", "n", len(unknown))}, e.Now()
		e.Report.Report(Event{At: start, Run: run, Decision: &do})
		c, err := e.round(ctx, nil)
		if err != nil {
			return run, err
		}
		c.Commit, c.Content, c.Copies = run.BaseCommit, run.BaseCommit, "base"
		results, err := c.All(ctx, unknown)
		if err != nil {
			return run, err
		}
		run = run.Clone()
		run.Baseline = append(run.Baseline, results...)
		o := phases.Outcome{At: e.Now(), Status: metadata.Succeeded, Checks: results, Why: checking.WhyFailed(results)}
		o.End(start, o.At)
		e.Report.Report(Event{At: o.At, Run: run, Of: do, Done: &o})
	}
	checking.KnownBefore(checks, run.Baseline)
	return run, nil
}

// setUp makes the work tree ready for a decision, if it is not. One that has never
// been ready stops the run when a command fails. Later it is the work that breaks
// the setup, as by a lock file: then broken is how the commands ended, for the checks.
func (e *Engine) setUp(ctx context.Context, run metadata.Run, d phases.Decision) (next metadata.Run, broken []metadata.CheckResult, err error) {
	if e.Provisions == nil || d.Final() {
		return run, nil, nil
	}
	digest, due, err := e.Provisions.Due()
	if err != nil {
		return run, nil, err
	}
	e.setUpAs = digest
	if !due || digest == e.brokenBy && d.Calls() {
		return run, nil, e.Provisions.Give(ctx)
	}
	if run, err = e.Renew(ctx, run); err != nil {
		return run, nil, err
	}
	do := phases.Decision{Do: phases.DoSetup, Phase: d.Phase, Why: metadata.Because("setup_due", "n", len(e.Plan.Setup))}
	start := e.Now()
	e.Report.Report(Event{At: start, Run: run, Decision: &do})
	o, err := e.makeReady(ctx, digest)
	if err != nil {
		return run, nil, err
	}
	o.At = e.Now()
	switch next = run; {
	case e.Lane == nil && (phases.Broken(o.Checks) == nil || run.Setup == nil || phases.Broken(run.Setup) != nil):
		next = phases.SetUp(run, o.Checks, o.At)
	case phases.Broken(o.Checks) != nil:
		broken, e.brokenBy = o.Checks, digest
	}
	if next.Status != metadata.Running {
		if err := e.Amend(ctx, next, "setup failed"); err != nil {
			return run, nil, err
		}
	}
	o.End(start, o.At)
	e.Report.Report(Event{At: o.At, Run: next, Of: do, Done: &o})
	return next, broken, nil
}

// makeReady runs the commands of the setup, up to the first that fails.
func (e *Engine) makeReady(ctx context.Context, digest string) (o phases.Outcome, err error) {
	if err := e.Tree.Prepare(ctx); err != nil {
		return o, err
	}
	o.Status = metadata.Succeeded
	attended, done := e.attend(ctx)
	defer done()
	return o, e.Provisions.Make(ctx, digest, func() (bool, error) {
		for _, c := range e.Plan.Setup {
			r, err := cmp.Or(e.Installer, e.Checker).Check(attended, e.Tree.Dir(), c.Check)
			if attended.Err() != nil {
				return false, context.Cause(attended)
			}
			if err != nil {
				return false, fmt.Errorf("setup %s: %w", c.Name, err)
			}
			r.Output = e.Mask(r.Output)
			o.Checks = append(o.Checks, r)
			if !r.Pass {
				o.Why = metadata.Because("check_exited", "check", c.Name, "code", r.ExitCode)
				return false, nil
			}
		}
		return true, nil
	})
}

// baseline has all checks of the plan run on what nobody has changed yet, beside the
// first phase. What fails there is not by those who work on the issue. The results are
// in the record when that phase is over, or before its own checks.
func (e *Engine) baseline(ctx context.Context, run metadata.Run, d phases.Decision) (metadata.Run, error) {
	if e.before == nil {
		return run, e.beginBaseline(ctx, run, d)
	}
	if (d.Calls() && d.Phase == e.beside || d.Final()) && !e.before.Over() {
		return run, nil
	}
	do := phases.Decision{Do: phases.DoBaseline, Phase: e.beside, Why: metadata.Because("baseline_due", "n", e.before.Checks())}
	start := e.Now()
	e.Report.Report(Event{At: start, Run: run, Decision: &do})
	attended, done := e.attend(ctx)
	results, err := e.before.Wait(attended)
	done()
	if err != nil {
		return run, err
	}
	next := run.Clone()
	next.Baseline, next.UpdatedAt = results, e.Now()
	next.Revision++
	o := phases.Outcome{At: next.UpdatedAt, Status: metadata.Succeeded, Checks: results, Why: checking.WhyFailed(results), Duration: max(0, next.UpdatedAt.Sub(start))}
	e.Report.Report(Event{At: o.At, Run: next, Of: do, Done: &o})
	err = errors.Join(e.before.End(), e.Store.Save(next))
	e.before = nil
	return next, err
}

// beginBaseline begins that, if the plan asks for it and nothing is changed yet.
func (e *Engine) beginBaseline(ctx context.Context, run metadata.Run, d phases.Decision) error {
	changed := slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Diff != nil && p.Diff.Files > 0 })
	if !e.Plan.Baseline || run.Baseline != nil || changed || !d.Calls() {
		return nil
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return err
	}
	all := checking.AllOf(e.Plan)
	c, err := e.round(ctx, all)
	if err == nil {
		c.Copies, e.beside = "before", d.Phase
		e.before, err = c.Start(ctx, all)
	}
	return err
}

// round is what it takes to run checks on the work as it is.
func (e *Engine) round(ctx context.Context, checks []pipelines.Check) (c *checking.Round, err error) {
	c = &checking.Round{Tree: e.Tree, Checker: e.Checker, Results: e.Results, Mask: e.Mask, Jobs: e.Jobs, SetUp: e.setUpAs, Keep: checking.KeptBeside(checks)}
	c.Content, err = e.Tree.Content(ctx)
	return c, err
}
