package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// holdGate is what CI has to say before the pull request of a bot's run is ready.
type holdGate struct{ *bot }

// ask notes in the record of a run that goes on that CI is to speak before it is completed,
// where there is any; its pull request is a draft until then. The next step commits that.
func (b holdGate) ask(ctx context.Context, run *metadata.Run) {
	if run.CI == nil && !b.askedCI {
		var has bool
		if has, run.Unchecked = b.delivery.hasCI(ctx, b.w.Plan.CI, *run); has {
			run.CI = &metadata.CI{}
		}
	}
	b.askedCI = true
	if run.AwaitsCI() || run.CI != nil && !phases.Decide(phases.On(b.w.Plan, *run)).Final() { // a step is ahead
		b.delivery.Redraft(ctx, *run)
	}
}

// Workflows start a moment after a push, and not all at once: CI has to say twice that all is good, and nothing for
// some time before it counts as having nothing to say.
const (
	looksGood  = 2
	startsSoon = 2 * time.Minute
)

// await waits until CI has spoken of the newest commit, for which the run has stopped, and does what follows from
// that: more is left to do then, or commands have come. Nothing is pushed while it waits, since that would start CI
// anew, and another job may take the run. The run waits on when the time is over.
func (b holdGate) await(ctx context.Context) (more bool, err error) {
	run := b.w.Run
	if !waitsForCI(run) || ctx.Err() != nil {
		return false, nil
	}
	commit, rule := b.w.Repo.Tip(), b.w.Plan.CI
	switch {
	case run.PRNumber == 0:
		return b.pass(ctx, "", "", "")
	case ciOff(rule): // by now
		return b.pass(ctx, commit, "", metadata.Because("ci_unasked"))
	}
	b.delivery.startCI(ctx, rule, run, commit)
	wait, _ := rule.Most()
	began, before, same := b.Env.Now(), "", 0
	for {
		v, err := b.delivery.lookAtCI(ctx, rule, commit)
		if err != nil && ctx.Err() == nil {
			b.voice.warn(err)
			b.voice.flush(run)
			return false, nil // the next event or command looks again
		}
		if said := fmt.Sprint(v.state(), v.Pending, v.Missing, v.Passed); said != before {
			before, same = said, 0
			b.show(run, commit, v)
		}
		same++
		passed := b.Env.Now().Sub(began)
		over := run.Stop.Code == metadata.CIFailed || run.MissesCI() || passed >= wait
		switch state := v.state(); {
		case state == ciRed, over && len(v.Failed) > 0:
			return b.fail(ctx, commit, v)
		case state == ciGreen && same >= looksGood:
			return b.pass(ctx, commit, commit, "")
		case state == ciNothing && !ciSpoke(run) && passed >= min(wait, startsSoon):
			return b.pass(ctx, commit, "", v.silent(commit))
		case over && (state == ciPending || state == ciNothing):
			if next, ok := missCI(run, commit, v, b.Env.Now()); ok {
				return b.turn(ctx, next, "CI has not come") // and people are told
			}
			return false, nil
		}
		if environ.Sleep(ctx, b.inbox.listen()) != nil {
			return false, nil
		}
		if more, err := b.takeRemaining(ctx); more || err != nil {
			return more, err
		}
	}
}

// show shows on the issue what the run waits for. The record keeps to what it says: a commit would start CI anew.
func (b holdGate) show(run metadata.Run, commit string, v ciVerdict) {
	var why []metadata.Reason
	if len(v.Pending) > 0 {
		why = append(why, metadata.Because("ci_pending", "commit", shortCommit(commit), "names", v.Pending))
	}
	if len(v.Missing) > 0 {
		why = append(why, metadata.Because("ci_missing", "commit", shortCommit(commit), "names", v.Missing))
	}
	if len(why) == 0 || run.Stop.Code != metadata.AwaitingCI || run.MissesCI() && len(v.Pending) == 0 {
		return
	}
	run = run.Clone()
	run.Stop.Why = metadata.All(why...)
	b.job.Notice(text.JoinLines(run.Stop.Why.In(prompts.Words(b.voice.language()))))
	b.voice.show(run)
}

// pass makes the pull request ready, if it is still at a commit, and records that the run is completed, and which
// commit CI was good on, or why none. Empty: there is no pull request, or nothing that CI has said.
func (b holdGate) pass(ctx context.Context, at, good string, none metadata.Reason) (bool, error) {
	run := b.w.Run
	if at != "" {
		if err := b.delivery.ready(ctx, run, at); err != nil {
			b.voice.warn(err)
			b.voice.flush(run)
			return false, nil
		}
	}
	subject := "CI is good"
	if good == "" {
		subject = "nothing of CI is waited for"
	}
	return b.turn(ctx, passCI(phases.On(b.w.Plan, run), good, none, b.Env.Now()), subject)
}

// fail has the work revised for what failed, or stops the run for a person.
func (b holdGate) fail(ctx context.Context, commit string, v ciVerdict) (bool, error) {
	run := b.w.Run
	fixes := ciFixes(run)
	_, most := b.w.Plan.CI.Most()
	if fixes < most && run.Stop.Code != metadata.CIFailed {
		back, ok, err := fixCI(phases.On(b.w.Plan, run), commit, b.delivery.evidence(ctx, v.Failed, b.Env.Finder().Mask), b.Env.Now())
		if err != nil {
			return false, err
		}
		if ok {
			if err := b.engine.Rollback(ctx, back, nil); err != nil {
				return false, err
			}
			b.keep(back.Run)
			if run.MissesCI() { // people were told that it had not come
				b.delivery.foldWord(ctx, run)
			}
			b.holding, b.acted = true, true
			return true, nil
		}
	}
	if run.Stop.Code == metadata.CIFailed {
		return false, nil // people know
	}
	return b.turn(ctx, giveUpCI(phases.On(b.w.Plan, run), commit, checkNames(v.Failed), b.Env.Now()), "stopped: "+string(metadata.CIFailed))
}

// turn records how a run goes on after CI has spoken: this process has it then.
func (b holdGate) turn(ctx context.Context, next metadata.Run, subject string) (bool, error) {
	if err := b.amend(ctx, next, subject); err != nil {
		return false, err
	}
	b.holding, b.acted = true, true
	return true, nil
}
