package main

import (
	"context"
	"errors"
	"strings"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// obey carries out an order and commits what it does together with the note
// that it was taken. One that is refused is noted, too: it must not be obeyed
// later, when nobody expects it any more.
func (b *bot) obey(ctx context.Context, run metadata.Run, o order) (metadata.Run, error) {
	x, err := o.work(b.w.plan, run, b.holding)
	if err == nil && o.Restore {
		if _, missing := b.w.endOf(ctx, o.Phase); missing != nil {
			err = &refused{metadata.NotACommand, missing}
		}
	}
	if err == nil && o.Name == "approve" {
		err = b.mayApprove(ctx, run, o)
	}
	if err == nil && x.frozen {
		x.run, err = b.refresh(ctx, x.run, o)
	}
	var no *refused
	if errors.As(err, &no) {
		x = deed{run: run, phase: "", why: refusedFor(phases.WhyOf(err))}
	} else if err != nil {
		return run, err
	}
	x.why = o.without(x.why)
	next := phases.Take(run, x.run, phases.Command{Name: o.Name, Text: o.line(), By: o.by, Comment: o.comment, Job: b.jobOf(o), Phase: x.phase, Why: x.why, At: o.at})
	if next.Execution.Attempt == run.Execution.Attempt && !b.holding {
		next.Execution.Attempt++ // a process of its own
	}
	if err := b.commit(ctx, next, x, o); err != nil {
		return run, err
	}
	b.holding = b.holding || next.Status == metadata.Running
	b.obeyed++
	b.acted = b.acted || no == nil
	b.w.run = next
	b.answer(o, no)
	return next, nil
}

// refusedFor is what the record says of a command that was refused.
func refusedFor(why metadata.Reason) metadata.Reason { return metadata.Because("refused", "why", why) }

// whyRefused gives why the record says that a command was refused; ok is false if
// it does not say so. Records of earlier versions have words for it.
func whyRefused(r metadata.Reason) (why metadata.Reason, ok bool) {
	if r.Code() == "refused" {
		return r.Value("why"), true
	}
	said, ok := strings.CutPrefix(string(r), "refused: ")
	return metadata.Said(said), ok
}

// mayApprove says why an approval does not count: whoever gives it has not the
// right that the phase asks for, or has looked at something else. Nil if it
// counts.
func (b *bot) mayApprove(ctx context.Context, run metadata.Run, o order) error {
	_, role, _, _ := phases.Approval(b.w.plan, run)
	if no := b.may(ctx, asker{o.by, o.comment}, github.Role(role)); no != nil {
		return refuse(no.Code, no.Why)
	}
	if err := b.w.unchanged(ctx, o.Commit); err != nil {
		return &refused{metadata.StaleEvent, err}
	}
	return nil
}

// commit records an order.
func (b *bot) commit(ctx context.Context, next metadata.Run, x deed, o order) error {
	switch {
	case x.back != nil:
		x.back.Run = next
		if o.Restore {
			if err := b.w.restore(ctx, x.back); err != nil {
				return err
			}
		}
		return b.engine.Rewind(ctx, *x.back)
	case x.frozen:
		return b.engine.Refreeze(ctx, next, refreshed(o.Refresh, o.RefreshIssue, b.w.plan))
	}
	subject := "/" + o.Name
	if o.by != "" {
		subject += " by " + o.by
	}
	return b.engine.Amend(ctx, next, subject)
}

// refresh gives the record of a run that goes on with the issue as it reads now,
// with its pipeline as it is defined now, or both, and wires the engine for that.
func (b *bot) refresh(ctx context.Context, run metadata.Run, o order) (metadata.Run, error) {
	b.w.run = run
	if o.RefreshIssue {
		if no := b.takeIssue(o); no != nil {
			return run, no
		}
	}
	opening := b.opening(&o)
	opening.pipeline = o.Pipeline // else that of the run, whatever new runs take
	if o.Refresh {
		if err := b.w.redefine(ctx, b.env, opening); err != nil {
			return run, &refused{metadata.ConfigInvalid, err}
		}
		if b.w.run.Status == metadata.Completed && !o.RefreshIssue {
			return run, refuse(metadata.Done, nothingNew(b.w.plan))
		}
	}
	var err error
	b.engine, err = b.newEngine(opening)
	return b.w.run, err
}

// takeIssue takes the issue as it read when the command was given: the event of
// its comment has that. It is not asked for now, since somebody may have edited
// it between.
func (b *bot) takeIssue(o order) error {
	if o.comment > 0 && (b.t.comment == nil || b.t.comment.ID != o.comment) {
		return refuse(metadata.StaleEvent, metadata.Because("issue_as_then"))
	}
	if err := b.w.takeIssue(b.env, b.w.given, o.by); err != nil {
		return &refused{metadata.NotACommand, err}
	}
	b.tellRemoved()
	return nil
}

// answer has people told what became of an order.
func (b *bot) answer(o order, no *refused) {
	switch {
	case no != nil && o.comment == 0 && no.code != metadata.Done && no.code != metadata.AlreadyRunning:
		b.turnedDown = &denial{Code: no.code, By: o.by, What: "/" + o.Name, Why: no.Why()}
	case no != nil:
		d := denial{Code: no.code, By: o.by, What: "/" + o.Name, Why: no.Why(), Known: true, Kept: true}
		b.noted = append(b.noted, d)
		if o.comment > 0 {
			b.outbox.refuse(o.comment, d)
		}
	case o.comment > 0:
		b.obeyedIn(o.Name, o.comment)
	}
}

// Steer takes what people have asked for since, and sees to what the record
// knows of the forge. It is called between two steps, and when the run has
// stopped.
func (b *bot) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	b.w.run = run
	b.look(ctx, run.Status != metadata.Running)
	run, err := b.drain(ctx, run)
	if err != nil {
		return run, err
	}
	b.w.run = run
	b.send(ctx)
	if run, err = b.keepChildren(ctx, run); err != nil {
		return run, err
	}
	if run.Status == metadata.Interrupted && ctx.Err() == nil {
		// The step was ended for a command that came to nothing.
		run = phases.TakeUp(run, phases.Start{At: b.env.now()})
	}
	if changed := b.keepComment(&run); b.keepPull(ctx, &run) || changed {
		run, err = b.note(ctx, run)
	}
	b.w.run = run
	return run, err
}

