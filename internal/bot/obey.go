package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// obey carries out a command and commits what it does together with the note that it was taken. A refused command is
// noted, too, so that it is not obeyed later, when nobody expects it any more.
func (b *bot) obey(ctx context.Context, run metadata.Run, o command.Request) (metadata.Run, error) {
	x, err := b.decide(ctx, run, o)
	spent := run
	if x.Since != nil {
		run, spent, o.At = *x.Since, x.Run, b.Env.Now()
	}
	var no *command.Refusal
	if errors.As(err, &no) {
		x = command.Effect{Run: spent, Phase: "", Why: command.Refused(exit.Why(err))}
	} else if err != nil {
		return run, err
	}
	x.Why = o.Without(x.Why)
	if o.Review != nil {
		o.Review.At = o.At
		switch {
		case no != nil:
			o.Review.Refused, o.Review.Comments = no.Why(), nil
		case x.Back != nil:
			o.Review.Phase = x.Back.Entry.ToPhase
		default:
			o.Review.Comments, o.Review.Answered = nil, true // there is nothing to say in answer
		}
	}
	taken := o.Taken(x)
	taken.Job = b.lease.jobFor(o)
	next := phases.Take(run, x.Run, taken)
	if next.Execution.Attempt == run.Execution.Attempt && !b.lease.holding {
		next.Execution.Attempt++ // a process of its own
	}
	if err := b.commit(ctx, next, x, o); err != nil {
		return run, err
	}
	b.lease.holding = b.lease.holding || next.Status == metadata.Running
	b.obeyed++
	b.acted = b.acted || no == nil
	b.keep(next)
	b.answer(o, no)
	b.voice.outbox.opinion(next.Decisions[len(next.Decisions)-1])
	return next, nil
}

// decide computes the effect of a command on a run, and looks up or asks what that takes.
func (b *bot) decide(ctx context.Context, run metadata.Run, o command.Request) (command.Effect, error) {
	if stops := o.Name == "cancel" || o.Name == "pause"; (o.Review != nil || o.Comment > 0 && !stops) && b.In.TooManyBots(run, o.By) {
		return command.Effect{}, command.Refuse(metadata.PermissionDenied, inbox.WhyNoMoreBots())
	}
	x, err := o.Apply(phases.On(b.w.Plan, run), b.lease.holding)
	if err == nil && !x.Frozen { // a new definition is held by itself
		err = b.w.Allows(ctx, b.opening(nil), run, x.Run)
		if errors.As(err, new(pipelines.Mistakes)) {
			err = command.RefusedBy(metadata.NothingDone, err)
		}
	}
	switch {
	case err != nil:
	case o.Auto:
		return b.consult(ctx, run, o)
	case o.Restore, o.Attempt > 0:
		if _, missing := b.w.EndOf(ctx, o.Phase, o.Attempt); missing != nil {
			err = command.RefusedBy(metadata.NothingDone, missing)
		}
	case o.Name == "approve":
		if err = b.mayApprove(ctx, run, o); err == nil {
			err = b.mayPlace(ctx, x.Run)
		}
	case o.Name == "finish":
		var title string
		if o.Squash {
			title, err = b.delivery.Squashable(ctx, run)
		}
		if merged := (&phases.Refusal{}); errors.As(err, &merged) {
			err = command.RefusedBy(metadata.NothingDone, err)
		}
		if err == nil {
			x.Run, err = delivery.Finish(ctx, b.w, b.engine, x.Run, o.Squash, title, o.At)
		}
	case x.Frozen:
		x.Run, err = b.refresh(ctx, x.Run, o)
	}
	return x, err
}

