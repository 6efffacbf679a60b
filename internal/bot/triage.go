package bot

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
	"github.com/reprise-ci/reprise/prompts"
)

// patience is how long one call may take.
const patience = 3 * time.Minute

// ChoosePipeline gives a run that is about to begin its pipeline, if that is open: the one that an agent's
// judgment of the issue leads to or, without one, the one that the run has already. The record says why.
func ChoosePipeline(ctx context.Context, w *workspace.Workspace, o workspace.Options) error {
	if !w.Fresh || !w.Open {
		return nil
	}
	agent := w.Plan.Phases[0].Execute.Agent
	_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+text.Flat(w.Shown("judging", "agent", agent)))
	e, err := w.Engine(o, engine.Quiet{})
	if err == nil {
		err = e.Tree.Prepare(ctx)
	}
	if err != nil {
		return err
	}
	j, used, err := judge(ctx, w, e, agent)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	name, why := j.Pipeline(), metadata.Because("chosen_judged", "agent", agent, "kind", j.Kind, "size", j.Size, "risk", j.Risk)
	o.Weight = string(j.Weight())
	switch j.Weight() {
	case source.Light:
		why = metadata.All(why, metadata.Because("chosen_light", "n", source.LightRevisions))
	case source.Careful:
		why = metadata.All(why, metadata.Because("chosen_careful", "n", source.CarefulRevisions))
	}
	if err != nil {
		failed := prompts.Why(err)
		if broke, is := errors.AsType[*engine.AgentError](err); is {
			failed = broke.WhyBroke(w.Env.Finder().Mask)
		} else if failed.Code() == "failed" {
			failed = metadata.Because("failed", "error", metadata.Said(text.FirstLine(w.Env.Finder().Mask(err.Error()))))
		}
		name, why = w.Plan.Name, metadata.Because("chosen_unjudged", "agent", agent, "why", failed)
	}
	if err := w.Choose(ctx, o, name, why); err != nil {
		return err
	}
	w.Run = phases.WithUsage(w.Run, used)
	w.Run.Decisions = append(w.Run.Decisions, metadata.Decision{
		At: w.Env.Now(), Step: source.ChooseStep,
		Why: metadata.Because("chosen", "name", name, "why", why, "cost", fmt.Sprintf("$%.4f", used.USD)),
	})
	return w.Ready(o)
}

// judge asks an agent about the issue, once. It sees the text of the issue and nothing else.
func judge(ctx context.Context, w *workspace.Workspace, e *engine.Engine, name string) (j source.Judgment, used metadata.Usage, err error) {
	agent, err := e.Agent(name)
	today, spent, wrong := e.RemainingToday(ctx, w.Run)
	if err = cmp.Or(err, wrong); err != nil {
		return j, used, err
	} else if spent != "" {
		return j, used, &engine.OverBudget{Reason: spent}
	}
	t := engine.Task{
		Issue: w.Run.IssueNumber, Title: w.Run.IssueTitle, Phase: pipelines.Auto, Step: source.ChooseStep, Language: w.Run.Language,
		Dir: e.Tree.Dir(), Access: pipelines.AccessNone, Network: pipelines.Network{Closed: true}, Schema: source.JudgmentSchema(),
		Session: e.NewID(), Model: cmp.Or(w.Plan.Given.Model, w.Plan.Agents[name].Models["light"]), BudgetUSD: cmp.Or(min(today, phases.RemainingUSD(w.Run)), today, phases.RemainingUSD(w.Run)),
		Timeout: patience, Idle: patience, Artifact: filepath.Join(e.Tree.Dir(), filepath.FromSlash(phases.RecordFile(w.Issue.ID))),
	}
	data := prompts.Data{
		Pipeline: pipelines.Auto, Phase: t.Phase, Step: string(t.Step), Access: string(t.Access), Artifact: t.Artifact, Dir: t.Dir,
		Schema: string(t.Schema), Issue: e.Issue,
	}
	data.Boundary = prompts.NewBoundary(rand.Reader, data.Texts()...)
	if t.Prompt, err = w.Words.Render(string(t.Step), data); err != nil {
		return j, used, err
	}
	call, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := agent.Run(call, t)
	// It has no tools. One that is not held in by a sandbox may have written all the same.
	if err = errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx))); err == nil {
		j, err = source.ParseJudgment(r.Structured)
	}
	return j, r.Usage, err
}

