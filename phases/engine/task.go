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
func (e *Engine) task(ctx context.Context, run metadata.Run, d phases.Decision, usd float64) (Task, error) {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	s := phases.SettingsIn(e.Plan, run, p, d.Step())
	prompt, err := e.prompt(ctx, run, d)
	if err != nil {
		return Task{}, err
	}
	t := Task{
		Issue: run.IssueNumber, Title: run.IssueTitle, Phase: p.Name, Step: d.Step(),
		Attempt: len(run.Attempts) + 1, Round: rec.Round, Goal: p.Goal, Gates: p.Gates, Language: run.Language,
		Prompt: prompt, Dir: e.dirOf(d), Artifact: artifactIn(e.dirOf(d), run, p), Access: phases.AccessOf(e.Plan, d),
		Schema: schemaOf(p, d), Session: e.session(run, d), Resume: d.Resume > 0,
		Model: e.model(run, p, d), Models: s.Models, Turns: s.Turns, BudgetUSD: usd, Network: s.Network, Tools: s.Tools, Effort: s.Effort, Part: phases.TaskOf(&run, rec),
	}
	t.Timeout, t.Idle = timeouts(s)
	_, t.Images = e.shown(ctx)
	return t, nil
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

// timeouts gives the limits of a step.
func timeouts(s pipelines.Step) (whole, idle time.Duration) {
	return time.Duration(s.Timeout), time.Duration(s.Idle)
}
