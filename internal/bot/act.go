package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// Act is a step of a workflow: it reads the event, does what that asks
// for, and leaves outputs and a summary in any case.
func Act(ctx context.Context, env environ.Env, dry dryRunner) error {
	j, in, err := begin(env)
	defer func() { _ = j.Log.Close() }() // as for every other line, nobody can be told
	e := ending{job: j, in: in}
	if err == nil {
		err = e.wake(dry)
	}
	if why := j.Env.TooShort(); why != "" {
		j.Warning(why)
	}
	switch {
	case err != nil:
		e.jobEnd = jobEnd{decision: denied, Denial: command.Denial{Code: metadata.ConfigInvalid, Why: prompts.Why(err)}, err: err}
	case e.bot != nil:
		e.jobEnd = e.bot.act(ctx)
		e.t = e.bot.Trigger
	}
	return e.finish(ctx)
}

// ending is a job, with how it ends.
type ending struct {
	jobEnd
	job *environ.Job
	in  Inputs
	bot *bot // nil: nothing was begun
	t   trigger
}

// wake reads the event: it makes the bot that acts on it or, if nothing is to be done, says how the job ends.
func (e *ending) wake(dry dryRunner) error {
	j, r := e.job, runnerOf(e.job.Env)
	payload, err := j.Payload()
	if err != nil {
		return err
	}
	ev, err := github.ReadEvent(r.Event, payload)
	if err != nil {
		e.jobEnd = jobEnd{decision: ignored, Denial: command.Denial{Code: metadata.NothingDone, Why: prompts.Why(err)}}
		return nil
	}
	if ev.Comment != nil {
		ev.Comment.Body = j.Log.Mask(ev.Comment.Body) // what people say is kept with the run
	}
	for name, value := range ev.Inputs {
		ev.Inputs[name] = j.Log.Mask(value)
	}
	var no *command.Refusal
	if slices.Contains(setup.OnlyForms(), e.in.Command) {
		e.t = triggerOfIssue(ev, e.in, r)
	} else {
		e.t, no = triggerOf(ev, e.in, r)
	}
	if no == nil {
		e.bot, err = newBot(j, e.in, e.t, dry)
		return err
	}
	e.jobEnd = jobEnd{decision: denied, Denial: command.Denial{Code: no.Code, By: e.t.By, What: e.t.Text, Why: no.Why()}}
	if no.Code == metadata.NothingDone { // it is nobody's business
		e.decision = ignored
	}
	return nil
}

