package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

func actionCommand(env environment) *cobra.Command {
	return &cobra.Command{
		Use: "action", Hidden: true, Short: "Do what the event asks that started a workflow (for action.yml)",
		RunE: func(c *cobra.Command, _ []string) error { return runAction(c.Context(), env) },
	}
}

// runAction is a step of a workflow: it reads the event, does what that asks
// for, and leaves outputs and a summary in any case.
func runAction(ctx context.Context, env environment) error {
	env.hide = env.finder()
	j := newJob(env)
	defer func() { _ = j.log.Close() }() // as for every other line, nobody can be told
	in, err := readInputs(j)
	j.maskAll(env.secrets())
	j.stop()
	var b *bot
	t, end := trigger{}, jobEnd{decision: denied, denial: denial{Code: metadata.ConfigInvalid}}
	if err == nil {
		if in.prefix != "" {
			j.env.environ = append(j.env.environ, "REPRISE_BRANCH_PREFIX="+in.prefix)
		}
		b, t, end, err = j.wake(in)
	}
	if why := env.tooShort(); why != "" {
		j.warning(why)
	}
	if b != nil {
		end = b.act(ctx)
	}
	if err != nil {
		end.err, end.Why = err, phases.WhyOf(err)
	}
	return j.finish(ctx, in, b, t, end)
}

// wake reads the event, and gives what acts on it, or how the job ends if
// nothing does.
func (j *job) wake(in inputs) (*bot, trigger, jobEnd, error) {
	r := runnerOf(j.env)
	payload, err := j.payload()
	if err != nil {
		return nil, trigger{}, jobEnd{decision: denied, denial: denial{Code: metadata.ConfigInvalid}}, err
	}
	ev, err := github.ReadEvent(r.event, payload)
	if err != nil {
		return nil, trigger{}, jobEnd{decision: ignored, denial: denial{Code: metadata.NoTrigger, Why: phases.WhyOf(err)}}, nil
	}
	if ev.Comment != nil {
		ev.Comment.Body = j.log.mask(ev.Comment.Body) // what people say is kept with the run
	}
	for name, value := range ev.Inputs {
		ev.Inputs[name] = j.log.mask(value)
	}
	t, no := triggerOf(ev, in, r)
	if no != nil {
		return nil, t, jobEnd{decision: decisionOf(no.Code), denial: *no}, nil
	}
	b, err := newBot(j, in, t)
	return b, t, jobEnd{decision: denied, denial: denial{Code: metadata.ConfigInvalid}}, err
}

// decisionOf tells what is nobody's business from what is refused.
func decisionOf(code metadata.Code) decision {
	if code == metadata.NoTrigger || code == metadata.NotACommand {
		return ignored
	}
	return denied
}

// finish writes outputs and summary, and gives the exit code. What was merely
// not for us, or refused, does not fail the job: anybody can write comments.
func (j *job) finish(ctx context.Context, in inputs, b *bot, t trigger, end jobEnd) error {
	err := errors.Join(j.outputs(b, t, end), j.summary(j.page(in, b, t, end)))
	if err != nil {
		j.failure(err)
	}
	switch {
	case end.err != nil:
		j.failure(end.err)
	case end.unknown(), end.Why != "" && exitIn(b, end) == exitFailed:
		j.failure(fmt.Errorf("%s: %s", end.Code, reasons(phases.Say(languageOf(in, b), end.Why))))
	case end.Why != "" && end.decision == denied:
		j.warning(fmt.Sprintf("%s: %s", end.Code, reasons(phases.Say(languageOf(in, b), end.Why))))
	case end.Why != "":
		j.notice(fmt.Sprintf("%s: %s", end.Code, reasons(phases.Say(languageOf(in, b), end.Why))))
	}
	_, _ = fmt.Fprintf(j.env.stdout, "decision: %s, reason: %s\n", end.decision, end.Code)
	switch {
	case end.err != nil && errors.Is(context.Cause(ctx), phases.ErrInterrupted):
		return exitCode(exitCancelled)
	case end.err != nil, err != nil:
		return exitCode(exitFailed)
	}
	if code := exitIn(b, end); code != exitDone {
		return exitCode(code)
	}
	return nil
}

// exitIn is the exit code of a job: that of the run it worked on. One that
// waits for a person as it should is no failure.
func exitIn(b *bot, end jobEnd) int {
	if end.unknown() {
		return exitFailed
	}
	if end.decision != toRun || !b.began() {
		return exitDone
	}
	if end.Code == metadata.AwaitingPerson {
		return exitDone
	}
	return exitOf(b.w.run)
}

// outputs sets every output there is something to say about.
func (j *job) outputs(b *bot, t trigger, end jobEnd) error {
	values := [][2]string{{"decision", string(end.decision)}, {"reason-code", string(end.Code)}}
	set := func(name string, value any) { values = append(values, [2]string{name, fmt.Sprint(value)}) }
	if t.number > 0 {
		set("issue", t.number)
	}
	if b.began() && end.decision == toRun {
		run := b.w.run
		so := phases.Summarize(b.w.plan, run)
		so.Head = b.w.repo.Tip()
		if end.err != nil {
			so.Error = j.log.mask(end.err.Error())
		}
		result, err := json.Marshal(so)
		if err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		set("result", string(result))
		set("phase", so.Phase)
		set("status", run.Status)
		set("branch", run.BranchName)
		set("head-sha", so.Head)
		set("cost-usd", fmt.Sprintf("%.4f", run.Cost.USD))
		if run.PRNumber > 0 {
			set("pr-number", run.PRNumber)
			set("pr-url", run.PRURL)
		}
		if id := run.GitHubIntegration.ProgressCommentID; id > 0 {
			set("comment-id", id)
		}
		if dir := b.resultsDir(); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(j.known(string(result))+"\n"), 0o644); err != nil {
				return err
			}
		}
	}
	var wrong []error
	for _, v := range values {
		wrong = append(wrong, j.output(v[0], j.known(v[1])))
	}
	return errors.Join(wrong...)
}

// languageOf is what a job speaks: that of its run, or as the workflow says.
func languageOf(in inputs, b *bot) string {
	if b != nil {
		return b.language()
	}
	return cmp.Or(in.language, "en")
}

// page is the summary of the job.
func (j *job) page(in inputs, b *bot, t trigger, end jobEnd) string {
	language := languageOf(in, b)
	versions := []versioned{{"reprise", versionText()}}
	if b.began() && end.decision == toRun {
		f := summaryFacts{told: b.facts(b.w.run), Removed: slices.Concat(b.w.removed, t.asked.Removed), Denials: b.noted, Sandbox: b.sandboxAsked(), Box: b.w.box, Versions: versions}
		if end.err != nil && !slices.Contains(f.Warnings, end.words(b.language())) {
			f.Warnings = append(f.Warnings, end.words(b.language()))
		}
		return runSummary(b.w.plan, b.w.run, f)
	}
	f := eventFacts{Event: t.event, denial: end.denial, Versions: versions}
	if t.number > 0 {
		f.Issue = fmt.Sprint(t.number)
	}
	if b != nil {
		f.Warnings = b.told.Warnings
		language = b.language()
	}
	if end.err == nil && (end.decision == replied && end.Code == "" || end.decision == toRun && in.command == gateOnly) {
		f.denial = denial{By: t.by, What: t.text}
		return joined("\n\n", end.text, handledSummary(language, end.decision, f))
	}
	return joined("\n\n", end.text, eventSummary(language, f))
}
