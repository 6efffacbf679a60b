package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// land takes steps into a record, in one commit, and returns it as it was last committed: run, with an error. Last says
// that no part is at work besides.
func (e *Engine) land(ctx context.Context, run metadata.Run, last bool, steps ...step) (metadata.Run, error) {
	next, all, done := run, effects{BranchCommit: BranchCommit{Files: map[string][]byte{}, Moves: map[string]string{}}}, []effects(nil)
	for _, w := range steps {
		d, x, was := w.of, w.x, next
		if !d.Final() && phases.IsVoid(next.Phase(d.Phase), *phases.AttemptOf(&next, d.Phase)) {
			x = effects{outcome: x.outcome}
		}
		var err error
		if next, err = e.apply(next, d, x.outcome); err == nil {
			x = e.withReview(next, d, x)
			next, err = e.consequences(ctx, was, next, d, &x)
		}
		if err == nil && last && len(steps) == 1 {
			next, err = e.stopAfter(ctx, next, d)
		}
		if err != nil {
			return run, about(d, err)
		}
		done = append(done, x)
	}
	for i, x := range done {
		d := steps[i].of
		rec := next.Phase(d.Phase)
		if gone := !d.Final() && (rec == nil || rec.Generation != phases.AttemptOf(&next, d.Phase).Generation); gone && x.back == nil {
			x = effects{outcome: x.outcome} // another one of steps has made it void
		}
		maps.Copy(all.Files, x.Files)
		maps.Copy(all.Moves, x.Moves)
		all.outcome, all.Staged, all.back, all.Take = x.outcome, x.Staged, cmp.Or(x.back, all.back), cmp.Or(x.Take, all.Take)
		all.Gone, all.Beside = append(all.Gone, x.Gone...), append(all.Beside, x.Beside...)
		if x.outcome.Head != "" {
			all.Parents = append(all.Parents, x.outcome.Head)
		}
	}
	next.Revision = run.Revision + 1
	d, err := steps[len(steps)-1].of, metadata.Follow(run, next)
	if err == nil {
		err = e.record(ctx, next, d, all)
	}
	var kept *NotPushed
	if alone := steps[0].x.outcome.Code == metadata.PushFailed; err != nil && (!errors.As(err, &kept) || alone) { // the record is refused as well
		return run, about(d, err)
	}
	if kept != nil && kept.Withdraw != nil {
		if again, done, e := e.landRefused(ctx, run, last, kept, steps); done {
			return again, e
		} else if e != nil {
			err = e
		}
	}
	for i, w := range steps {
		shown := next
		if i < len(steps)-1 { // that the run stops is said once
			shown.Status, shown.Stop = run.Status, run.Stop
		}
		e.Report.Report(Event{At: e.Now(), Run: shown, Of: w.of, Done: &w.x.outcome})
	}
	if err != nil {
		err = about(d, err)
	}
	return next, err
}

// landRefused takes calls into a record whose work the remote has refused. Where it refuses the record, too, this is no
// matter of the work: that stays here, to be pushed with the next commit, and done is false.
func (e *Engine) landRefused(ctx context.Context, run metadata.Run, last bool, kept *NotPushed, steps []step) (next metadata.Run, done bool, err error) {
	if steps = e.withoutWork(steps, kept.Rule); steps == nil {
		return run, false, nil
	}
	ctx, stop := linger(ctx)
	defer stop()
	again, err := kept.Withdraw(ctx)
	if err != nil {
		return run, true, about(steps[0].of, errors.Join(kept, err))
	}
	next, err = e.land(ctx, run, last, steps...)
	if errors.As(err, new(*NotPushed)) {
		return run, false, errors.Join(kept, again(ctx))
	}
	return next, true, err
}

// withoutWork gives calls of agents as they are where a remote refuses what they left: that is reverted, and the next
// prompt has the words of the remote. Nil: not all were calls.
func (e *Engine) withoutWork(steps []step, rule string) (all []step) {
	why := metadata.Because("push_refused", "rule", metadata.Said(phases.LastWords(e.Mask(rule))))
	for _, w := range steps {
		o := w.x.outcome
		if !slices.Contains([]phases.Do{phases.DoExecute, phases.DoReview, phases.DoRevise}, w.of.Do) {
			return nil
		}
		refused := phases.BlockedBy(metadata.PushFailed, why)
		refused.At, refused.Duration, refused.Tip = o.At, o.Duration, o.Tip
		refused.Usage, refused.Model, refused.Session, refused.Warnings = o.Usage, o.Model, o.Session, o.Warnings
		all = append(all, step{w.of, effects{outcome: refused}})
	}
	return all
}

// withReview adds what people read of a review.
func (e *Engine) withReview(next metadata.Run, d phases.Decision, x effects) effects {
	if rec := next.Phase(d.Phase); d.Do == phases.DoReview && x.outcome.Status == metadata.Succeeded && x.Files != nil && rec != nil {
		x.Files[path.Join(phases.PhaseFolder(next, e.Plan.Phase(d.Phase)), phases.ReviewFile)] = []byte(phases.WrittenReview(next.Language, rec))
	}
	return x
}

// stopAfter adds to the last step why the run stops after it, so that this needs no commit of its own.
func (e *Engine) stopAfter(ctx context.Context, next metadata.Run, d phases.Decision) (metadata.Run, error) {
	last := phases.Decide(phases.On(e.Plan, next))
	if next.Status == metadata.Running && last.Final() && !d.Final() {
		if take, err := first(ctx, append([]Source{e.policy}, e.Sources...), next, last); err != nil || take != nil {
			return next, nil // it is asked again before the run ends
		}
		return e.apply(next, last, phases.Outcome{At: e.Now()})
	}
	if rec := next.Phase(d.Phase); e.PauseAtGates && next.Status == metadata.Running && rec != nil && rec.Status == metadata.PhaseCompleted {
		pause := phases.Decision{Do: phases.DoWait, Phase: d.Phase, Code: metadata.AwaitingPerson, Why: metadata.Because("paused_at_gate", "phase", d.Phase)}
		return e.apply(next, pause, phases.Outcome{At: e.Now()})
	}
	return next, nil
}

// record commits the record together with the work it describes.
func (e *Engine) record(ctx context.Context, run metadata.Run, d phases.Decision, x effects) error {
	m := phases.CommitMessage{
		Subject: phases.Heading(d) + ": " + phases.ResultLine(run, d, x.outcome), Why: x.outcome.Why.In(prompts.Words(run.Language)), Phase: d.Phase, Step: string(d.Do),
	}
	if d.Final() {
		m.Why = d.Why.In(prompts.Words(run.Language))
	} else {
		m.Attempt, m.USD = phases.AttemptOf(&run, d.Phase).N, x.outcome.Usage.USD
	}
	if x.back != nil {
		m.Why = strings.TrimSpace(fmt.Sprintf("%s\n\nTaken back to %s %s: %s", m.Why, x.back.ToPhase, x.back.ToStep, x.back.Reason))
	}
	x.Message = m.Text(run)
	return e.Write(ctx, run, x.BranchCommit)
}
