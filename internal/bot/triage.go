package bot

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
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
func ChoosePipeline(ctx context.Context, env environ.Env, w *workspace.Workspace, o workspace.Options) error {
	if !w.Fresh || !w.Open {
		return nil
	}
	a := asking{env: env, w: w, agent: w.Plan.Phases[0].Execute.Agent}
	_, _ = fmt.Fprintln(env.Stderr, "reprise: "+text.Flat(w.Shown("judging", "agent", a.agent)))
	var err error
	if a.engine, err = w.Engine(env, o, engine.Quiet{}); err != nil {
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
	if err := w.Choose(ctx, env, o, name, why); err != nil {
		return err
	}
	w.Run = phases.WithUsage(w.Run, a.used)
	w.Run.Decisions = append(w.Run.Decisions, metadata.Decision{
		At: env.Now(), Step: source.ChooseStep,
		Why: metadata.Because("chosen", "name", name, "why", why, "cost", fmt.Sprintf("$%.4f", a.used.USD)),
	})
	opts, err := workspace.AgentOptions(env, w, o)
	if err != nil {
		return err
	}
	return w.Ready(opts)
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
func (a *asking) task() (engine.Task, error) {
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
	var err error
	t.Prompt, err = w.Words.Render(string(t.Step), data)
	return t, err
}

// failed says why there is no judgment.
func (a *asking) failed(err error) metadata.Reason {
	var broke *engine.AgentError
	if errors.As(err, &broke) {
		return engine.WhyBroke(broke, a.env.Finder().Mask)
	}
	return metadata.Because("failed", "error", metadata.Said(text.FirstLine(a.env.Finder().Mask(err.Error()))))
}
