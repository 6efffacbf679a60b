package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// session opens the run of the issue, takes the commands that wait, and works
// until there is nothing more to do or a person is needed.
func (b *bot) session(ctx context.Context) error {
	ctx, stop := b.In.within(ctx)
	defer stop()
	b.delivery = b.newDelivery()
	b.statuses = &statuses{delivery: b.delivery}
	code, why := b.closed(ctx)
	if code != "" && b.Trigger.Requested.Command.Name != "cancel" && b.In.Command != setup.JoinOnly { // which ends what is under way
		return b.refuseAll(ctx, code, why)
	}
	if code != "" {
		b.shut = command.Refuse(code, why)
	}
	if b.In.Dry {
		return b.endBy(ctx, b.rehearse(ctx))
	}
	if err := b.inbox.Read(ctx, true); err != nil {
		return b.broke(ctx, err) // earlier requests come first
	}
	defer func() {
		ctx, stop := lastWords(ctx)
		defer stop()
		b.voice.sendAll(ctx, func() bool { return false })
		if b.w != nil {
			b.voice.warnOf(b.w.Close())
		}
	}()
	err := b.enter(ctx)
	for try := 1; errors.As(err, new(*git.Moved)) && lostRace(err) && try < mostRaces && (b.engine == nil || !b.engine.Holds()) && ctx.Err() == nil; try++ {
		b.voice.warnOf(b.leave()) // another job was faster, and may have left this job's work undone
		err = b.enter(ctx)
	}
	if err == nil {
		err = b.runToStop(ctx)
	}
	return b.endBy(ctx, err)
}

// mostRaces is how often a job begins anew because somebody else has pushed at the same moment.
const mostRaces = 5

// enter opens the run and takes what waits.
func (b *bot) enter(ctx context.Context) error {
	err := b.open(ctx)
	if err == nil {
		err = b.inbox.reach(ctx, b.w.Run)
	}
	if err == nil || errors.As(err, new(*jobEnd)) {
		b.takeLabel(ctx)
	}
	if err != nil {
		return err
	}
	if !b.orphan {
		b.inbox.leaveReviews()
	}
	b.reconcile(ctx)
	return b.begin(ctx)
}

// leave closes the run.
func (b *bot) leave() error {
	w := b.w
	b.engine = nil
	b.turnTo(nil)
	b.voice.engine.Store(nil)
	b.holding, b.orphan = false, false
	b.voice.outbox.clear()
	if w == nil {
		return nil
	}
	return w.Close()
}

// begin takes what waits: the commands of people, in order, and then what a label or a form asks for.
func (b *bot) begin(ctx context.Context) error {
	sources := []func(context.Context) error{b.drain}
	if b.Trigger.Requested.Command.Name != "cancel" { // which is all that a closed issue takes
		// A job that was killed may have opened some, and a rollback must know.
		sources = []func(context.Context) error{b.keepChildren, b.lookAtIssues, b.drain}
	}
	err := inOrder(ctx, sources...)
	if err == nil && !b.holding {
		err = b.inbox.Err()
	}
	obeyed := func(d metadata.Decision) bool { return d.Job != "" && d.Job == jobOf(b.me) } // by this job, before it was started again
	if err == nil && b.Trigger.byForm() && !b.holding && !(b.restarted && slices.ContainsFunc(b.w.Run.Decisions, obeyed)) {
		err = b.obey(ctx, command.Request{Command: b.Trigger.Requested.Command, By: b.Trigger.By, At: b.Env.Now()})
	}
	return err
}

// runToStop runs the engine until it stops, does what follows from that, and says how the job ends.
func (b *bot) runToStop(ctx context.Context) error {
	if b.shut == nil {
		if err := b.takeOver(ctx); err != nil {
			return err // two may have been started
		}
	} else if b.w.Run.Status == metadata.Running {
		if err := b.lookAtIssue(ctx); err != nil {
			return err
		}
		if b.w.Run.Status != metadata.Running {
			b.obeyed, b.acted = b.obeyed+1, true
		}
	}
	if idle := b.obeyed == 0 && !b.orphan && !b.engine.Holds(); idle {
		if b.Trigger.Red && tellLate(ctx, b.delivery, phases.On(b.w.Plan, b.w.Run), b.w.Repo.Tip()) {
			return &jobEnd{decision: replied}
		}
		if !b.restarted && !(b.Trigger.CI && goesOnAlone(b.w.Run)) {
			if !b.delivery.owes(phases.On(b.w.Plan, b.w.Run)) {
				return b.ignore(metadata.StaleEvent, metadata.Because("taken_elsewhere"))
			}
			b.acted = true // people are told of it
			end := b.finish(ctx)
			if end.err == nil {
				end = &jobEnd{decision: replied}
			}
			return end
		}
	}
	for {
		if err := b.work(ctx); err != nil {
			return err
		}
		if b.due != nil {
			return b.handOn(ctx)
		}
		end := b.finish(ctx)
		more, err := b.takeRemaining(ctx)
		if err == nil && !more {
			more, err = holdGate{b}.await(ctx)
		}
		if err != nil {
			return err
		}
		if !more {
			return end
		}
	}
}

