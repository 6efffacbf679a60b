// Package bot does what people ask for on an issue: it reads the event that
// started a job, looks at who asks, and carries commands out between the steps of
// the run. Its door is Act.
//
// Files inbox*.go have what people have asked: comments and reviews as commands in
// their order, and who has the right. Files deliver*.go are what a run leaves on
// GitHub: its pull request, the issues that it opens, CI. A voice says what people are
// told. Inbox and voice have locks, because comments are read and answered while an
// agent works; a bot is over all, and belongs to one goroutine.
package bot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
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
	inbox     *inbox
	voice     *voice
	delivery  *delivery
	statuses  *statuses
	preflight *doctor.Preflight
	dryRun    dryRunner

	w       *workspace.Workspace // nil: no run is open
	engine  *engine.Engine
	holding bool             // this process has taken the run
	shut    *command.Refusal // why nothing but to cancel the run may be done on the issue; nil: all may
	orphan  bool             // who had the run is gone, and may have left something undone
	before  metadata.Run     // the run that the issue had, if its branch is gone; else the zero value
	acted   bool             // this process did more with the run than refuse commands
	obeyed  int              // commands that this process took
	due     *PartsDue        // parts that other jobs are to do; nil: there are none
	// askedCI says that it is known whether CI has something to say.
	askedCI  bool
	unpushed *metadata.Run // the record of a step that could not be pushed, or of a run that an agent was asked about

	// turnedDown is why what a form or a workflow asked for was refused. There
	// is no comment to answer, so the job itself has to say it.
	turnedDown *command.Denial
}

// jobEnd is how a job ended: as an error, that there is nothing more to do.
type jobEnd struct {
	decision       decision
	command.Denial        // why nothing was done, or why a run stopped; zero if all went well
	text           string // an answer that has no comment to stand in
	part           string // how the part stands that the job was for, for programs
	matrix         string // of the jobs that go on with the run; empty: there are none
	err            error
}

// Error says why.
func (e *jobEnd) Error() string { return e.Words("en") }

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
func newBot(j *environ.Job, in Inputs, t trigger, dry dryRunner) (*bot, error) {
	p, err := newPlace(j, in, t)
	if err != nil {
		return nil, err
	}
	v := &voice{place: p}
	p.Warn = v.warn
	v.inbox = newInbox(p.inboxSource)
	return &bot{
		place: p, inbox: v.inbox, voice: v, dryRun: dry,
		preflight: &doctor.Preflight{GitHub: p.GitHub, Pull: p.In.Pull, Warn: v.warn},
	}, nil
}

// newDelivery prepares what a run leaves on the forge besides comments.
func (b *bot) newDelivery() *delivery {
	return &delivery{
		GitHub: b.GitHub, Issue: b.Trigger.Number, Branch: b.Trigger.Branch, In: b.In, Folder: b.workFolder(),
		Own:   ownWorkflow(b.Env.Getenv("GITHUB_WORKFLOW_REF"), b.Env.Getenv("GITHUB_REPOSITORY")),
		Voice: teller{Warn: b.voice.warn, Facts: b.voice.facts, Change: b.voice.change}, Expired: b.voice.expired,
	}
}

// act does what was asked for, if whoever asks may. Each of its steps ends the job by an error, which may be a *jobEnd.
func (b *bot) act(ctx context.Context) jobEnd {
	steps := []func(context.Context) error{b.elsewhere, b.turn, b.mayAskHere, b.takenBack, b.reply, b.session}
	switch b.In.Command {
	case setup.EndOnly:
		steps = []func(context.Context) error{b.tellGone}
	case setup.TaskOnly:
		steps = []func(context.Context) error{b.doPart}
	}
	return *b.endBy(ctx, inOrder(ctx, steps...))
}

// endBy is how a job ends by an error.
func (b *bot) endBy(ctx context.Context, err error) *jobEnd {
	if end, is := errors.AsType[*jobEnd](err); is {
		return end
	}
	return b.broke(ctx, err)
}

// reply answers what is answered at once, and ends the job if there is nothing else to do.
func (b *bot) reply(ctx context.Context) error {
	fresh, asked := b.react(ctx, github.Eyes), b.Trigger.Requested
	switch {
	case b.Trigger.CI && b.In.Command == setup.GateOnly:
		return b.mayGoOn(ctx)
	case asked.Outcome == command.Mistaken, asked.Command.Now():
		end := b.replyNow(ctx, fresh)
		if end.decision != replied || b.In.Dry {
			return end
		}
		if c, err := b.voice.known(ctx); err != nil || !b.newDelivery().owes(c) { // an earlier job has left nothing undone
			return end
		}
	}
	if b.In.Command == setup.GateOnly {
		return &jobEnd{decision: toRun}
	}
	return nil
}

