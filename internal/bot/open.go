package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// opening gives the options for opening the run, including those of the first /run, or of o.
func (b *bot) opening(o *command.Request) workspace.Options {
	out := workspace.Options{
		Query:  issue.Query{Id: b.id(), Online: true},
		Choice: workspace.Choice{Pipeline: b.In.Pipeline, Language: b.In.Language, Agent: b.In.Agent, Installed: b.In.There, Model: b.In.Model, Policy: b.In.Policy, Workflow: b.delivery.Own},
		Repo:   b.workFolder(), Sandbox: b.In.Sandbox, More: phases.Allowance{USD: b.In.USD}, Token: b.In.Token, Base: b.In.Base, Author: b.author, Push: new(bool), TakeTheirs: true, TrustBranch: true,
	}
	*out.Push = !b.In.Dry
	if b.Trigger.Issue != nil {
		out.Given = &issue.Issue{
			ID: b.id(), Title: text.OneLine(b.Trigger.Issue.Title), Body: issue.TrimLines(b.Trigger.Issue.Body), URL: b.Trigger.Issue.URL,
			Author: b.Trigger.Issue.Author, Labels: ownLabels(b.Trigger.Issue.Labels), Type: b.Trigger.Issue.Type,
		}
	}
	if o == nil {
		return out
	}
	out.Hear = b.hear(*o)
	out.Part = o.Part
	out.Pipeline, out.Agent = cmp.Or(o.Pipeline, out.Pipeline), cmp.Or(o.Agent, out.Agent)
	out.More = o.More
	out.More.USD = cmp.Or(o.More.USD, b.In.USD)
	return out
}

// hear gives what reads the discussion as it was when a command was given.
func (b *bot) hear(o command.Request) issue.Hear {
	place := discussionPlace{Thread: b.GitHub.Thread(b.Trigger.Number), Before: o.Written, Users: b.In.Users, Bots: b.In.Bots, Warn: b.voice.warn}
	if o.Written.IsZero() {
		place.Before = b.Trigger.At
	}
	return place.hear
}

// open opens the run. The job ends if there is none, or if another job works on it.
func (b *bot) open(ctx context.Context) error {
	b.sign(ctx)
	first := b.firstRun(ctx)
	w, err := workspace.Open(ctx, b.Env, b.opening(first))
	if lost := (&git.NotARepository{}); errors.As(err, &lost) && strings.Contains(lost.Why, "not in a git repository") || errors.As(err, new(*git.NoCommits)) {
		return command.Refuse(metadata.ConfigInvalid, metadata.Because("no_checkout"))
	}
	if err == nil && w.Fresh {
		found, none := b.voice.known(ctx)
		if none != nil && !errors.Is(none, fs.ErrNotExist) {
			b.voice.warn(none)
		}
		if none == nil { // the issue had a run whose branch is gone, and whose record is kept
			// What was asked of that run is not asked of a new one, if another job has not just begun it.
			b.before = found.Run
			first = b.firstRun(ctx)
			if err = w.Close(); err == nil {
				w, err = workspace.Open(ctx, b.Env, b.opening(first))
			}
			if err == nil && !w.Fresh {
				b.before = metadata.Run{}
			}
		}
	}
	if errors.As(err, new(*workspace.NoRunError)) || err == nil && w.Fresh && first == nil {
		if err == nil {
			err = w.Close()
		}
		b.turnTo(nil)
		why := metadata.Reason("")
		if b.hadRun(ctx) {
			why = metadata.Because("branch_deleted", "branch", b.Env.Branch(b.id()))
		}
		return cmp.Or(err, b.refuseAll(ctx, metadata.NoRun, why))
	}
	if err != nil {
		return err
	}
	b.turnTo(w)
	switch why, apart := b.holder(ctx, w.Run.Execution.Lease); { // another process works on the run
	case apart && (b.Trigger.Comment != nil || b.Trigger.Review != nil || b.Trigger.Label != ""):
		return b.refuseAll(ctx, metadata.AlreadyRunning, why)
	case why != "":
		return b.ignore(metadata.AlreadyRunning, why)
	}
	if err := b.wire(ctx, b.opening(first)); err != nil {
		return err
	}
	b.orphan = w.Run.Execution.Lease != nil
	b.engine.StaleLease = b.orphan
	if b.orphan {
		b.delivery.findGone(ctx, &w.Run)
		w.Run.Cost.USD = max(w.Run.Cost.USD, b.voice.lastShown(ctx, w.Run).USD)
		run, err := foldParts(ctx, w, b.engine, b.voice.warn)
		b.keep(run)
		return err
	}
	if !w.Fresh {
		return nil
	}
	return b.start(ctx, *first)
}

