package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// session opens the run of the issue, takes the commands that wait, and works
// until there is nothing more to do or a person is needed.
func (b *bot) session(ctx context.Context) jobEnd {
	if b.in.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, b.in.timeout, phases.ErrInterrupted)
		defer stop()
	}
	if no := b.closed(ctx); no != nil {
		return b.refuseAll(ctx, *no)
	}
	if b.in.dry {
		return b.rehearse(ctx)
	}
	if err := b.read(ctx, true); err != nil {
		return b.broke(ctx, err) // what was asked before is done before
	}
	defer func() {
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
	b.w, b.engine, b.holding = nil, nil, false
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

// opening says which run to open, with what the first /run or o asks for.
func (b *bot) opening(o *order) opening {
	out := opening{
		repo: b.workFolder(), id: b.id(), online: true, pipeline: b.in.pipeline, language: b.in.language, agent: b.in.agent, model: b.in.model,
		sandbox: b.in.sandbox, usd: b.in.usd, token: b.in.token, base: b.in.base, protect: b.in.protect, push: new(bool), theirs: true,
	}
	*out.push = !b.in.dry
	if b.t.issue != nil {
		out.given = &issue{
			ID: b.id(), Title: oneLine(b.t.issue.Title), Body: strings.TrimSpace(b.t.issue.Body), URL: b.t.issue.URL,
			Author: b.t.issue.Author, Labels: b.t.issue.Labels, Type: b.t.issue.Type,
		}
	}
	if o == nil {
		return out
	}
	out.part = pipelines.Part{From: o.From, Until: o.Until, Only: o.Only, Skip: o.Skip}
	if o.Pipeline != "" {
		out.pipeline = o.Pipeline
	}
	if o.Agent != "" {
		out.agent = o.Agent
	}
	if o.USD > 0 {
		out.usd = o.USD
	}
	return out
}

// workFolder is the checkout.
func (b *bot) workFolder() string {
	if dir := b.env.getenv("GITHUB_WORKSPACE"); dir != "" {
		return dir
	}
	return "."
}

// open opens the run. What it returns besides an error is how the job ends at
// once: because there is no run, or because another job works on it.
func (b *bot) open(ctx context.Context) (*jobEnd, error) {
	first := b.firstRun(ctx)
	w, err := openWorkspace(ctx, b.env, b.opening(first))
	var none *noRunError
	if errors.As(err, &none) || err == nil && w.fresh && first == nil {
		if err == nil {
			err = w.close()
		}
		b.w = nil
		end := b.refuseAll(ctx, denial{Code: metadata.StaleEvent, By: b.t.by, What: firstLine(b.t.text), Why: "this issue has no run; /run starts one"})
		return &end, err
	}
	if err != nil {
		return nil, err
	}
	b.w = w
	if no := b.held(ctx, w.run); no != nil {
		return &jobEnd{decision: ignored, denial: *no}, nil
	}
	b.engine, err = b.newEngine(b.opening(first))
	if err != nil {
		return nil, err
	}
	b.engine.Left = w.run.Execution.Lease != nil
	if !w.fresh {
		return nil, nil
	}
	return nil, b.start(ctx, *first)
}

// firstRun is the first /run that waits and that somebody with the right has
// given: a run that does not exist begins as it says.
func (b *bot) firstRun(ctx context.Context) *order {
	if b.t.comment == nil && b.t.asked.Command.Name == "run" {
		return &order{slashCommand: b.t.asked.Command, by: b.t.by, at: b.env.now()}
	}
	for _, c := range b.pending(metadata.Run{}) {
		if c.asked.Outcome != slashAsked || c.asked.Command.Name != "run" || c.comment.Edited() {
			continue
		}
		if who := c.comment.Author.Login; b.may(ctx, c.asker(), c.asked.role()) == nil {
			return &order{slashCommand: c.asked.Command, by: who, comment: c.comment.ID, url: c.comment.URL, at: b.env.now()}
		}
	}
	return nil
}

// closed says why no work is done on this issue, or nothing. The job may have
// waited long, so that is asked now; what the issue says is taken from the
// event, as it read for the one who asks. A run can be cancelled all the same.
func (b *bot) closed(ctx context.Context) *denial {
	is, err := b.gh.Issue(ctx, b.owner, b.name, b.t.number)
	if err == nil && b.t.issue == nil {
		b.t.issue = &is
	}
	if b.t.asked.Command.Name == "cancel" {
		return nil
	}
	no := &denial{Code: metadata.StaleEvent, By: b.t.by, What: firstLine(b.t.text)}
	var problem *github.Error
	switch {
	case errors.As(err, &problem) && (problem.Kind == github.NotFound || problem.Kind == github.Gone):
		no.Why = err.Error()
	case err != nil:
		no.Code, no.Why = apiProblem(err), err.Error()
	case is.State == "closed":
		no.Why = "the issue is closed; reopen it first"
	case is.Locked:
		no.Why = "the issue is locked; unlock it first"
	case is.IsPull:
		no.Code, no.Why = metadata.NoTrigger, fmt.Sprintf("number %d is a pull request; a run begins with an issue", b.t.number)
	default:
		return nil
	}
	return no
}

// newEngine wires the engine to the issue.
func (b *bot) newEngine(o opening) (*phases.Engine, error) {
	e, err := b.w.engine(b.env, o, b.reporter())
	if err != nil {
		return nil, err
	}
	e.Steering, e.Owner, e.Hold = b, b.me, longest(b.w.plan)
	return e, nil
}

// longest is more than a step of this plan may take, so that a lease which
// nobody renews is one that nobody holds.
func longest(plan *pipelines.Pipeline) time.Duration {
	most := time.Duration(0)
	for i := range plan.Phases {
		p, checks := &plan.Phases[i], time.Duration(0)
		for _, c := range p.Checks {
			checks += time.Duration(c.Timeout)
		}
		for _, s := range []pipelines.Step{p.Execute, p.Review, p.Revise} {
			most = max(most, time.Duration(s.Timeout), checks)
		}
		most = max(most, time.Duration(p.Retry.Cap))
	}
	return most + 5*time.Minute
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
	run := b.w.run
	if b.again && !b.holding && slices.Contains([]metadata.Status{metadata.Running, metadata.Interrupted, metadata.Failed}, run.Status) {
		run = phases.TakeUp(run, phases.Start{At: b.env.now()}) // the job was started again to go on
		if run.Status == metadata.Running {
			if err := b.engine.Amend(ctx, run, "the job was started again"); err != nil {
				return b.broke(ctx, err) // two may have been
			}
			b.w.run, b.holding = run, true
		}
		if c := b.t.comment; c != nil && b.holding {
			b.owes = append(b.owes, owed{c.ID, b.t.asked.Command.Name})
		}
	}
	if b.obeyed == 0 && !b.again && !b.engine.Holds() {
		return jobEnd{decision: ignored, denial: denial{Code: metadata.StaleEvent, By: b.t.by, What: firstLine(b.t.text), Why: "it was taken by another job, or refused"}}
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
	run, err = b.engine.Run(ctx, run)
	b.job.group("")
	return run, err
}

// broke ends a job with an error. The record is as it was last committed, so
// starting again goes on from there.
func (b *bot) broke(ctx context.Context, err error) jobEnd {
	b.job.group("")
	end := jobEnd{decision: toRun, err: err, denial: denial{By: b.t.by, What: firstLine(b.t.text), Why: err.Error()}}
	var no *refused
	switch {
	case taken(err):
		end.decision, end.Code, end.err = ignored, metadata.AlreadyRunning, nil
		end.Why = "another job took the run a moment before"
		return end // nothing is told in the name of a run that others work on
	case errors.As(err, &no):
		end.Code = no.code
	case ctx.Err() != nil: // whatever was cut off by that looks like a mistake of its own
		end.Code = metadata.RunCancelled
	case errors.As(err, new(later)):
		end.Code = metadata.APIError
	default:
		end.Code = codeFor(err)
	}
	sign := github.ThumbsDown
	if !b.began() && (end.Code == metadata.ConfigInvalid || end.Code == metadata.CredentialsMissing) {
		end.decision, sign = denied, github.Confused
	}
	b.failed(ctx, end.denial, sign)
	if b.engine != nil && b.w.run.Status != metadata.Running && !errors.As(err, new(*git.PushError)) {
		if _, err := b.engine.GiveBack(ctx, b.w.run); err != nil {
			b.warn(err) // it is free when this job is over
		}
	}
	return end
}