// mayGoOn says whether a run may go on because CI has ended on its branch, or because an
// issue that it waits for was closed.
func (b *bot) mayGoOn(ctx context.Context) error {
	switch c, err := b.voice.known(ctx); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return b.undecided(err)
	case err != nil || !goesOnAlone(c.Run) && !(b.Trigger.Red && ciLate(c.Run)):
		return b.ignore(metadata.NothingDone, metadata.Because("no_wait_for_ci"))
	}
	return &jobEnd{decision: toRun}
}

// turn turns to the issue of the run that is meant, if the event is about something else.
func (b *bot) turn(ctx context.Context) error {
	asked := b.Trigger.Requested
	switch {
	case b.Trigger.Closed > 0:
		return b.turnToWaiting(ctx)
	case b.Trigger.Pull > 0:
		return b.turnToIssue(ctx)
	case asked.Outcome == command.Understood && asked.Command.Spec().Shared:
		_, err := b.voice.known(ctx)
		if errors.Is(err, fs.ErrNotExist) && (b.mayAsk(ctx) != nil || b.voice.lastShown(ctx, metadata.Run{}) == page.State{}) { // it is likely to be for another program
			return b.ignore(metadata.NothingDone, metadata.Because("no_run_about"))
		}
	}
	return nil
}

// turnToIssue turns from the pull request that a command stands on to the issue of its run. On pull requests of others
// strangers get no sign, and people with the right get one answer, unless other programs know the command, too.
func (b *bot) turnToIssue(ctx context.Context) error {
	if err := b.mayAsk(ctx); err != nil {
		return err
	}
	of, number, err := b.runOfPull(ctx, b.Trigger.Pull)
	none, asked, why := errors.Is(err, fs.ErrNotExist), b.Trigger.Requested, metadata.Because("command_on_pull", "number", b.Trigger.Pull)
	gone := none && number > 0 && b.Trigger.Review == nil
	if gone { // the issue may tell of a run whose branch was deleted, which is said
		b.turnToNumber(number)
		gone = b.voice.lastShown(ctx, metadata.Run{}) != page.State{}
	}
	switch {
	case gone:
	case none && (b.Trigger.Review != nil || asked.Outcome != command.Understood || asked.Command.Spec().Shared):
		return b.ignore(metadata.NothingDone, why)
	case none:
		return b.refuseAll(ctx, metadata.NothingDone, why)
	case err != nil:
		return b.undecided(err)
	case b.Trigger.Review != nil && waiting{Parsed: asked, Review: b.Trigger.Review}.idle(of):
		return b.ignore(metadata.NothingDone, phases.NothingToApprove(of.Run, of.Run.CurrentPhase))
	}
	b.turnToNumber(number)
	if b.Trigger.Review == nil {
		return nil
	}
	b.inbox.follow(b.Trigger.Pull)
	switch same, err := sameWorkflows(ctx, b.GitHub, b.Env.Branch(b.id()), cmp.Or(b.Trigger.Branch, "HEAD"), of.Run.BaseCommit); {
	case err != nil:
		return b.undecided(err)
	case !same:
		return b.refuseAll(ctx, metadata.PermissionDenied, metadata.Because("other_workflows", "branch", of.Run.BranchName))
	}
	return nil
}

// turnToNumber turns to an issue.
func (b *bot) turnToNumber(number int) {
	b.Trigger.Number, b.Issue = number, b.GitHub.Thread(number)
	b.inbox.turnTo(b.Issue)
}

// turnToWaiting turns from an issue that was closed to that of the first run which waits
// for it, and has jobs begin for the others.
func (b *bot) turnToWaiting(ctx context.Context) error {
	all, err := b.waitingFor(ctx, b.Trigger.Closed, waitingLabel)
	switch {
	case err != nil:
		return b.undecided(err)
	case len(all) == 0:
		return b.ignore(metadata.NothingDone, metadata.Because("nobody_waits", "number", b.Trigger.Closed))
	case b.In.Command != setup.GateOnly: // which has no right to
		b.voice.warnOf(b.wake(ctx, all[1:]))
	}
	b.turnToNumber(all[0])
	return nil
}

