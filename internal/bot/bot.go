// Package bot does what people ask for on an issue: it reads the event that
// started a job, looks at who asks, and carries commands out between the steps of
// the run. Its door is Act.
//
// Besides the inbox, a room of its own, it has two parts: the voice says what people
// are told, and the lease knows whose the run is. Each has a lock, because comments
// are read and answered while an agent works. A bot is over them, and belongs to one
// goroutine.
package bot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines/source"
	"github.com/reprise-ci/reprise/prompts"
)

// bot does what people ask for in the comments of one issue.
type bot struct {
	*place
	inbox     *inbox.Inbox
	voice     *voice
	lease     *lease
	delivery  *delivery.Delivery
	statuses  *delivery.Statuses
	preflight *doctor.Preflight
	dryRun    dryRunner

	w      *workspace.Workspace // nil: no run is open
	engine *engine.Engine
	before metadata.Run // the run that the issue had, if its branch is gone; else the zero value
	acted  bool         // this process did more with the run than refuse commands
	obeyed int          // commands that this process took
	due    *PartsDue    // parts that other jobs are to do; nil: there are none
	// askedCI says that it is known whether CI has something to say.
	askedCI  bool
	unpushed *metadata.Run // the record of a step that could not be pushed

	// turnedDown is why what a form or a workflow asked for was refused. There
	// is no comment to answer, so the job itself has to say it.
	turnedDown *command.Denial
}

// jobEnd is how a job ended.
type jobEnd struct {
	decision       decision
	command.Denial        // why nothing was done, or why a run stopped; zero if all went well
	text           string // an answer that has no comment to stand in
	matrix         string // of the jobs that go on with the run; empty: there are none
	err            error
}

// unknown reports whether nothing was done because the forge did not answer,
// so that nobody knows whether it should have been.
func (e jobEnd) unknown() bool {
	return e.decision == denied && (e.Code == metadata.APIError || e.Code == metadata.CredentialsMissing)
}

// decision is what became of an event, for the steps that follow.
type decision string

// The decisions.
const (
	toRun   decision = "run"     // there is work to do, or it was done
	replied decision = "replied" // it was answered, and that was all
	ignored decision = "ignored" // it asks for nothing
	denied  decision = "denied"  // whoever asks does not have the right, or may not ask in this way
)

// newBot prepares to act on a trigger.
func newBot(j *environ.Job, in inbox.Inputs, t inbox.Trigger, dry dryRunner) (*bot, error) {
	p, err := newPlace(j, in, t)
	if err != nil {
		return nil, err
	}
	v := &voice{place: p, lease: &lease{place: p}}
	p.Warn = v.warn
	v.inbox = inbox.New(p.Source)
	return &bot{
		place: p, inbox: v.inbox, voice: v, lease: v.lease, dryRun: dry,
		preflight: &doctor.Preflight{GitHub: p.GitHub, Pull: p.In.Pull, Warn: v.warn},
	}, nil
}

// newDelivery prepares what a run leaves on the forge besides comments.
func newDelivery(p *place, v *voice) *delivery.Delivery {
	return &delivery.Delivery{
		GitHub: p.GitHub, Issue: p.Trigger.Number, Branch: p.Trigger.Branch, In: p.In, Folder: p.workFolder(),
		Own:   delivery.OwnWorkflow(p.Env.Getenv("GITHUB_WORKFLOW_REF"), p.Env.Getenv("GITHUB_REPOSITORY")),
		Voice: delivery.Voice{Warn: v.warn, Facts: v.facts, Change: v.change}, Expired: v.lease.expired,
	}
}

