package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// endTime is how long the last words of a job may take once it was told to
// stop. GitHub kills it ten seconds after that, and the state comes first.
const endTime = 4 * time.Second

// lastWords gives a context for what is told at the end, also of a job that
// was told to stop.
func lastWords(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), endTime)
}

// finish sees to everything that follows from where a run stopped, and gives
// the run back.
func (b *bot) finish(ctx context.Context) jobEnd {
	ctx, stop := lastWords(ctx)
	defer stop()
	held := b.holding
	first := held || b.orphan // nobody has seen to the end of the run yet
	b.acted = b.acted || first || b.again || b.t.asked.Command.Name == "run"
	b.orphan = false
	run, err := b.engine.Renew(ctx, b.w.run)
	if err != nil {
		return b.broke(ctx, err)
	}
	b.w.run = run
	// What a job before has left undone is done now; what people did since stays.
	if b.w.run.Status == metadata.Completed && (first || b.again || b.t.asked.Command.Name == "run") {
		b.handOver(ctx)
	}
	if first && b.w.run.Status != metadata.Completed {
		b.keepDraft(ctx, b.w.run)
	}
	if first {
		b.checks(ctx, b.w.run)
	}
	for _, comment := range b.owes {
		sign := github.Rocket
		if run.Status == metadata.Failed || run.Status == metadata.Cancelled || run.Status == metadata.Interrupted {
			sign = github.ThumbsDown
		}
		b.outbox.sign(comment, sign)
	}
	b.owes = nil
	if b.acted && len(b.outbox.signs) > b.gh.Room() {
		b.flush(b.w.run) // how the run stands is told before all that
	}
	b.sendAll(ctx, true)
	if err := b.giveBack(ctx); err != nil {
		return b.broke(ctx, err)
	}
	run = b.w.run
	end := jobEnd{decision: toRun}
	if b.deaf != nil {
		end.err = fmt.Errorf("whether people have asked for something else meanwhile is not known: %w; start this job again", b.deaf)
	}
	if run.Stop != nil {
		end.denial = denial{Code: run.Stop.Code, By: b.t.by, What: firstLine(b.t.text), Why: run.Stop.Why}
	} else if run.Status == metadata.Completed {
		end.Code = metadata.Done
	}
	if b.turnedDown != nil && !held {
		return jobEnd{decision: denied, denial: *b.turnedDown, err: errors.New(phases.Say("en", b.turnedDown.Why))}
	}
	return end
}

// halt records that a run cannot go on for a reason outside of it.
func (b *bot) halt(ctx context.Context, run metadata.Run, no *refused) error {
	next := phases.Halt(run, no.code, no.Why(), b.env.now())
	if err := b.engine.Amend(ctx, next, "stopped: "+string(no.code)); err != nil {
		return err
	}
	b.w.run = next
	return nil
}

// failed tells people on the issue why nothing came of what they asked for.
func (b *bot) failed(ctx context.Context, d denial, sign github.Reaction) {
	ctx, stop := lastWords(ctx)
	defer stop()
	if b.in.dry {
		return
	}
	b.react(ctx, sign)
	if b.w != nil && b.live != nil {
		b.told.Warnings = append(b.told.Warnings, d.words(b.language()))
		b.flush(b.w.run)
		return
	}
	if b.t.comment != nil {
		b.refuseTogether(ctx, []refusal{{b.t.comment.ID, d}})
	}
}

// refuseAll answers that what was asked for is not done.
func (b *bot) refuseAll(ctx context.Context, d denial) jobEnd {
	b.react(ctx, github.Confused)
	if b.t.comment != nil {
		b.refuseTogether(ctx, []refusal{{b.t.comment.ID, d}})
	}
	return jobEnd{decision: denied, denial: d}
}

// broke ends a job with an error. The record is as it was last committed, so
// starting again goes on from there.
func (b *bot) broke(ctx context.Context, err error) jobEnd {
	b.job.group("")
	end := jobEnd{decision: toRun, err: err, denial: denial{By: b.t.by, What: firstLine(b.t.text), Why: phases.WhyOf(err)}}
	var no *refused
	switch {
	case taken(err):
		end.decision, end.Code, end.err = ignored, metadata.AlreadyRunning, nil
		end.Why = metadata.Because("taken_before")
		b.outbox = outbox{}
		return end // nothing is told in the name of a run that others work on
	case errors.As(err, &no):
		end.Code = no.code
	case errors.Is(context.Cause(ctx), phases.ErrTimeUp):
		end.Code = metadata.TimedOut
	case ctx.Err() != nil: // whatever was cut off by that looks like a mistake of its own
		end.Code = metadata.RunCancelled
	case errors.As(err, new(later)):
		end.Code = metadata.APIError
	default:
		end.Code = codeFor(err)
	}
	sign := github.ThumbsDown
	if !b.began() && (end.Code == metadata.ConfigInvalid || end.Code == metadata.CredentialsMissing) {
		end.decision, sign = denied, github.Confused
		if errors.As(err, new(*pipelines.UnknownError)) && b.t.comment != nil && b.t.asked.Command.Pipeline != "" {
			end.err = nil // a mistake in a comment is answered, and no fault of the job
		}
	}
	b.failed(ctx, end.denial, sign)
	if b.engine != nil && b.w.run.Status != metadata.Running && !errors.As(err, new(*git.PushError)) {
		if _, err := b.engine.GiveBack(ctx, b.w.run); err != nil {
			b.warn(err) // it is free when this job is over
		}
	}
	return end
}