// consult asks an agent whether the run has to go back. If it is sure, the effect is the rollback; otherwise it is
// nothing but what the call cost. An error that is a *command.Refusal comes with an effect, too, if an agent was
// called. Any other one leaves the command to be taken again.
func (b *bot) consult(ctx context.Context, run metadata.Run, o command.Request) (command.Effect, error) {
	opts, err := workspace.AgentOptions(b.w, b.opening(nil))
	if err != nil {
		return command.Effect{}, err
	}
	if why := b.w.Missing(phases.Diagnosing(phases.On(b.w.Plan, run)).Agent, opts); len(why) > 0 {
		return command.Effect{}, command.Refuse(metadata.CredentialsMissing, metadata.Because("not_asked", "why", workspace.Lined(why)))
	}
	b.w.SayLacking()
	asks := command.AskedWhether(phases.On(b.w.Plan, run))
	// Before anything is spent, nobody else may have taken the run.
	since := phases.Touch(run, b.Env.Now())
	if err := b.amend(ctx, since, asks.In(prompts.Words("en"))); err != nil {
		return command.Effect{}, err
	}
	_, _ = fmt.Fprintln(b.Env.Stdout, text.Flat(asks.In(prompts.Words(b.voice.language()))))
	b.voice.warnOf(process.Harden())
	next, d, err := b.engine.Examine(ctx, since, o.Text)
	if next.Revision == since.Revision { // no agent was called
		return command.Effect{}, err
	}
	since.Cost = next.Cost
	b.keep(since)
	b.unpushed = &since
	x := command.Effect{Since: &since, Run: next, Phase: next.CurrentPhase}
	if err == nil {
		return b.follow(ctx, x, d, o)
	}
	code, told := command.Undiagnosed(ctx, err)
	if !told {
		return command.Effect{}, errors.Join(err, b.amend(ctx, next, "diagnosed"))
	}
	return x, command.Refuse(code, metadata.Because("undiagnosed", "diagnosed", command.LastWhy(next)))
}

// follow gives what a diagnosis makes of the run of x: a rollback, or a proposal to people, or nothing.
func (b *bot) follow(ctx context.Context, x command.Effect, d phases.Diagnosis, o command.Request) (command.Effect, error) {
	diagnosed := command.LastWhy(x.Run)
	if !d.NeedsRollback {
		x.Why = metadata.Because("auto_needless", "diagnosed", diagnosed, "analysis", command.Analysis(d))
		return x, nil
	}
	x.Phase = d.ToPhase
	back, err := phases.FollowDiagnosis(phases.On(b.w.Plan, x.Run), d, phases.Rollback{By: o.By, CommentURL: o.Url, Restore: o.Restore, At: b.Env.Now()})
	if err != nil {
		return x, command.Refuse(metadata.NothingDone, metadata.Because("rollback_impossible", "command", metadata.Said(command.ProposedBy(d, o.Restore).Line()), "why", prompts.Why(err)))
	}
	not := command.Reluctance(d, x.Run, o.DryRun)
	if not == "" && o.Restore {
		if _, missing := b.w.EndOf(ctx, d.ToPhase, 0); missing != nil {
			not = prompts.Why(missing)
		}
	}
	if not != "" {
		x.Why = command.Proposal(diagnosed, d, not)
		return x, nil
	}
	back.Before = *x.Since
	x.Run, x.Back = back.Run, &back
	x.Why = metadata.Because("auto_done", "diagnosed", diagnosed, "analysis", command.Analysis(d))
	return x, nil
}
