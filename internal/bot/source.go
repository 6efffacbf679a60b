package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// inOrder does one thing after the other, up to the first that fails.
func inOrder(ctx context.Context, all ...func(context.Context) error) error {
	for _, do := range all {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Steer takes what has come from outside since, and brings what the record says about the forge up to date. It is called
// between two steps, and when the run has stopped. What a run listens to is this list: each source takes what has come
// from one place into the record, and commits that.
func (b *bot) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	b.keep(run)
	b.inbox.look(ctx, true) // the next step costs more than asking
	err := inOrder(ctx, b.drain, b.lookAtIssue, b.lookAtIssues, b.keepChildren, b.goOn, b.keepLinks)
	return b.w.Run, err
}

// amend commits what has become of the run from outside.
func (b *bot) amend(ctx context.Context, next metadata.Run, subject string) error {
	err := b.engine.Amend(ctx, next, subject)
	if err == nil {
		b.keep(next)
		b.unpushed = nil
	}
	return err
}

// later says why a command, and all commands after it, have to wait.
type later struct{ error }

// drain takes all commands that wait, in order, including those that are given meanwhile.
func (b *bot) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		all := b.inbox.pending(b.w.Run)
		if len(all) == 0 {
			b.inbox.look(ctx, false)
			all = b.inbox.pending(b.w.Run)
		}
		if len(all) == 0 {
			break
		}
		err := b.take(ctx, all[0])
		if wait := (later{}); errors.As(err, &wait) {
			b.voice.warn(wait)
			b.inbox.postpone(wait)
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take does what a comment asks for, or says why not.
func (b *bot) take(ctx context.Context, c waiting) error {
	if c.idle(phases.On(b.w.Plan, b.w.Run)) {
		b.inbox.markDone(c)
		return nil
	}
	o := b.inbox.request(b.w.Run, c)
	no, denied := errors.AsType[*command.Refusal](b.inbox.may(ctx, c.Comment.Author, c.Parsed.Role(), true))
	edited := !denied && c.Comment.Edited()
	switch {
	case denied && no.Code == metadata.APIError:
		return later{no}
	case edited:
		no = command.Refuse(metadata.PermissionDenied, metadata.Because("comment_edited"))
	case !denied && b.shut != nil && o.Name != "cancel": // its own job has said so
		no = b.shut
	}
	if no != nil {
		d := command.Denial{Code: no.Code, By: o.By, What: text.FirstLine(c.Comment.Body), Why: no.Why(), Kept: no.Code == metadata.PermissionDenied && !edited}
		if c.Review != nil {
			d.What = "/" + o.Name
		}
		if len(b.voice.denials()) < 50 {
			b.voice.note(d) // on the page of the job; the issue shows what those with the right say
		}
		b.inbox.markDone(c)
		if edited { // people without the right must not keep a run waiting with a hundred comments
			b.voice.outbox.refuse(c.Comment.ID, d)
		}
		return nil
	}
	mine := c.Comment.ID == b.Trigger.said() || c.Review != nil
	if c.Parsed.Outcome == command.Mistaken || o.Now() {
		b.inbox.markDone(c)
		if !mine { // its own job answers it, unless that ended early
			b.voice.outbox.answer(c)
		}
		return nil
	}
	if !mine && !c.Signs.Eyes {
		b.voice.outbox.sign(c.Comment.ID, github.Eyes)
	}
	err := b.obey(ctx, o)
	if err == nil {
		b.inbox.markDone(c)
	}
	return err
}

// lookAtIssue cancels a run whose issue was closed, which is the plainest way to stop one.
func (b *bot) lookAtIssue(ctx context.Context) error {
	defer b.voice.send(ctx)
	if b.w.Run.Status == metadata.Running {
		if code, why := b.closed(ctx); code == metadata.StaleEvent {
			next, _ := phases.Cancel(b.w.Run, why, b.Env.Now()) // it is running
			return b.amend(ctx, next, "the issue is closed")
		}
	}
	return nil
}

// lookAtIssues looks at the issues that the run waits for: once all of them are closed, it goes on. What GitHub does not
// say is asked again by the next job.
func (b *bot) lookAtIssues(ctx context.Context) error {
	phase, issues := phases.AwaitedBy(b.w.Run)
	if len(issues) == 0 || ctx.Err() != nil {
		return nil
	}
	found, err := b.awaited(ctx, issues)
	b.voice.warnOf(err)
	next, changed := phases.LookedAtIssues(b.w.Run, phase, found, b.Env.Now())
	if err != nil || !changed {
		return nil
	}
	err = b.amend(ctx, next, "the issues that "+phase+" waits for")
	b.acted, b.holding = true, b.holding || err == nil && next.Status == metadata.Running
	return err
}

// takeOver goes on with a run without a command: this job was started again for that, or the job that had the run is gone.
func (b *bot) takeOver(ctx context.Context) error {
	why, run := "", b.w.Run
	switch {
	case b.holding:
	case b.restarted && slices.Contains([]metadata.Status{metadata.Running, metadata.Interrupted, metadata.Failed}, run.Status):
		why = "the job was started again"
	case b.orphan && (run.Status == metadata.Running || run.Status == metadata.Interrupted):
		why = "the job that had the run is gone"
	}
	next := phases.TakeUp(run, phases.Start{At: b.Env.Now()})
	if why == "" || next.Status != metadata.Running {
		return nil
	}
	if err := b.amend(ctx, next, why); err != nil {
		return err
	}
	b.holding = true
	if c := b.Trigger.Comment; c != nil && b.restarted {
		b.voice.obeyed(b.Trigger.Requested.Command.Name, c.ID)
	}
	return nil
}

// goOn takes up a run whose step was ended for a command that then had no effect.
func (b *bot) goOn(ctx context.Context) error {
	if b.w.Run.Status == metadata.Interrupted && ctx.Err() == nil {
		b.keep(phases.TakeUp(b.w.Run, phases.Start{At: b.Env.Now()}))
	}
	return nil
}

// keepChildren opens the issues that a run asks for. Each is noted in a commit before anything else happens, so that
// a rollback knows which of them are open. One that cannot be opened is a warning; the next job tries again.
func (b *bot) keepChildren(ctx context.Context) error {
	for _, child := range phases.ToOpen(phases.On(b.w.Plan, b.w.Run)) {
		made := b.delivery.openChild(ctx, b.w.Run, child)
		if made == nil {
			continue
		}
		if err := b.amend(ctx, phases.Opened(b.w.Run, child.ID, made.Number, made.URL, b.Env.Now()), fmt.Sprintf("issue %d is open", made.Number)); err != nil {
			return err
		}
	}
	return nil
}

// keepLinks notes which comment and which pull request are those of the run.
func (b *bot) keepLinks(ctx context.Context) error {
	run := b.w.Run
	if changed := b.voice.keepComment(&run); b.delivery.keepPull(ctx, b.w, &run) || changed {
		return b.note(ctx, run)
	}
	b.keep(run)
	return nil
}

// note commits what has changed in a record besides the run itself: together with the next step or, if there is none, in
// a commit of its own. The record is kept also if that cannot be pushed.
func (b *bot) note(ctx context.Context, run metadata.Run) error {
	b.keep(run)
	if run.Status == metadata.Running {
		return nil
	}
	b.keep(phases.Touch(run, b.Env.Now()))
	return b.engine.Amend(ctx, b.w.Run, "comment and pull request")
}

// reconcile tells people what a job that ended early could not tell them any more: the answers to questions, mistakes
// and refused commands, and the reactions. A slow job may still do that itself, so it is done only after some time,
// or once the job that had the run is known to be gone.
func (b *bot) reconcile(ctx context.Context) {
	run, now := b.w.Run, b.Env.Now()
	taken := map[int64]metadata.Decision{}
	for _, d := range run.Decisions {
		if b.orphan || now.Sub(d.At) > lookBack {
			taken[d.Comment] = d
		}
	}
	for _, c := range b.inbox.past(run) {
		id := c.Comment.ID
		d, known := taken[id]
		why, refused := command.WhyRefused(d.Why)
		question := c.Parsed.Outcome == command.Mistaken || c.Parsed.Outcome == command.Understood && c.Parsed.Command.Now()
		if known && !b.inbox.isAnswered(id) {
			b.voice.outbox.opinion(d)
		}
		switch answered := b.inbox.isAnswered(id); {
		case refused && !answered && why != whyNoMoreBots():
			b.voice.outbox.refuse(id, command.Denial{Code: metadata.NothingDone, By: d.By, What: "/" + d.Step, Why: why, Known: true})
		case refused && b.orphan && !b.inbox.Signs(ctx, c.Comment).Confused:
			b.voice.outbox.sign(id, github.Confused)
		case refused:
		case known && b.orphan && !b.inbox.Signs(ctx, c.Comment).Settled:
			b.voice.obeyed(d.Step, id)
		case !answered && question && b.inbox.overdue(c.Comment) && !c.Comment.Edited() && b.inbox.Signs(ctx, c.Comment).mayBeSigned() && b.inbox.may(ctx, c.Comment.Author, c.Parsed.Role(), false) == nil:
			b.voice.outbox.answer(c)
		}
	}
}

// Urgent looks at the comments while an agent works, until one of them makes that work pointless. Another goroutine than
// the bot's calls it, so that it goes by parts that have a lock.
func (b *bot) Urgent(ctx context.Context, now func() metadata.Run) error {
	about := b.voice.subject()
	return listen(ctx, b.inbox, func() error {
		about.Run = now()
		for _, c := range b.inbox.pending(about.Run) {
			switch {
			case !ends(ctx, b.inbox, about.Course, c, "", "cancel", "rollback"):
			case c.Parsed.Command.Name == "cancel":
				return engine.ErrCancelled
			default:
				return engine.ErrSteered
			}
		}
		b.voice.send(ctx)
		return nil
	})
}

// listen looks at the comments again and again until act gives an error, or ctx ends.
func listen(ctx context.Context, in *inbox, act func() error) error {
	for environ.Sleep(ctx, in.listen()) == nil {
		in.look(ctx, true)
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// ends reports whether somebody with the right has given one of some commands that ends the step under way or, where only
// a part is done here, the work on that. A command that will be refused does not, and neither does one whose effect is
// not known yet.
func ends(ctx context.Context, in *inbox, of phases.Course, c waiting, part string, commands ...string) bool {
	cmd := c.Parsed.Command
	settled := c.Parsed.Outcome == command.Understood && !c.Comment.Edited() && !cmd.DryRun && !cmd.Auto
	if !slices.Contains(commands, cmd.Name) || !settled || in.may(ctx, c.Comment.Author, c.Parsed.Role(), false) != nil {
		return false
	}
	if cmd.Name == "cancel" || cmd.Name == "pause" {
		return true // this also holds for an agent that is only asked about the run
	}
	x, err := in.request(of.Run, c).Apply(of, true)
	if err != nil || part == "" {
		return err == nil
	}
	now, then := of.Run.Phase(part), x.Run.Phase(part)
	return then == nil || then.Generation != now.Generation || then.Status == metadata.PhaseSkipped
}
