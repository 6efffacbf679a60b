package bot

import (
	"context"
	"errors"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
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
func (b *bot) obey(ctx context.Context, o command.Request) error {
	run, spent := b.w.Run, b.w.Run
	x, err := b.decide(ctx, run, o)
	if x.Since != nil {
		run, spent, o.At = *x.Since, x.Run, b.Env.Now()
	}
	var no *command.Refusal
	if errors.As(err, &no) {
		x = command.Effect{Run: spent, Phase: "", Why: command.Refused(prompts.Why(err))}
	} else if err != nil {
		return err
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
	next := phases.Take(run, x.Run, b.taken(o, x))
	if next.Execution.Attempt == run.Execution.Attempt && !b.holding {
		next.Execution.Attempt++ // a process of its own
	}
	if err := b.commit(ctx, next, x, o); err != nil {
		b.keep(run)
		return err
	}
	b.holding = b.holding || next.Status == metadata.Running
	b.obeyed++
	b.acted = b.acted || no == nil
	b.keep(next)
	b.unpushed = nil
	b.answer(o, no)
	if no != nil && o.Comment == 0 && o.Review == nil && b.Trigger.Label != "" {
		b.refuseWhatAsked(ctx, b.denial(no.Code, no.Why()))
	}
	b.voice.outbox.opinion(next.Decisions[len(next.Decisions)-1])
	return nil
}

// taken is a command with its effect, as the record notes it: with this job as its origin, if it stands nowhere.
func (b *bot) taken(o command.Request, x command.Effect) phases.Command {
	c := o.Taken(x)
	if o.Comment == 0 && o.Review == nil {
		c.Job = jobOf(b.me)
	}
	return c
}

// decide computes the effect of a command on a run, and looks up or asks what that takes.
func (b *bot) decide(ctx context.Context, run metadata.Run, o command.Request) (command.Effect, error) {
	if stops := o.Name == "cancel" || o.Name == "pause"; (o.Review != nil || o.Comment > 0 && !stops) && b.In.tooManyBots(run, o.By) {
		return command.Effect{}, command.Refuse(metadata.PermissionDenied, whyNoMoreBots())
	}
	x, err := o.Apply(phases.On(b.w.Plan, run), b.holding)
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
			var left []metadata.Opened
			if left, err = engine.UnplacedOpened(b.w.Repo.Dir(), phases.ToPlace(phases.On(b.w.Plan, x.Run))); err != nil {
				return x, command.RefusedBy(metadata.StaleEvent, err)
			}
			err = b.preflight.MayPush(ctx, phases.OpenedPaths(left))
		}
	case o.Name == "finish":
		var title string
		if o.Squash {
			title, err = b.delivery.squashable(ctx, run)
		}
		if merged := (&phases.Refusal{}); errors.As(err, &merged) {
			err = command.RefusedBy(metadata.NothingDone, err)
		}
		if err == nil {
			x.Run, err = Finish(ctx, b.w, b.engine, x.Run, o.Squash, title, o.At)
		}
	case x.Frozen:
		if x.Run, err = b.refresh(ctx, x.Run, o); err != nil {
			b.keep(run)
		}
	}
	return x, err
}

// mayApprove says why an approval does not count: the person does not have the right that the phase asks for, or has
// approved another state of it. Nil if it counts.
func (b *bot) mayApprove(ctx context.Context, run metadata.Run, o command.Request) error {
	_, role, _, _ := phases.Approval(phases.On(b.w.Plan, run), o.Phase)
	if err := b.inbox.may(ctx, github.User{Login: o.By}, github.Role(role), false); err != nil {
		return err
	}
	if err := b.w.Unchanged(ctx, o.Commit, o.Phase); err != nil {
		return command.RefusedBy(metadata.StaleEvent, err)
	}
	return nil
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
	if o.Review == nil {
		b.inbox.markDone(waiting{Comment: github.Comment{ID: o.Comment}})
	}
	if no == nil {
		if o.Comment > 0 {
			b.voice.obeyed(o.Name, o.Comment)
		}
		return
	}
	d := command.Denial{Code: no.Code, By: o.By, What: "/" + o.Name, Why: no.Why(), Known: true, Kept: true}
	if o.Comment == 0 && o.Review == nil && no.Code != metadata.Done && no.Code != metadata.AlreadyRunning {
		b.turnedDown = &command.Denial{Code: d.Code, By: d.By, What: d.What, Why: d.Why}
		return
	}
	b.voice.note(d)
	b.voice.outbox.refuse(o.Comment, d)
}