// hadRun reports whether the issue had a run whose branch is gone: its record is kept, or its comment is there.
func (b *bot) hadRun(ctx context.Context) bool {
	return b.before.IssueNumber != "" || b.voice.lastShown(ctx, metadata.Run{}) != page.State{}
}

// firstRun is the first waiting /run by somebody with the right.
func (b *bot) firstRun(ctx context.Context) *command.Request {
	if b.Trigger.byForm() && b.Trigger.asksToRun() {
		return &command.Request{Command: b.Trigger.Requested.Command, By: b.Trigger.By, At: b.Env.Now()}
	}
	for _, c := range b.inbox.pending(b.before) {
		if c.Review != nil || c.Parsed.Outcome != command.Understood || c.Parsed.Command.Name != "run" || c.Comment.Edited() {
			continue
		}
		if b.inbox.may(ctx, c.Comment.Author, c.Parsed.Role(), false) == nil {
			return new(b.inbox.request(b.before, c))
		}
	}
	return nil
}

// closed says why no work is done on this issue; an empty code, that some is. That is asked now, since the job may have waited long.
// The text of the issue, however, is that of the event, which is what the author of the command has read.
func (b *bot) closed(ctx context.Context) (metadata.Code, metadata.Reason) {
	is, err := b.GitHub.Issue(ctx, b.Trigger.Number)
	if err == nil && b.Trigger.Issue == nil {
		b.Trigger.Issue = &is
	}
	b.delivery.Labelled = slices.Contains(is.Labels, waitingLabel)
	return issue.WhyNoWork(is, err)
}

// wire makes an engine that is wired to the issue.
func (b *bot) wire(ctx context.Context, o workspace.Options) error {
	b.voice.speakOf(b.w)
	b.w.Warn = b.voice.warn
	if err := b.letSign(ctx, b.w); err != nil {
		return err
	}
	e, err := b.w.Engine(o, botView{terminal.NewView(b.Env.Stdout, terminal.Options{Plan: b.w.Plan, Verbose: b.In.Show, Group: b.job.Group}), b.voice})
	if err != nil {
		return err
	}
	b.w.Hooks.Missed(ctx)
	hooks := e.Committed
	e.Committed = func(ctx context.Context, run metadata.Run) {
		hooks(ctx, run)
		b.statuses.Keep(ctx, phases.On(b.w.Plan, run), b.w.Repo.Tip())
	}
	telemetry.Follow(ctx, e, b.w.Run)
	base := &BaseUpdater{
		Workspace: b.w, Engine: e, Base: b.delivery.base(b.w), Renamed: b.delivery.renamed, Now: b.Env.Now, Warn: b.voice.warn,
		Tell: func(said metadata.Reason) {
			b.voice.change(func(n *page.Notices) { n.Base = said })
			if said != "" {
				b.delivery.Redraft(ctx, b.w.Run)
			}
		},
	}
	e.Sources = []engine.Source{base.Next}
	e.Steering, e.Owner, e.Hold = b, b.me, workspace.Longest(b.w.Plan)
	if b.In.FanOut && b.In.Command != setup.JoinOnly {
		SplitIntoParts(e)
	}
	b.engine = e
	b.voice.engine.Store(e)
	return nil
}

