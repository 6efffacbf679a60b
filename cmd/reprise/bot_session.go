package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// session opens the run of the issue, takes the commands that wait, and works
// until there is nothing more to do or a person is needed.
func (b *bot) session(ctx context.Context) jobEnd {
	if b.in.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, b.in.timeout, phases.ErrTimeUp)
		defer stop()
	}
	no := b.closed(ctx)
	if b.shut = no != nil; b.shut && b.t.asked.Command.Name != "cancel" {
		return b.refuseAll(ctx, *no)
	}
	if b.in.dry {
		return b.rehearse(ctx)
	}
	if err := b.read(ctx, true); err != nil {
		return b.broke(ctx, err) // what was asked before is done before
	}
	defer func() {
		ctx, stop := lastWords(ctx)
		defer stop()
		b.sendAll(ctx, false)
		if b.w == nil {
			return
		}
		if err := b.w.close(); err != nil {
			b.warn(err)
		}
	}()
	for try := 1; ; try++ {
		end, err := b.enter(ctx)
		switch {
		case errors.As(err, new(*git.Moved)) && taken(err) && try < mostRaces && (b.engine == nil || !b.engine.Holds()) && ctx.Err() == nil:
			b.warnOf(b.leave()) // somebody was faster, and may have left what this job is for
			continue
		case err != nil:
			return b.broke(ctx, err)
		case end != nil:
			return *end
		}
		return b.goThrough(ctx)
	}
}

// mostRaces bounds how often a job begins anew because somebody else has
// pushed at the same moment.
const mostRaces = 5

// enter opens the run and takes what waits. What it returns besides an error is
// how the job ends at once.
func (b *bot) enter(ctx context.Context) (*jobEnd, error) {
	end, err := b.open(ctx)
	if err == nil && end == nil {
		err = b.reach(ctx, b.w.run)
	}
	if err != nil {
		return nil, err
	}
	b.takeLabel(ctx)
	if end != nil {
		return end, nil
	}
	b.makeGood(ctx)
	return nil, b.begin(ctx)
}

// leave closes the run.
func (b *bot) leave() error {
	w := b.w
	b.w, b.engine, b.holding, b.orphan, b.outbox = nil, nil, false, false, outbox{}
	if w == nil {
		return nil
	}
	return w.close()
}

// warnOf tells of an error, if there is one.
func (b *bot) warnOf(err error) {
	if err != nil {
		b.warn(err)
	}
}

// begin takes what waits: the commands of people, in order, and then what a
// label or a form asks for.
func (b *bot) begin(ctx context.Context) error {
	run, err := b.w.run, error(nil)
	if b.t.asked.Command.Name != "cancel" { // which is all that a closed issue takes
		// A job that was killed may have opened some, and a rollback must know.
		run, err = b.keepChildren(ctx, run)
	}
	if err == nil {
		run, err = b.drain(ctx, run)
	}
	if err == nil && !b.holding {
		err = b.deaf
	}
	if err != nil {
		return err
	}
	if b.t.comment == nil && !b.holding && !b.obeyedBefore(run) {
		run, err = b.obey(ctx, run, order{slashCommand: b.t.asked.Command, by: b.t.by, at: b.env.now()})
	}
	b.w.run = run
	return err
}

// jobOf names the job that gives an order which stands in no comment.
func (b *bot) jobOf(o order) string {
	if me, ok := jobIn(b.me); ok && o.comment == 0 {
		return fmt.Sprintf("actions/%d", me.run)
	}
	return ""
}

// obeyedBefore reports whether this job was started again and has obeyed its
// order the first time.
func (b *bot) obeyedBefore(run metadata.Run) bool {
	job := b.jobOf(order{})
	return b.again && job != "" && slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Job == job })
}

// newest is the newest comment there is, or "".
func (b *bot) newest() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := int64(0)
	for _, c := range b.queue.list {
		id = max(id, c.ID)
	}
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// goThrough runs the engine to where it stops, and sees to the rest.
func (b *bot) goThrough(ctx context.Context) jobEnd {
	if err := b.takeOver(ctx); err != nil {
		return b.broke(ctx, err) // two may have been started
	}
	if b.obeyed == 0 && !b.again && !b.orphan && !b.engine.Holds() {
		return jobEnd{decision: ignored, denial: denial{Code: metadata.StaleEvent, By: b.t.by, What: firstLine(b.t.text), Why: metadata.Because("taken_elsewhere")}}
	}
	for {
		if err := b.work(ctx); err != nil {
			return b.broke(ctx, err)
		}
		end := b.finish(ctx)
		more, err := b.left(ctx)
		if err != nil {
			return b.broke(ctx, err)
		}
		if !more {
			return end
		}
	}
}

// takeOver goes on with a run that no command of this job has set going: the job
// was started again for that, or the one that had the run is gone.
func (b *bot) takeOver(ctx context.Context) error {
	run, why := b.w.run, ""
	switch {
	case b.holding || b.shut:
	case b.again && slices.Contains([]metadata.Status{metadata.Running, metadata.Interrupted, metadata.Failed}, run.Status):
		why = "the job was started again"
	case b.orphan && (run.Status == metadata.Running || run.Status == metadata.Interrupted):
		why = "the job that had the run is gone"
	}
	if why == "" {
		return nil
	}
	next := phases.TakeUp(run, phases.Start{At: b.env.now()})
	if next.Status != metadata.Running {
		return nil
	}
	if err := b.engine.Amend(ctx, next, why); err != nil {
		return err
	}
	b.w.run, b.holding = next, true
	if c := b.t.comment; c != nil && b.again {
		b.obeyedIn(b.t.asked.Command.Name, c.ID)
	}
	return nil
}

// work runs the engine to where it stops. What could not be looked at on the
// way is looked at once more at its end.
func (b *bot) work(ctx context.Context) error {
	run, err := b.w.run, error(nil)
	if run.Status == metadata.Running && b.holding {
		run, err = b.carryOn(ctx, run)
	}
	if err == nil && b.deaf != nil && ctx.Err() == nil {
		if run, err = b.Steer(ctx, run); err == nil && run.Status == metadata.Running {
			run, err = b.carryOn(ctx, run)
		}
	}
	if err == nil {
		b.w.run = run
	}
	return err
}

// carryOn runs the engine, once everything is there that it needs.
func (b *bot) carryOn(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	run, err := b.engine.Renew(ctx, run)
	if err != nil {
		return run, err
	}
	err = b.able(ctx, run)
	var no *refused
	if errors.As(err, &no) {
		return run, errors.Join(err, b.halt(ctx, run, no))
	}
	if err != nil {
		return run, err
	}
	if err := agents.Harden(); err != nil {
		b.warn(err)
	}
	b.show(run)
	b.keepComment(&run)
	b.keepDraft(ctx, run)
	run, err = b.engine.Run(ctx, run)
	b.job.group("")
	return run, err
}