// act does what was asked for, if whoever asks may.
func (b *bot) act(ctx context.Context) jobEnd {
	if b.In.Command == setup.EndOnly {
		return tellGone(ctx, b)
	}
	if no := b.elsewhere(ctx); no != nil {
		return jobEnd{decision: denied, Denial: *no}
	}
	asked := b.Trigger.Requested
	if b.Trigger.Closed > 0 {
		if end := b.turnToWaiting(ctx); end != nil {
			return *end
		}
	} else if b.Trigger.Pull > 0 {
		if end := b.turnToIssue(ctx); end != nil {
			return *end
		}
	} else if asked.Outcome == command.Understood && asked.Command.Spec().Shared {
		if _, err := b.voice.known(ctx); errors.Is(err, fs.ErrNotExist) { // it is likely to be for another program
			return b.ignore(metadata.NothingDone, metadata.Because("no_run_about"))
		}
	}
	if no := b.mayAsk(ctx); no != nil {
		if no.Code == metadata.PermissionDenied {
			b.react(ctx, github.Confused)
			b.refuseLabel(ctx, *no)
		}
		return jobEnd{decision: denied, Denial: *no}
	}
	if end := b.takenBack(ctx); end != nil {
		return *end
	}
	fresh := b.react(ctx, github.Eyes)
	switch {
	case b.Trigger.CI && b.In.Command == setup.GateOnly:
		return b.mayGoOn(ctx)
	case asked.Outcome == command.Mistaken, asked.Command.Now():
		end := b.replyNow(ctx, fresh)
		if end.decision != replied || b.In.Dry {
			return end
		}
		if c, err := b.voice.known(ctx); err != nil || !newDelivery(b.place, b.voice).Owes(c) { // an earlier job has left nothing undone
			return end
		}
	}
	if b.In.Command == setup.GateOnly {
		return jobEnd{decision: toRun}
	}
	return b.session(ctx)
}

// mayGoOn says whether a run may go on because CI has ended on its branch, or because an
// issue that it waits for was closed.
func (b *bot) mayGoOn(ctx context.Context) jobEnd {
	switch c, err := b.voice.known(ctx); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return b.undecided(err)
	case err != nil || !delivery.GoesOnAlone(c.Run) && !(b.Trigger.Red && delivery.CILate(c.Run)):
		return b.ignore(metadata.NothingDone, metadata.Because("no_wait_for_ci"))
	}
	return jobEnd{decision: toRun}
}

// turnToIssue turns from the pull request that a command stands on to the issue of its run. What it returns is how
// the job ends at once: on pull requests of others strangers get no sign, and people with the right get one answer,
// unless other programs know the command, too.
func (b *bot) turnToIssue(ctx context.Context) *jobEnd {
	if no := b.mayAsk(ctx); no != nil {
		return &jobEnd{decision: denied, Denial: *no}
	}
	of, err := inbox.RunOfPull(ctx, b.GitHub, b.Env, b.Trigger.Pull)
	if err != nil {
		return new(b.undecided(err))
	}
	d := b.denial(metadata.NothingDone, metadata.Because("command_on_pull", "number", b.Trigger.Pull))
	asked := b.Trigger.Requested
	switch {
	case of == nil && (b.Trigger.Review != nil || asked.Outcome != command.Understood || asked.Command.Spec().Shared):
		return &jobEnd{decision: ignored, Denial: d}
	case of == nil:
		return new(b.refuseAll(ctx, d))
	case b.Trigger.Review != nil && inbox.Waiting{Parsed: asked, Review: b.Trigger.Review}.Idle(of.Course):
		d.Why = phases.NothingToApprove(of.Run, of.Run.CurrentPhase)
		return &jobEnd{decision: ignored, Denial: d}
	}
	b.Trigger.Number = of.Issue
	b.Issue = b.GitHub.Thread(of.Issue)
	b.inbox.TurnTo(b.Issue)
	if b.Trigger.Review == nil {
		return nil
	}
	b.inbox.Follow(b.Trigger.Pull)
	switch same, err := inbox.SameWorkflows(ctx, b.GitHub, of.Run.BranchName, cmp.Or(b.Trigger.Branch, "HEAD"), of.Run.BaseCommit); {
	case err != nil:
		return new(b.undecided(err))
	case !same:
		d.Code, d.Why = metadata.PermissionDenied, metadata.Because("other_workflows", "branch", of.Run.BranchName)
		return new(b.refuseAll(ctx, d))
	}
	return nil
}