// elsewhere denies a workflow that runs on another branch than the default one.
func (b *bot) elsewhere(ctx context.Context) error {
	ref := runnerOf(b.Env).Ref
	if b.Trigger.Branch != "" || ref == "" {
		return nil
	}
	repo, err := b.GitHub.Repository(ctx)
	switch {
	case err != nil:
		return b.undecided(err)
	case ref != "refs/heads/"+repo.DefaultBranch:
		return &jobEnd{decision: denied, Denial: b.denial(metadata.ConfigInvalid, onOtherBranch(ref, repo.DefaultBranch))}
	}
	b.Trigger.Branch = repo.DefaultBranch
	return nil
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
		b.inbox.follow(w.Run.PRNumber)
	}
}

// replyNow answers what is answered at once: questions, and mistakes.
func (b *bot) replyNow(ctx context.Context, fresh bool) *jobEnd {
	end := &jobEnd{decision: replied}
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
	if end.err = b.voice.replyTo(ctx, waiting{Comment: *b.Trigger.Comment, Parsed: b.Trigger.Requested, OnPull: b.Trigger.Pull > 0}); end.err != nil {
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

// refuseAll answers that what was asked for is not done, and ends the job.
func (b *bot) refuseAll(ctx context.Context, code metadata.Code, why metadata.Reason) error {
	end := &jobEnd{decision: denied, Denial: b.denial(code, why)}
	b.react(ctx, github.Confused)
	b.refuseWhatAsked(ctx, end.Denial)
	return end
}

// refuseWhatAsked answers the comment or review that this job is for, or takes off the label and says that, each kind of reason once.
func (b *bot) refuseWhatAsked(ctx context.Context, d command.Denial) {
	switch {
	case b.Trigger.Comment != nil:
		b.voice.refuse(ctx, &message{comment: b.Trigger.Comment.ID, denial: d})
	case b.Trigger.Review != nil:
		b.tellReview(ctx, page.RefusalReply(page.ReviewMarker(b.Trigger.Review.ID), b.voice.language(), d))
	case b.Trigger.Label != "" && !b.In.Dry: // as long as it is there, nobody can add it
		b.takeLabel(ctx)
		marker := page.MarkerOf("label", b.id()+"/"+string(d.Code))
		if !b.hasRun() {
			d.Why = metadata.Because("label_refused", "why", d.Why, "label", b.Trigger.Label)
		}
		_, err := b.Issue.Post(ctx, marker, page.RefusalReply(marker, b.voice.language(), d), time.Time{})
		b.voice.warnOf(err)
	}
}

// tellReview answers the review that this job is for, below the pull request.
func (b *bot) tellReview(ctx context.Context, text string) {
	if b.In.Dry || b.voice.expired() {
		return
	}
	_, err := b.Pull.Post(ctx, page.ReviewMarker(b.Trigger.Review.ID), text, b.inbox.Start())
	b.voice.warnOf(err)
}

// broke ends a job with an error. The record is as it was last committed, so starting again goes on from there.
func (b *bot) broke(ctx context.Context, err error) *jobEnd {
	b.job.Group("")
	end := &jobEnd{decision: toRun, err: err, Denial: b.denial("", prompts.Why(err))}
	var no *command.Refusal
	switch {
	case lostRace(err):
		end.decision, end.Code, end.err = ignored, metadata.AlreadyRunning, nil
		end.Why = metadata.Because("taken_before")
		b.voice.outbox.clear()
		return end // nothing is told in the name of a run that others work on
	case errors.As(err, &no) && !errors.As(err, new(later)):
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
	if b.unpushed != nil && ctx.Err() == nil {
		told := *b.unpushed
		if b.w.Run.Status == metadata.Running {
			told = phases.Halt(told, end.Code, end.Why, b.Env.Now())
			b.delivery.tellStop(ctx, b.w.Plan, &told)
		}
		b.voice.flush(told) // the branch does not say it, nor what it has cost
	}
	if b.engine != nil && b.w.Run.Status == metadata.Failed && b.acted {
		b.tellPeople(ctx)
	}
	if b.engine != nil && b.w.Run.Status != metadata.Running && !errors.As(err, new(*git.PushError)) {
		_, err := b.engine.GiveBack(ctx, b.w.Run)
		b.holding = false
		b.voice.warnOf(err) // it is free when this job is over
	}
	return end
}