// note sees to it that what changed in a record besides the run itself is
// committed: with the next step, or where none follows by itself.
func (b *bot) note(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if run.Status == metadata.Running {
		return run, nil
	}
	next := phases.Touch(run, b.env.now())
	return next, b.engine.Amend(ctx, next, "comment and pull request")
}

// later says why a command still waits, and with it those after it.
type later struct{ error }

// drain takes every command that waits, in order, also those that are given
// meanwhile. What became of them is told later.
func (b *bot) drain(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	for ctx.Err() == nil {
		all := b.pending(run)
		if len(all) == 0 {
			b.look(ctx, false)
			all = b.pending(run)
		}
		if len(all) == 0 {
			break
		}
		next, err := b.take(ctx, run, all[0])
		if wait := (later{}); errors.As(err, &wait) {
			b.warn(wait)
			b.deaf = wait
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
func (b *bot) take(ctx context.Context, run metadata.Run, c waiting) (metadata.Run, error) {
	o := order{slashCommand: c.asked.Command, by: c.comment.Author.Login, comment: c.comment.ID, url: c.comment.URL, at: b.env.now(), removed: c.asked.Removed}
	b.mu.Lock()
	delete(b.roles, c.asker()) // it may have been looked up long ago
	b.mu.Unlock()
	no := b.may(ctx, c.asker(), c.asked.role())
	if no == nil && c.comment.Edited() {
		no = &denial{Code: metadata.EditedComment, By: o.by, Why: metadata.Because("comment_edited")}
	}
	if no != nil && no.Code == metadata.APIError {
		return run, later{errors.New(phases.Say("en", no.Why))}
	}
	if no != nil {
		no.What = firstLine(c.comment.Body)
		if no.Kept = no.Code == metadata.PermissionDenied; len(b.noted) < 50 {
			b.noted = append(b.noted, *no) // on the page of the job; the issue shows what those with the right say
		}
		b.settled(c.comment.ID)
		if no.Code == metadata.EditedComment { // who has no right shall not keep a run waiting with a hundred comments
			b.outbox.sign(c.comment.ID, github.Confused)
		}
		return run, nil
	}
	mine := b.t.comment != nil && c.comment.ID == b.t.comment.ID
	if c.asked.Outcome == slashMistaken || o.now() {
		b.settled(c.comment.ID)
		if !mine { // a job of its own answers it, but for one that did not live to
			b.outbox.asked = append(b.outbox.asked, c)
		}
		return run, nil
	}
	if !mine && c.comment.Eyes == 0 {
		b.outbox.sign(c.comment.ID, github.Eyes)
	}
	next, err := b.obey(ctx, run, o)
	if err == nil {
		b.settled(c.comment.ID)
	}
	return next, err
}

// taken says what a push that came too late means: another job has taken the
// run meanwhile.
func taken(err error) bool {
	var moved *git.Moved
	var held *git.Locked
	return errors.As(err, &moved) && moved.Run || errors.As(err, &held)
}