// turnToWaiting turns from an issue that was closed to that of the first run which waits
// for it, and has jobs begin for the others. What it returns is how the job ends if none does.
func (b *bot) turnToWaiting(ctx context.Context) *jobEnd {
	all, err := b.awaited().By(ctx, b.Trigger.Closed, delivery.WaitingLabel)
	switch {
	case err != nil:
		return new(b.undecided(err))
	case len(all) == 0:
		return new(b.ignore(metadata.NothingDone, metadata.Because("nobody_waits", "number", b.Trigger.Closed)))
	case b.In.Command != setup.GateOnly: // which has no right to
		b.voice.warnOf(b.awaited().Wake(ctx, all[1:]))
	}
	b.Trigger.Number, b.Issue = all[0], b.GitHub.Thread(all[0])
	b.inbox.TurnTo(b.Issue)
	return nil
}

// elsewhere denies a workflow that runs on another branch than the default one.
func (b *bot) elsewhere(ctx context.Context) *command.Denial {
	ref := inbox.RunnerOf(b.Env).Ref
	if b.Trigger.Branch != "" || ref == "" {
		return nil
	}
	no := new(b.denial(metadata.ConfigInvalid, ""))
	repo, err := b.GitHub.Repository(ctx)
	switch {
	case err != nil:
		no.Code, no.Why = exit.ForgeReason(err), prompts.Why(err)
	case ref != "refs/heads/"+repo.DefaultBranch:
		no.Why = inbox.OnOtherBranch(ref, repo.DefaultBranch)
	default:
		b.Trigger.Branch = repo.DefaultBranch
		return nil
	}
	return no
}

// hasRun reports whether there is a run: one that has a commit, or is rehearsed.
func (b *bot) hasRun() bool { return b != nil && b.w != nil && b.began(b.w) }

// keep makes a record the current one of the run.
func (b *bot) keep(run metadata.Run) {
	b.w.Run = run
	b.turnTo(b.w)
}

// turnTo makes a run that was opened the current one; nil: none is open.
func (b *bot) turnTo(w *workspace.Workspace) {
	b.w = w
	b.voice.speakOf(w)
	if w != nil {
		b.inbox.Follow(w.Run.PRNumber)
	}
}

// replyNow answers what is answered at once: questions, and mistakes.
func (b *bot) replyNow(ctx context.Context, fresh bool) jobEnd {
	end := jobEnd{decision: replied}
	if b.Trigger.Requested.Outcome == command.Mistaken {
		end.decision, end.Denial = denied, b.denial(metadata.NothingDone, metadata.Said(text.OneLine(b.Trigger.Requested.Reply(b.voice.language()))))
	}
	if v := b.Trigger.Review; v != nil {
		b.tellReview(ctx, b.voice.answerText(ctx, b.Trigger.Requested, b.Trigger.By, page.ReviewMarker(v.ID)))
		return end
	}
	if b.Trigger.Comment == nil { // a form or a workflow asks; the page of the job is the answer
		end.text = b.voice.answerText(ctx, b.Trigger.Requested, b.Trigger.By, "")
		return end
	}
	if !fresh && !b.restarted {
		return end // the job that works on the run has taken it
	}
	if end.err = b.voice.replyTo(ctx, inbox.Waiting{Comment: *b.Trigger.Comment, Parsed: b.Trigger.Requested, OnPull: b.Trigger.Pull > 0}); end.err != nil {
		end.Code, end.Why = exit.ForgeReason(end.err), prompts.Why(end.err)
	}
	return end
}