// mayApprove says why an approval does not count: the person does not have the right that the phase asks for, or has
// approved another state of it. Nil if it counts.
func (b *bot) mayApprove(ctx context.Context, run metadata.Run, o command.Request) error {
	_, role, _, _ := phases.Approval(phases.On(b.w.Plan, run), o.Phase)
	if no := b.inbox.May(ctx, github.User{Login: o.By}, github.Role(role)); no != nil {
		return command.Refuse(no.Code, no.Why)
	}
	if err := b.w.Unchanged(ctx, o.Commit, o.Phase); err != nil {
		return command.RefusedBy(metadata.StaleEvent, err)
	}
	return nil
}

// mayPlace says why what an approval changes at protected paths cannot get there. Nil if it
// can, or if there is nothing.
func (b *bot) mayPlace(ctx context.Context, approved metadata.Run) error {
	left, err := engine.UnplacedOpened(b.w.Repo.Dir(), phases.ToPlace(phases.On(b.w.Plan, approved)))
	if err != nil {
		return command.RefusedBy(metadata.StaleEvent, err)
	}
	return b.preflight.MayPush(ctx, phases.OpenedPaths(left))
}

// commit records a command.
func (b *bot) commit(ctx context.Context, next metadata.Run, x command.Effect, o command.Request) error {
	switch {
	case x.Back != nil:
		x.Back.Run = next
		var code engine.StagedTree
		if o.Restore || o.Attempt > 0 {
			var err error
			if code, err = b.w.Restore(ctx, x.Back); err != nil {
				return err
			}
		}
		return b.engine.Rollback(ctx, *x.Back, code)
	case x.Frozen:
		return b.engine.Refreeze(ctx, next, workspace.Refreshed(o.Refresh.Definition, o.Refresh.Issue, b.w.Plan))
	}
	subject := "/" + o.Name + text.If(o.By != "", " by "+o.By)
	if o.Name == "approve" {
		return b.engine.Approve(ctx, next, subject)
	}
	return b.engine.Amend(ctx, next, subject)
}

// refresh gives the record of a run that goes on with the issue as it reads now,
// with its pipeline as it is defined now, or both, and wires the engine for that.
func (b *bot) refresh(ctx context.Context, run metadata.Run, o command.Request) (metadata.Run, error) {
	b.keep(run)
	if o.Refresh.Issue {
		if no := b.takeIssue(ctx, o); no != nil {
			return run, no
		}
	}
	opening := b.opening(&o)
	opening.Pipeline = o.Pipeline // else that of the run, whatever new runs take
	if o.Refresh.Definition {
		if err := b.w.Redefine(ctx, opening); err != nil {
			return run, command.RefusedBy(metadata.ConfigInvalid, err)
		}
		if b.w.Run.Status == metadata.Completed && !o.Refresh.Issue {
			return run, command.Refuse(metadata.Done, workspace.NothingNew(b.w.Plan))
		}
	}
	err := b.wire(ctx, opening)
	return b.w.Run, err
}

// takeIssue takes the issue as it read when the command was given: the event of its comment has that, unless it is on
// the pull request. The issue is not read anew, because somebody may have edited it since. Of the discussion, that
// counts which was there then.
func (b *bot) takeIssue(ctx context.Context, o command.Request) error {
	if o.OnPull || o.Comment > 0 && (b.Trigger.Comment == nil || b.Trigger.Comment.ID != o.Comment) {
		return command.Refuse(metadata.StaleEvent, metadata.Because("issue_as_then"))
	}
	now, err := b.hear(o)(ctx, issue.Reference{}, b.w.Given)
	if err != nil {
		return err
	}
	now.Mask(b.Env)
	b.w.Removed = append(b.w.Removed, now.Clean()...)
	if err := b.w.TakeIssue(now, o.By); err != nil {
		return command.RefusedBy(metadata.NothingDone, err)
	}
	b.tellTaken()
	return nil
}

