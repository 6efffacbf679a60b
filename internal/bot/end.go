package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// endTime is how long the last messages of a job may take once it was told to
// stop. GitHub kills it ten seconds after that, and saving the state comes
// first.
const endTime = 4 * time.Second

// lastWords gives a context for what is told at the end, also of a job that
// was told to stop.
func lastWords(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), endTime)
}

// finish does everything that follows from how a run stopped, and gives the run
// back.
func (b *bot) finish(ctx context.Context) jobEnd {
	ctx, stop := lastWords(ctx)
	defer stop()
	held := b.lease.holding
	first := held || b.lease.orphan // nobody has seen to the end of the run yet
	b.acted = b.acted || first || b.again || b.t.Requested.Command.Name == "run"
	b.lease.orphan = false
	run, err := b.engine.Renew(ctx, b.w.Run)
	if err != nil {
		return b.broke(ctx, err)
	}
	b.keep(run)
	// What an earlier job has left undone is done now; what people have done
	// since stays.
	if b.w.Run.Status == metadata.Completed && (first || b.again || b.t.Requested.Command.Name == "run") {
		b.handOver(ctx)
	}
	if first && b.w.Run.Status != metadata.Completed {
		b.delivery.KeepDraft(ctx, b.w.Plan, b.w.Run)
	}
	if first {
		b.delivery.Checks(ctx, b.w.Run)
	}
	if first || b.obeyed > 0 || b.again {
		b.delivery.CloseGivenUp(ctx, b.w.Run, b.inbox.Start())
		b.tellPeople(ctx)
	}
	if first || b.again {
		b.statuses.Keep(ctx, b.w.Plan, b.w.Run, b.w.Repo.Tip())
	}
	b.voice.ended(run.Status)
	if b.acted && b.voice.outbox.reactions() > b.gh.Room() {
		b.voice.flush(b.w.Run) // the state of the run is shown before all that
	}
	b.voice.sendAll(ctx, b.hasCommand(ctx))
	if err := b.giveBack(ctx); err != nil {
		return b.broke(ctx, err)
	}
	run = b.w.Run
	end := jobEnd{decision: toRun}
	if unknown := b.inbox.Err(); unknown != nil {
		end.err = fmt.Errorf("whether people have asked for something else meanwhile is not known: %w; start this job again", unknown)
	}
	if run.Stop != nil {
		end.Denial = page.Denial{Code: run.Stop.Code, By: b.t.By, What: text.FirstLine(b.t.Text), Why: run.Stop.Why}
	} else if run.Status == metadata.Completed {
		end.Code = metadata.Done
	}
	if b.turnedDown != nil && !held {
		return jobEnd{decision: denied, Denial: *b.turnedDown, err: errors.New(b.turnedDown.Why.In(prompts.Words("en")))}
	}
	return end
}

// hasCommand gives a function that reports whether there is a command to take.
func (b *bot) hasCommand(ctx context.Context) func() bool {
	return func() bool {
		b.inbox.Look(ctx, false)
		return len(b.inbox.Pending(b.w.Run)) > 0
	}
}

// handOver hands over the work of a completed run.
func (b *bot) handOver(ctx context.Context) {
	run := b.w.Run
	if opened := b.delivery.KeepPull(ctx, b.w, &run); delivery.ProposeNotes(ctx, b.delivery, b.w, &run) || opened {
		next, err := b.note(ctx, run)
		b.keep(next)
		b.voice.warnOf(err)
	}
	b.delivery.HandOver(ctx, b.w, run)
}

// tellPeople tells people that the run has stopped, answers the reviews that were
// taken, and notes both.
func (b *bot) tellPeople(ctx context.Context) {
	run := b.w.Run
	b.delivery.KeepLabel(ctx, run)
	answered := b.delivery.AnswerReviews(ctx, &run, b.w.Repo.Tip())
	if b.delivery.TellStop(ctx, b.w.Plan, &run) || answered {
		next, err := b.note(ctx, run)
		b.keep(next)
		b.voice.warnOf(err)
	}
}

// halt records that a run cannot go on for a reason outside of it.
func (b *bot) halt(ctx context.Context, run metadata.Run, no *command.Refusal) error {
	next := phases.Halt(run, no.Code, no.Why(), b.env.Now())
	if err := b.engine.Amend(ctx, next, "stopped: "+string(no.Code)); err != nil {
		return err
	}
	b.keep(next)
	return nil
}

// giveBack shows the final state of a run that has stopped, and releases the
// run. No other job begins before that, so people never read messages of two
// jobs.
func (b *bot) giveBack(ctx context.Context) error {
	if !b.acted && b.w.Run.GitHubIntegration.ProgressCommentID > 0 {
		return b.letGo(ctx) // the comment says what it said before this job
	}
	shown := b.w.Run
	if b.engine.Holds() || b.engine.StaleLease {
		shown = phases.Touch(shown, b.env.Now())
	}
	b.voice.flush(shown)
	return b.letGo(ctx)
}

// letGo lets go of the run.
func (b *bot) letGo(ctx context.Context) error {
	next, err := b.lease.release(ctx, b.w.Run)
	if err != nil && !lostRace(err) {
		b.voice.warn(err) // it is free when this job is over
		err = nil
	}
	b.keep(next)
	return err
}