// start commits the first record of a run, in which its first command is taken. The job that pushes first has the
// run. Commands from before that one had no run: they are taken in the same commit, and refused.
func (b *bot) start(ctx context.Context, o command.Request) error {
	if err := b.preflight.Check(ctx, b.w, b.opening(nil), b.delivery.base(b.w), b.w.Run); err != nil {
		return err
	}
	if b.w.Open {
		if err := ChoosePipeline(ctx, b.w, b.opening(&o)); err != nil {
			return err
		}
		if err := b.wire(ctx, b.opening(&o)); err != nil {
			return err
		}
	}
	early, err := b.early(ctx, o)
	if err != nil {
		return err
	}
	no := command.Refuse(metadata.StaleEvent, metadata.Because("no_run_yet"))
	next := b.w.Run
	for _, c := range early {
		next = phases.Take(next, next, c.Taken(command.Effect{Why: command.Refused(no.Why())}))
	}
	next = phases.Take(next, next, b.taken(o, command.Effect{Why: metadata.Because("run_begins")}))
	if o.Comment == 0 {
		next.Cursor = b.inbox.newest(b.askedAt(ctx)) // what people wrote before is not about this run
	}
	again := b.hadRun(ctx)
	next.Revision = b.w.Run.Revision // all this is the first record, by which a statement knows that it has the whole run
	if err := b.engine.Begin(ctx, next); err != nil {
		return err
	}
	b.w.Fresh = false
	b.keep(next)
	b.holding = true
	b.answer(o, nil)
	for _, c := range early {
		b.answer(c, no)
	}
	b.tellTaken()
	for _, names := range b.w.Closed {
		b.voice.warn(phases.Refuse(names))
	}
	if again {
		b.voice.warn(phases.Refuse(metadata.Because("begun_anew", "branch", cmp.Or(b.before.BranchName, b.w.Branch))))
	}
	return nil
}

// tellTaken says what was found out while the run was opened, what of the discussion was
// taken, and what was taken out of it and of the issue.
func (b *bot) tellTaken() {
	for _, heard := range b.w.Heard() {
		b.job.Notice(heard)
	}
	for _, r := range b.w.Removed {
		b.job.Notice(fmt.Sprintf("taken out of the issue, because people do not see it: %d %s", r.Count, strings.ReplaceAll(string(r.Kind), "_", " ")))
	}
}

// early gives the commands that somebody with the right gave before the one that begins a run. Questions and mistakes
// from then that nobody has accepted are answered.
func (b *bot) early(ctx context.Context, first command.Request) (out []command.Request, err error) {
	for _, c := range b.inbox.pending(b.before) {
		if c.Comment.ID >= first.Comment {
			break
		}
		no, denied := errors.AsType[*command.Refusal](b.inbox.may(ctx, c.Comment.Author, c.Parsed.Role(), false))
		switch {
		case denied && no.Code == metadata.APIError:
			return nil, later{no}
		case denied || c.Comment.Edited():
		case c.Parsed.Outcome == command.Mistaken || c.Parsed.Command.Now():
			if c.Comment.ID != b.Trigger.said() {
				b.voice.outbox.answer(c)
			}
		default:
			out = append(out, b.inbox.request(b.before, c))
		}
	}
	return out, nil
}

// dryRunner carries a run on in a scratch copy, prints what it would have left behind, and gives how the run ended.
type dryRunner func(ctx context.Context, w *workspace.Workspace, o workspace.Options, in Inputs) (metadata.Run, error)

// rehearse goes through the whole pipeline with the rehearsal agent on a
// scratch copy. Nothing is written to the forge.
func (b *bot) rehearse(ctx context.Context) error {
	if !b.Trigger.asksToRun() {
		return b.ignore(metadata.NothingDone, metadata.Because("rehearses_run"))
	}
	o := b.opening(&command.Request{Command: b.Trigger.Requested.Command})
	o.Scratch, o.Agent, o.Token = true, agents.Rehearsal, ""
	w, err := workspace.Open(ctx, b.Env, o)
	if err != nil {
		return err
	}
	b.turnTo(w)
	run, err := b.dryRun(ctx, w, o, b.In)
	b.keep(run)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(b.Env.Stdout, "Nothing was left behind.")
	return &jobEnd{decision: toRun, Denial: command.Denial{Code: metadata.Done}}
}