// answer puts what became of a command into the outbox.
func (b *bot) answer(o command.Request, no *command.Refusal) {
	switch {
	case no != nil && o.Comment == 0 && o.Review == nil && no.Code != metadata.Done && no.Code != metadata.AlreadyRunning:
		b.turnedDown = &command.Denial{Code: no.Code, By: o.By, What: "/" + o.Name, Why: no.Why()}
	case no != nil:
		d := command.Denial{Code: no.Code, By: o.By, What: "/" + o.Name, Why: no.Why(), Known: true, Kept: true}
		b.voice.locked(func() { b.voice.noted = append(b.voice.noted, d) })
		b.voice.outbox.refuse(o.Comment, d)
	case o.Comment > 0:
		b.voice.obeyed(o.Name, o.Comment)
	}
}

// Steer takes what has come from outside since, and brings what the record says about the forge up to date. It is called
// between two steps, and when the run has stopped. What a run listens to is this list.
func (b *bot) Steer(ctx context.Context, run metadata.Run) (_ metadata.Run, err error) {
	b.keep(run)
	b.inbox.Look(ctx, true) // the next step costs more than asking
	for _, source := range []func(context.Context, metadata.Run) (metadata.Run, error){b.drain, b.lookAtIssue, b.lookAtIssues, b.keepChildren, b.goOn, b.keepLinks} {
		if run, err = source(ctx, run); err != nil {
			return run, err
		}
		b.keep(run)
	}
	return run, nil
}

// lookAtIssue cancels a run whose issue was closed, which is the plainest way to stop one.
func (b *bot) lookAtIssue(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	defer b.voice.send(ctx)
	if run.Status != metadata.Running {
		return run, nil
	}
	no := b.closed(ctx)
	if no == nil || no.Code != metadata.StaleEvent {
		return run, nil
	}
	next, _ := phases.Cancel(run, no.Why, b.Env.Now()) // it is running
	if err := b.engine.Amend(ctx, next, "the issue is closed"); err != nil {
		return run, err
	}
	return next, nil
}

// goOn takes up a run whose step was ended for a command that then had no effect.
func (b *bot) goOn(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if run.Status == metadata.Interrupted && ctx.Err() == nil {
		run = phases.TakeUp(run, phases.Start{At: b.Env.Now()})
	}
	return run, nil
}

// keepLinks notes which comment and which pull request are those of the run.
func (b *bot) keepLinks(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if changed := b.voice.keepComment(&run); b.delivery.KeepPull(ctx, b.w, &run) || changed {
		return b.note(ctx, run)
	}
	return run, nil
}

// note commits what has changed in a record besides the run itself: together
// with the next step or, if there is none, in a commit of its own.
func (b *bot) note(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if run.Status == metadata.Running {
		return run, nil
	}
	next := phases.Touch(run, b.Env.Now())
	return next, b.engine.Amend(ctx, next, "comment and pull request")
}

// later says why a command, and all commands after it, have to wait.
type later struct{ error }

// drain takes all commands that wait, in order, including those that are given meanwhile.
func (b *bot) drain(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	for ctx.Err() == nil {
		all := b.inbox.Pending(run)
		if len(all) == 0 {
			b.inbox.Look(ctx, false)
			all = b.inbox.Pending(run)
		}
		if len(all) == 0 {
			break
		}
		next, err := b.take(ctx, run, all[0])
		if wait := (later{}); errors.As(err, &wait) {
			b.voice.warn(wait)
			b.inbox.Postpone(wait)
			break
		}
		if err != nil {
			return run, err
		}
		run = next
	}
	return run, nil
}