// work runs the engine until it stops.
func (b *bot) work(ctx context.Context) error {
	run, err := b.w.Run, error(nil)
	if run.Status == metadata.Running && b.holding {
		run, err = b.carryOn(ctx, run)
		if errors.As(err, new(*engine.NotPushed)) {
			b.unpushed = &run
		}
	}
	if err == nil && b.inbox.Err() != nil && ctx.Err() == nil {
		if run, err = b.Steer(ctx, run); err == nil && run.Status == metadata.Running {
			run, err = b.carryOn(ctx, run)
		}
	}
	if err == nil {
		b.keep(run)
		ctx, stop := lastWords(ctx)
		defer stop()
		err = b.engine.Finish(ctx, run, b.voice.warn) // a branch that is ready does not have the run's folder
	}
	return err
}

// carryOn runs the engine, once everything is there that it needs.
func (b *bot) carryOn(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	run, err := b.engine.Renew(ctx, run)
	if err == nil {
		b.keep(run)
		err = b.lookAtIssue(ctx)
	}
	if err != nil || b.w.Run.Status != metadata.Running {
		return b.w.Run, err
	}
	run = b.w.Run
	err = b.preflight.Check(ctx, b.w, b.opening(nil), b.delivery.base(b.w), run)
	if no, is := errors.AsType[*command.Refusal](err); is { // it is stopped by what is outside of it
		next := phases.Halt(run, no.Code, no.Why(), b.Env.Now())
		return run, errors.Join(err, b.amend(ctx, next, "stopped: "+string(no.Code)))
	}
	if err != nil {
		return run, err
	}
	b.voice.warnOf(process.Harden())
	b.voice.show(run)
	b.voice.keepComment(&run)
	b.delivery.keepLabel(ctx, run)
	b.delivery.look(ctx, run)
	b.delivery.keepDraft(ctx, phases.On(b.w.Plan, run))
	holdGate{b}.ask(ctx, &run)
	run, err = b.engine.Run(ctx, run)
	b.job.Group("")
	if errors.As(err, &b.due) {
		err = nil
	}
	return run, err
}

// takeRemaining takes the commands that came while this job had the run and
// that other jobs have left to it. It reports whether there were any.
func (b *bot) takeRemaining(ctx context.Context) (bool, error) {
	if ctx.Err() != nil {
		return false, nil
	}
	b.inbox.look(ctx, true)
	if len(b.inbox.pending(b.w.Run)) == 0 {
		return false, nil
	}
	before := b.w.Run.Revision
	err := b.drain(ctx)
	if lostRace(err) {
		return false, nil // by another job, which does the rest as well
	}
	return b.w.Run.Revision != before, err
}

// handOn leaves the run to other jobs, which do parts of it.
func (b *bot) handOn(ctx context.Context) error {
	b.voice.sendAll(ctx, b.hasCommand(ctx))
	run, err := LeaveParts(ctx, b.w, b.engine, b.due)
	if err != nil {
		return err
	}
	b.keep(run)
	b.voice.change(func(n *page.Notices) { n.Elsewhere = b.due.Parts })
	b.voice.flush(run)
	b.holding = false
	return &jobEnd{decision: toRun, matrix: b.due.matrix()}
}

// endTime is how long the last messages of a job may take once it was told to stop. GitHub kills it ten seconds after
// that, and saving the state comes first.
const endTime = 4 * time.Second

// lastWords gives a context for what is told at the end, also of a job that was told to stop.
func lastWords(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), endTime)
}