// failed tells people on the issue why what they asked for was not done.
func (b *bot) failed(ctx context.Context, d command.Denial, sign github.Reaction) {
	ctx, stop := lastWords(ctx)
	defer stop()
	if b.In.Dry {
		return
	}
	b.react(ctx, sign)
	if b.voice.isShown() {
		b.voice.addWarning(d.Words(b.voice.language()))
		b.voice.flush(b.w.Run)
		return
	}
	b.refuseWhatAsked(ctx, d)
}

// refuseAll answers that what was asked for is not done.
func (b *bot) refuseAll(ctx context.Context, d command.Denial) jobEnd {
	b.react(ctx, github.Confused)
	b.refuseWhatAsked(ctx, d)
	return jobEnd{decision: denied, Denial: d}
}

// refuseWhatAsked answers the comment or review that this job is for.
func (b *bot) refuseWhatAsked(ctx context.Context, d command.Denial) {
	switch {
	case b.Trigger.Comment != nil:
		b.voice.refuse(ctx, &message{comment: b.Trigger.Comment.ID, denial: d})
	case b.Trigger.Review != nil:
		b.tellReview(ctx, page.RefusalReply(page.ReviewMarker(b.Trigger.Review.ID), b.voice.language(), d))
	}
}

// tellReview answers the review that this job is for, below the pull request.
func (b *bot) tellReview(ctx context.Context, text string) {
	if b.In.Dry || b.lease.expired() {
		return
	}
	_, err := b.Pull.Post(ctx, page.ReviewMarker(b.Trigger.Review.ID), text, b.inbox.Start())
	b.voice.warnOf(err)
}

// broke ends a job with an error. The record is as it was last committed, so starting again goes on from there.
func (b *bot) broke(ctx context.Context, err error) jobEnd {
	b.job.Group("")
	end := jobEnd{decision: toRun, err: err, Denial: b.denial("", prompts.Why(err))}
	var no *command.Refusal
	switch {
	case lostRace(err):
		end.decision, end.Code, end.err = ignored, metadata.AlreadyRunning, nil
		end.Why = metadata.Because("taken_before")
		b.voice.outbox.clear()
		return end // nothing is told in the name of a run that others work on
	case errors.As(err, &no):
		end.Code = no.Code
	case errors.Is(context.Cause(ctx), engine.ErrTimeUp):
		end.Code = metadata.TimedOut
	case ctx.Err() != nil: // whatever was cut off by that looks like a mistake of its own
		end.Code = metadata.RunCancelled
	case errors.As(err, new(later)):
		end.Code = metadata.APIError
	default:
		end.Code = exit.ReasonFor(err)
	}
	sign := github.ThumbsDown
	if !b.hasRun() && (end.Code == metadata.ConfigInvalid || end.Code == metadata.CredentialsMissing) {
		end.decision, sign = denied, github.Confused
		if errors.As(err, new(*source.UnknownError)) && b.Trigger.Comment != nil && b.Trigger.Requested.Command.Pipeline != "" {
			end.err = nil // a mistake in a comment is answered, and no fault of the job
		}
	}
	if errors.As(err, new(*git.PushError)) && !b.voice.isShown() {
		end.Why = metadata.All(end.Why, metadata.Because("give_again")) // its answer is what the next job goes by
	}
	b.failed(ctx, end.Denial, sign)
	if b.unpushed != nil && b.w.Run.Status == metadata.Running && ctx.Err() == nil {
		told := phases.Halt(*b.unpushed, end.Code, end.Why, b.Env.Now())
		b.voice.flush(told) // the branch does not say it
		b.delivery.TellStop(ctx, b.w.Plan, &told)
	}
	if b.engine != nil && b.w.Run.Status == metadata.Failed && b.acted {
		b.tellPeople(ctx)
	}
	if b.engine != nil && b.w.Run.Status != metadata.Running && !errors.As(err, new(*git.PushError)) {
		if _, err := b.lease.release(ctx, b.w.Run); err != nil {
			b.voice.warn(err) // it is free when this job is over
		}
	}
	return end
}