// take does what a comment asks for, or says why not.
func (b *bot) take(ctx context.Context, run metadata.Run, c inbox.Waiting) (metadata.Run, error) {
	if c.Idle(phases.On(b.w.Plan, run)) {
		b.inbox.MarkDoneOf(c)
		return run, nil
	}
	o := b.inbox.Request(run, c)
	no := b.inbox.MayNow(ctx, c)
	edited := no == nil && c.Comment.Edited()
	if edited {
		no = &command.Denial{Code: metadata.PermissionDenied, By: o.By, Why: metadata.Because("comment_edited")}
	}
	if no != nil && no.Code == metadata.APIError {
		return run, later{errors.New(no.Why.In(prompts.Words("en")))}
	}
	if no != nil {
		if no.What = text.FirstLine(c.Comment.Body); c.Review != nil {
			no.What = "/" + o.Name
		}
		no.Kept = no.Code == metadata.PermissionDenied && !edited
		if len(b.voice.denials()) < 50 {
			b.voice.locked(func() { b.voice.noted = append(b.voice.noted, *no) }) // on the page of the job; the issue shows what those with the right say
		}
		b.inbox.MarkDoneOf(c)
		if edited { // people without the right must not keep a run waiting with a hundred comments
			b.voice.outbox.refuse(c.Comment.ID, *no)
		}
		return run, nil
	}
	mine := b.Trigger.Comment != nil && c.Comment.ID == b.Trigger.Comment.ID || c.Review != nil
	if c.Parsed.Outcome == command.Mistaken || o.Now() {
		b.inbox.MarkDoneOf(c)
		if !mine { // its own job answers it, unless that ended early
			b.voice.outbox.answer(c)
		}
		return run, nil
	}
	if !mine && !c.Signs.Eyes {
		b.voice.outbox.sign(c.Comment.ID, github.Eyes)
	}
	next, err := b.obey(ctx, run, o)
	if err == nil {
		b.inbox.MarkDoneOf(c)
	}
	return next, err
}

// reconcile tells people what a job that ended early could not tell them any more: the answers to questions, mistakes
// and refused commands, and the reactions. A slow job may still do that itself, so it is done only after some time,
// or once the job that had the run is known to be gone.
func (b *bot) reconcile(ctx context.Context) {
	run, now := b.w.Run, b.Env.Now()
	taken := map[int64]metadata.Decision{}
	for _, d := range run.Decisions {
		if b.lease.orphan || now.Sub(d.At) > inbox.LookBack {
			taken[d.Comment] = d
		}
	}
	for _, c := range b.inbox.Past(run) {
		id := c.Comment.ID
		d, known := taken[id]
		why, refused := command.WhyRefused(d.Why)
		question := c.Parsed.Outcome == command.Mistaken || c.Parsed.Outcome == command.Understood && c.Parsed.Command.Now()
		if known && !b.inbox.IsAnswered(id) {
			b.voice.outbox.opinion(d)
		}
		switch answered := b.inbox.IsAnswered(id); {
		case refused && !answered && why != inbox.WhyNoMoreBots():
			b.voice.outbox.refuse(id, command.Denial{Code: metadata.NothingDone, By: d.By, What: "/" + d.Step, Why: why, Known: true})
		case refused && b.lease.orphan && !b.inbox.Signs(ctx, c.Comment).Confused:
			b.voice.outbox.sign(id, github.Confused)
		case refused:
		case known && b.lease.orphan && !b.inbox.Signs(ctx, c.Comment).Settled:
			b.voice.obeyed(d.Step, id)
		case !answered && question && b.inbox.Overdue(c.Comment) && !c.Comment.Edited() && b.inbox.Signs(ctx, c.Comment).MayBeSigned() && b.inbox.May(ctx, c.Comment.Author, c.Parsed.Role()) == nil:
			b.voice.outbox.answer(c)
		}
	}
}

// keepChildren opens the issues that a run asks for. Each is noted in a commit before anything else happens, so that
// a rollback knows which of them are open. One that cannot be opened is a warning; the next job tries again.
func (b *bot) keepChildren(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	for _, child := range phases.ToOpen(phases.On(b.w.Plan, run)) {
		made := b.delivery.OpenChild(ctx, run, child)
		if made == nil {
			continue
		}
		next := phases.Opened(run, child.ID, made.Number, made.URL, b.Env.Now())
		if err := b.engine.Amend(ctx, next, fmt.Sprintf("issue %d is open", made.Number)); err != nil {
			return run, err
		}
		run = next
		b.keep(run)
	}
	return run, nil
}