// finish does everything that follows from how a run stopped, and gives the run back.
func (b *bot) finish(ctx context.Context) *jobEnd {
	ctx, stop := lastWords(ctx)
	defer stop()
	held := b.holding
	first := held || b.orphan // nobody has seen to the end of the run yet
	b.acted = b.acted || first || b.restarted || b.Trigger.asksToRun()
	b.orphan = false
	run, err := b.engine.Renew(ctx, b.w.Run)
	if err != nil {
		return b.broke(ctx, err)
	}
	b.keep(run)
	if b.acted {
		b.delivery.lookAtChecks(ctx, b.w.Plan.CI, &run, b.w.Repo.Tip())
		b.keep(run)
	}
	// What an earlier job has left undone is done now; what people have done since stays.
	owes := b.delivery.owes(phases.On(b.w.Plan, b.w.Run))
	if owes || b.w.Run.Status == metadata.Completed && (first || b.restarted || b.Trigger.asksToRun()) {
		run := b.w.Run
		if b.delivery.keepPull(ctx, b.w, &run) {
			b.voice.warnOf(b.note(ctx, run))
		}
		b.delivery.handOver(ctx, b.w, run)
	}
	if first && b.w.Run.Status != metadata.Completed {
		b.delivery.keepDraft(ctx, phases.On(b.w.Plan, b.w.Run))
	}
	if first {
		b.delivery.startChecks(ctx, b.w.Run)
	}
	if first || b.obeyed > 0 || b.restarted || owes {
		b.delivery.closeGivenUp(ctx, b.w.Run, b.inbox.Start())
		b.tellPeople(ctx)
	}
	if first || b.restarted {
		b.statuses.Keep(ctx, phases.On(b.w.Plan, b.w.Run), b.w.Repo.Tip())
	}
	b.voice.ended(run.Status)
	if b.acted && b.voice.outbox.reactions() > b.GitHub.FreeWrites() {
		b.voice.flush(b.w.Run) // the state of the run is shown before all that
	}
	b.voice.sendAll(ctx, b.hasCommand(ctx))
	if err := b.giveBack(ctx); err != nil {
		return b.broke(ctx, err)
	}
	run = b.w.Run
	end := &jobEnd{decision: toRun}
	if unknown := b.inbox.Err(); unknown != nil {
		end.err = fmt.Errorf("whether people have asked for something else meanwhile is not known: %w; start this job again", unknown)
	}
	if run.Stop != nil {
		end.Denial = b.denial(run.Stop.Code, run.Stop.Why)
	} else if run.Status == metadata.Completed {
		end.Code = metadata.Done
	}
	if b.turnedDown != nil && !held {
		return &jobEnd{decision: denied, Denial: *b.turnedDown, err: errors.New(b.turnedDown.Why.In(prompts.Words("en")))}
	}
	return end
}

// hasCommand gives a function that reports whether there is a command to take before the forge bears another message.
func (b *bot) hasCommand(ctx context.Context) func() bool {
	return func() bool {
		if b.GitHub.FreeWrites() > 0 {
			return false
		}
		b.inbox.look(ctx, false)
		return len(b.inbox.pending(b.w.Run)) > 0
	}
}

// tellPeople tells people that the run has stopped, answers the reviews that were taken, and notes both.
func (b *bot) tellPeople(ctx context.Context) {
	run := b.w.Run
	b.delivery.keepLabel(ctx, run)
	answered := b.delivery.answerReviews(ctx, b.w.Repo, &run)
	if b.delivery.tellStop(ctx, b.w.Plan, &run) || answered {
		b.voice.warnOf(b.note(ctx, run))
	}
}

// giveBack shows the final state of a run that has stopped, and releases the run. No other job begins before that, so
// people never read messages of two jobs.
func (b *bot) giveBack(ctx context.Context) error {
	if b.acted || b.w.Run.GitHubIntegration.ProgressCommentID == 0 { // else the comment says what it said before this job
		shown := b.w.Run
		if b.engine.Holds() || b.engine.StaleLease {
			shown = phases.Touch(shown, b.Env.Now())
		}
		b.voice.flush(shown)
	}
	next, err := b.engine.GiveBack(ctx, b.w.Run)
	b.holding = false
	if err != nil && !lostRace(err) {
		b.voice.warn(err) // it is free when this job is over
		err = nil
	}
	b.keep(next)
	return err
}
