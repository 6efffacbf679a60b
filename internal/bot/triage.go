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
	"github.com/reprise-ci/reprise/internal/environ"
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
func ChoosePipeline(ctx context.Context, w *workspace.Workspace, o workspace.Options) (err error) {
	if !w.Fresh || !w.Open {
		return nil
	}
	a := asking{env: w.Env, w: w, agent: w.Plan.Phases[0].Execute.Agent}
	_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+text.Flat(w.Shown("judging", "agent", a.agent)))
	if a.engine, err = w.Engine(o, engine.Quiet{}); err != nil {
		return err
	}
	if err := a.engine.Tree.Prepare(ctx); err != nil {
		return err
	}
	j, err := a.ask(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := metadata.Because("chosen_judged", "agent", a.agent, "kind", j.Kind, "size", j.Size, "risk", j.Risk)
	name := j.Pipeline()
	o.Weight = string(j.Weight())
	switch j.Weight() {
	case source.Light:
		why = metadata.All(why, metadata.Because("chosen_light", "n", source.LightRevisions))
	case source.Careful:
		why = metadata.All(why, metadata.Because("chosen_careful", "n", source.CarefulRevisions))
	}
	if err != nil {
		name, why = w.Plan.Name, metadata.Because("chosen_unjudged", "agent", a.agent, "why", a.failed(err))
	}
	if err := w.Choose(ctx, o, name, why); err != nil {
		return err
	}
	w.Run = phases.WithUsage(w.Run, a.used)
	w.Run.Decisions = append(w.Run.Decisions, metadata.Decision{
		At: w.Env.Now(), Step: source.ChooseStep,
		Why: metadata.Because("chosen", "name", name, "why", why, "cost", fmt.Sprintf("$%.4f", a.used.USD)),
	})
	return w.Ready(o)
}

// asking is an agent that is asked about an issue.
type asking struct {
	env    environ.Env
	w      *workspace.Workspace
	engine *engine.Engine
	agent  string // its name in the pipeline
	used   metadata.Usage
}

// ask asks the agent, once.
func (a *asking) ask(ctx context.Context) (j source.Judgment, err error) {
	agent, err := a.engine.Agent(a.agent)
	if err != nil {
		return j, err
	}
	t, err := a.task()
	if err != nil {
		return j, err
	}
	call, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := agent.Run(call, t)
	a.used = r.Usage
	// It has no tools. One that is not held in by a sandbox may have written all the same.
	if err := errors.Join(err, a.engine.Tree.Restore(context.WithoutCancel(ctx))); err != nil {
		return j, err
	}
	return source.ParseJudgment(r.Structured)
}

// task is what the agent is asked. It sees the text of the issue and nothing else.
func (a *asking) task() (_ engine.Task, err error) {
	w := a.w
	t := engine.Task{
		Issue: w.Run.IssueNumber, Title: w.Run.IssueTitle, Phase: pipelines.Auto, Step: source.ChooseStep, Language: w.Run.Language,
		Dir: a.engine.Tree.Dir(), Access: pipelines.AccessNone, Network: pipelines.Network{Closed: true}, Schema: source.JudgmentSchema(),
		Session: a.engine.NewID(), Model: w.Plan.Agents[a.agent].Models["light"], BudgetUSD: phases.RemainingUSD(w.Run),
		Timeout: patience, Idle: patience,
	}
	t.Artifact = filepath.Join(t.Dir, filepath.FromSlash(phases.RecordFile(w.Issue.ID)))
	t.Model = cmp.Or(w.Plan.Given.Model, t.Model)
	data := prompts.Data{
		Pipeline: pipelines.Auto, Phase: t.Phase, Step: string(t.Step), Access: string(t.Access), Artifact: t.Artifact, Dir: t.Dir,
		Schema: string(t.Schema), Issue: a.engine.Issue,
	}
	data.Boundary = prompts.NewBoundary(rand.Reader, data.Texts()...)
	t.Prompt, err = w.Words.Render(string(t.Step), data)
	return t, err
}

// failed says why there is no judgment.
func (a *asking) failed(err error) metadata.Reason {
	if broke, is := errors.AsType[*engine.AgentError](err); is {
		return broke.WhyBroke(a.env.Finder().Mask)
	}
	return metadata.Because("failed", "error", metadata.Said(text.FirstLine(a.env.Finder().Mask(err.Error()))))
}

// consult asks an agent whether the run has to go back. If it is sure, the effect is the rollback; otherwise it is
// nothing but what the call cost. An error that is a *command.Refusal comes with an effect, too, if an agent was
// called. Any other one leaves the command to be taken again.
func (b *bot) consult(ctx context.Context, run metadata.Run, o command.Request) (command.Effect, error) {
	if err := b.mayConsult(run); err != nil {
		return command.Effect{}, err
	}
	asks := command.AskedWhether(phases.On(b.w.Plan, run))
	// Before anything is spent, nobody else may have taken the run.
	since, err := b.amend(ctx, phases.Touch(run, b.Env.Now()), asks.In(prompts.Words("en")))
	if err != nil {
		return command.Effect{}, err
	}
	_, _ = fmt.Fprintln(b.Env.Stdout, text.Flat(asks.In(prompts.Words(b.voice.language()))))
	b.voice.warnOf(process.Harden())
	next, d, err := b.engine.Examine(ctx, since, o.Text)
	if next.Revision == since.Revision { // no agent was called
		return command.Effect{}, err
	}
	x := command.Effect{Since: &since, Run: next, Phase: next.CurrentPhase}
	if err == nil {
		return b.follow(ctx, x, d, o)
	}
	code, told := command.Undiagnosed(ctx, err)
	if !told {
		_, noted := b.amend(ctx, next, "diagnosed")
		return command.Effect{}, errors.Join(err, noted)
	}
	return x, command.Refuse(code, metadata.Because("undiagnosed", "diagnosed", command.LastWhy(next)))
}

// mayConsult says what is missing for an agent to be asked.
func (b *bot) mayConsult(run metadata.Run) error {
	opts, err := workspace.AgentOptions(b.w, b.opening(nil))
	if err != nil {
		return err
	}
	if why := b.w.Missing(phases.Diagnosing(phases.On(b.w.Plan, run)).Agent, opts); len(why) > 0 {
		return command.Refuse(metadata.CredentialsMissing, metadata.Because("not_asked", "why", workspace.Lined(why)))
	}
	b.w.SayLacking()
	return nil
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
