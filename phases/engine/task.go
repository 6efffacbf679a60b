package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Calls say how agents are asked, and for what.
type Calls struct {
	Agent   func(name string) (Agent, error) // of that name in the pipeline
	Prompts *prompts.Set
	Issue   prompts.Issue // as it read when the run began
	// See gives the issue with its images named, and their files; nil: it has none.
	See   func(ctx context.Context, is prompts.Issue) (named prompts.Issue, files []string)
	NewID func() string // a UUID, for sessions
	Rand  io.Reader     // for fences around untrusted text
	// Elsewhere is the number of the newest attempt that another machine has made. Agents'
	// sessions up to that one are not on this machine and cannot be resumed.
	Elsewhere int
}

// task is everything the agent of a decision is given; usd is what it may spend, 0 for any.
func (e *Engine) task(ctx context.Context, run metadata.Run, d phases.Decision, usd float64) (t Task, err error) {
	p := e.Plan.Phase(d.Phase)
	t = e.taskOf(run, d)
	t.Dir, t.Artifact, t.Schema, t.BudgetUSD = e.dirOf(d), artifactIn(e.dirOf(d), run, p), schemaOf(p, d), usd
	t.Session, t.Resume, t.Part = e.session(run, d), d.Resume > 0, phases.TaskOf(&run, run.Phase(d.Phase))
	_, t.Images = e.shown(ctx)
	t.Prompt, err = e.prompt(ctx, run, d)
	return t, err
}

// taskOf is what pipeline and record alone say of a task.
func (e *Engine) taskOf(run metadata.Run, d phases.Decision) Task {
	p := e.Plan.Phase(d.Phase)
	s := phases.SettingsIn(e.Plan, run, p, d.Step())
	return Task{
		Issue: run.IssueNumber, Title: run.IssueTitle, Phase: p.Name, Step: d.Step(),
		Attempt: len(run.Attempts) + 1, Round: run.Phase(d.Phase).Round, Goal: p.Goal, Gates: p.Gates, Language: run.Language,
		Access: phases.AccessOf(e.Plan, d), Model: e.model(run, p, d), Models: s.Models, Turns: s.Turns, Network: s.Network, Tools: s.Tools, Effort: s.Effort,
		Timeout: time.Duration(s.Timeout), Idle: time.Duration(s.Idle),
	}
}

// artifactIn gives the absolute path of the phase's artifact in a tree.
func artifactIn(dir string, run metadata.Run, p *pipelines.Phase) string {
	return filepath.Join(dir, filepath.FromSlash(path.Join(phases.PhaseFolder(run, p), p.Writes)))
}

func schemaOf(p *pipelines.Phase, d phases.Decision) json.RawMessage {
	if d.Do == phases.DoReview {
		return json.RawMessage(phases.VerdictSchema)
	}
	return p.ReportSchema
}

// model gives the model for a step: the step's own, or for an agent that
// stands in for another, that agent's model of the same tier. It does not review
// what the same model has written, if it has another.
func (e *Engine) model(run metadata.Run, p *pipelines.Phase, d phases.Decision) string {
	s := phases.SettingsIn(e.Plan, run, p, d.Step())
	if d.Agent == s.Agent {
		return s.Model
	}
	agent := e.Plan.Agents[d.Agent]
	model, wrote := agent.Models[s.Tier], phases.SettingsIn(e.Plan, run, p, metadata.Execute)
	if d.Do == phases.DoReview && wrote.Model == model && e.Plan.Agents[wrote.Agent].Use == agent.Use {
		return cmp.Or(agent.Other(s.Tier), model)
	}
	return model
}

// prompt gives the exact words for a decision.
func (e *Engine) prompt(ctx context.Context, run metadata.Run, d phases.Decision) (string, error) {
	data, err := e.data(ctx, run, d)
	if err != nil {
		return "", err
	}
	name := phases.Settings(e.Plan.Phase(d.Phase), d.Step()).Prompt
	switch {
	case d.Again && d.Resume > 0:
		name = "retry"
	case name == "":
		name = string(d.Do)
	}
	return e.Prompts.Render(name, data)
}

// session gives the id of the session to start or to resume.
func (e *Engine) session(run metadata.Run, d phases.Decision) string {
	if d.Resume > 0 {
		return run.Attempts[d.Resume-1].Session
	}
	return e.NewID()
}

// dirOf is where the agent of a decision works.
func (e *Engine) dirOf(d phases.Decision) string {
	if e.inCopy(d) {
		return e.Tree.CopyDir(copyFor(d))
	}
	return e.Tree.Dir()
}

// inCopy reports whether that is a copy of the work.
func (e *Engine) inCopy(d phases.Decision) bool {
	return d.Do == phases.DoReview || phases.AccessOf(e.Plan, d) == pipelines.AccessRun
}

// copyFor names the copy for an agent. It is the same for each call of a session: programs look for theirs by the folder.
func copyFor(d phases.Decision) string {
	if d.Do == phases.DoReview {
		return "review"
	}
	return "work"
}