// finish writes outputs and summary, and gives the exit code. An event that is not for reprise, or that was refused,
// does not fail the job, because anybody can write comments.
func (e ending) finish(ctx context.Context) error {
	err := errors.Join(e.setOutputs(ctx), e.job.Summary(e.summaryPage()))
	if err != nil {
		e.job.Failure(err)
	}
	switch {
	case e.err != nil:
		e.job.Failure(e.err)
	case e.unknown(), e.Why != "" && e.exitCode() == exit.Failed:
		e.job.Failure(errors.New(e.said()))
	case e.Why != "" && e.decision == denied:
		e.job.Warning(e.said())
	case e.Why != "":
		e.job.Notice(e.said())
	}
	_, _ = fmt.Fprintf(e.job.Env.Stdout, "decision: %s, reason: %s\n", e.decision, e.Code)
	switch {
	case e.err != nil && errors.Is(context.Cause(ctx), engine.ErrInterrupted):
		return exit.Code(exit.Cancelled)
	case e.err != nil, err != nil:
		return exit.Code(exit.Failed)
	}
	if code := e.exitCode(); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// said is why nothing was done, or why a run stopped, for the log.
func (e ending) said() string {
	return text.JoinLines(e.Words(e.language()))
}

// exitCode is the exit code of a job: that of the run it worked on. A run that
// waits for a person, as it should, is no failure.
func (e ending) exitCode() int {
	if e.unknown() {
		return exit.Failed
	}
	if e.decision != toRun || !e.bot.hasRun() {
		return exit.Done
	}
	if e.Code == metadata.AwaitingPerson || e.Code == metadata.AwaitingCI || e.matrix != "" {
		return exit.Done
	}
	return view.ExitCode(e.bot.w.Run)
}

// mostResult is how many bytes the output with the result has at most: GitHub takes a megabyte,
// and counts two bytes for each character.
const mostResult = 500_000

// setOutputs sets every output that has a value.
func (e ending) setOutputs(ctx context.Context) (wrong error) {
	b, j := e.bot, e.job
	set := func(name string, value any) {
		wrong = errors.Join(wrong, j.Output(name, j.Known(fmt.Sprint(value))))
	}
	set("decision", e.decision)
	set("reason-code", e.Code)
	if e.t.Number > 0 {
		set("issue", e.t.Number)
	}
	if e.in.Part != "" {
		set("phase", e.in.Part)
	}
	if e.part != "" {
		set("status", e.part)
	}
	if b.hasRun() && e.decision == toRun {
		run := b.w.Run
		so := view.Result(phases.On(b.w.Plan, run))
		so.Head, so.Next = b.w.Repo.Tip(), nil // which are for a command line
		if e.err != nil {
			so.Error = j.Log.Mask(e.err.Error())
		}
		result, err := json.Marshal(so)
		brief := result
		if len(result) > mostResult {
			so.SummaryState = nil
			brief, err = json.Marshal(so)
		}
		if err != nil {
			return errors.Join(wrong, fmt.Errorf("write the result: %w", err))
		}
		set("result", string(brief))
		set("phase", so.Phase)
		set("status", run.Status)
		set("branch", run.BranchName)
		set("head-sha", so.Head)
		statement := filepath.Join(b.w.Repo.Dir(), phases.Folder(run.IssueNumber), metadata.StatementFile)
		if _, none := os.Stat(statement); none == nil && run.Status == metadata.Completed {
			set("statement", statement)
		}
		set("matrix", e.matrix)
		set("cost-usd", fmt.Sprintf("%.4f", run.Cost.USD))
		if run.PRNumber > 0 {
			set("pr-number", run.PRNumber)
			set("pr-url", run.PRURL)
		}
		if id := run.GitHubIntegration.ProgressCommentID; id > 0 {
			set("comment-id", id)
		}
		wrong = errors.Join(wrong, runs.KeepResults(ctx, j, b.w, string(result), e.in.Upload, b.voice.warn))
	}
	return wrong
}

// language is the language of a job: that of its run, else that of the input.
func (e ending) language() string {
	if e.bot != nil {
		return e.bot.voice.language()
	}
	return cmp.Or(e.in.Language, "en")
}

// summaryPage is the summary of the job.
func (e ending) summaryPage() string {
	b, t, language := e.bot, e.t, e.language()
	if e.part != "" {
		return e.text
	}
	versions := []page.Versioned{{Name: "reprise", Version: environ.VersionText()}}
	if b.hasRun() && e.decision == toRun {
		f := page.SummaryFacts{Notices: b.voice.facts(b.w.Run), Removed: slices.Concat(b.w.Removed, t.Requested.Removed), Denials: b.voice.denials(), Sandbox: cmp.Or(b.In.Sandbox, "best-effort"), Box: b.w.Box, Versions: versions}
		for _, h := range gate.KeysHeldBy(b.w.Plan.Agents, e.job.Env.Environ) {
			f.Held = append(f.Held, page.Versioned{Name: h.Program, Version: strings.Join(h.By, ", ")})
		}
		if e.err != nil && !slices.Contains(f.Warnings, e.Words(b.voice.language())) {
			f.Warnings = append(f.Warnings, e.Words(b.voice.language()))
		}
		return page.RunSummary(phases.On(b.w.Plan, b.w.Run), f)
	}
	f := page.EventFacts{Event: t.Event, Denial: e.Denial, Versions: versions}
	if t.Number > 0 {
		f.Issue = fmt.Sprint(t.Number)
	}
	if b != nil {
		b.voice.locked(func() { f.Warnings = b.voice.notices.Warnings })
	}
	if e.err == nil && (e.decision == replied && e.Code == "" || e.decision == toRun && e.in.Command == setup.GateOnly) {
		f.Handled, f.GoesOn, f.Denial = true, e.decision == toRun, command.Denial{By: t.By, What: t.Text}
	}
	return text.Join("\n\n", e.text, page.EventSummary(language, f))
}

// tellGone tells people that the job which had the run is gone, if the record still has the run at work in the name of one
// of the same run of the workflow. Nothing is committed: the next job takes the run over. It needs no checkout.
func (b *bot) tellGone(ctx context.Context) error {
	known, err := b.voice.known(ctx)
	run := known.Run
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b.undecided(err)
	}
	d := b.newDelivery()
	if err != nil || run.Status != metadata.Running || run.Execution.Lease == nil || !environ.SameJob(b.me, run.Execution.Lease.Owner) {
		if tellUnstarted(ctx, d, run, unstarted{For: b.Trigger.Other, Job: jobOf(b.me), At: b.Env.Now()}) {
			return &jobEnd{decision: replied}
		}
		return b.ignore(metadata.NothingDone, metadata.Because("nothing_ended"))
	}
	if told := b.voice.lastShown(ctx, run); told.Revision > run.Revision && told.Status == metadata.Failed {
		return b.ignore(metadata.NothingDone, metadata.Because("nothing_ended")) // the job could say itself why
	}
	run = phases.Interrupt(run, b.Env.Now())
	run.Stop.Why = metadata.Because("job_gone")
	b.voice.about = subject{Course: known.With(run), began: true}
	b.voice.flush(run)
	d.tellStop(ctx, known.Plan, &run)
	d.findPull(ctx, &run)
	d.keepDraft(ctx, known.With(run))
	return &jobEnd{decision: replied, Denial: command.Denial{Code: metadata.RunCancelled, Why: run.Stop.Why}}
}
