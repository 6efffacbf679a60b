package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"path/filepath"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/boundary"
	"github.com/reprise-ci/reprise/phases/feedback"
	"github.com/reprise-ci/reprise/phases/opened"
	"github.com/reprise-ci/reprise/phases/order"
	"github.com/reprise-ci/reprise/phases/scope"
	"github.com/reprise-ci/reprise/phases/split"
	"github.com/reprise-ci/reprise/phases/verdict"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// task is everything the agent of a decision is given.
func (e *Engine) task(ctx context.Context, run metadata.Run, d phases.Decision) (Task, error) {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	s := phases.SettingsIn(e.Plan, run, p, d.Step())
	prompt, err := e.Prompt(ctx, run, d)
	if err != nil {
		return Task{}, err
	}
	t := Task{
		Issue: run.IssueNumber, Title: run.IssueTitle, Phase: p.Name, Step: d.Step(),
		Attempt: len(run.Attempts) + 1, Round: rec.Round, Goal: p.Goal, Gates: p.Gates, Language: run.Language,
		Prompt: prompt, Dir: e.dirOf(d), Artifact: artifactIn(e.dirOf(d), run, p), Access: boundary.AccessOf(e.Plan, d),
		Schema: schemaOf(p, d), Session: e.session(run, d), Resume: d.Resume > 0,
		Model: e.model(run, p, d), Models: s.Models, Turns: s.Turns, BudgetUSD: e.remaining(run), Network: s.Network, Tools: s.Tools, Effort: s.Effort, Part: split.TaskOf(&run, rec),
	}
	t.Timeout, t.Idle = timeouts(s)
	_, t.Images = e.see(ctx)
	return t, nil
}

// artifactIn gives the absolute path of the phase's artifact in a tree.
func artifactIn(dir string, run metadata.Run, p *pipelines.Phase) string {
	return filepath.Join(dir, filepath.FromSlash(path.Join(phases.PhaseFolder(run, p), p.Writes)))
}

func schemaOf(p *pipelines.Phase, d phases.Decision) json.RawMessage {
	if d.Do == phases.DoReview {
		return json.RawMessage(verdict.Schema)
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

// Prompt gives the exact words for a decision.
func (e *Engine) Prompt(ctx context.Context, run metadata.Run, d phases.Decision) (string, error) {
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

func (e *Engine) data(ctx context.Context, run metadata.Run, d phases.Decision) (prompts.Data, error) {
	p, rec, dir := e.Plan.Phase(d.Phase), run.Phase(d.Phase), e.dirOf(d)
	data := prompts.Data{
		Pipeline: e.Plan.Name, Phase: p.Name, Step: string(d.Do), Goal: p.Goal, Gates: p.Gates,
		Access: string(boundary.AccessOf(e.Plan, d)), Artifact: artifactIn(dir, run, p), Dir: dir, Schema: string(schemaOf(p, d)),
		Round: rec.Round, Last: rec.Round >= 2, Protected: e.Plan.Protect, Opened: e.Plan.Open, Rollback: feedback.Rollback(run, rec),
		Feedback: feedback.On(e.Plan, run, rec, d, filepath.Join(dir, filepath.FromSlash(phases.ConflictFolder(run, p)))), Documents: e.documents(dir, run, p), Answers: feedback.Answers(run, rec, d), Resumed: d.Resume > 0,
		Part: partOf(run, rec),
	}
	data.Issue, _ = e.see(ctx)
	data.Issue.Path = filepath.Join(dir, filepath.FromSlash(path.Join(phases.Folder(run.IssueNumber), phases.IssueFile)))
	var err error
	if data.Others, err = e.others(ctx, run, d); err != nil {
		return data, err
	}
	if d.Do != phases.DoExecute {
		if data.Diff, _, err = e.diff(ctx, e.Tree, run, p, rec); err != nil {
			return data, err
		}
	}
	data.Diff += opened.Diff(rec.Opened) // of protected paths, for a person
	data.Boundary = prompts.NewBoundary(e.Rand, data.Texts()...)
	return data, nil
}

func (e *Engine) see(ctx context.Context) (prompts.Issue, []string) {
	if e.See == nil {
		return e.Issue, nil
	}
	return e.See(ctx, e.Issue)
}

// partOf gives the task to which a part of a phase is limited; nil for a phase.
func partOf(run metadata.Run, rec *metadata.Phase) *prompts.Part {
	t := split.TaskOf(&run, rec)
	if t == nil {
		return nil
	}
	part := &prompts.Part{ID: t.ID, Title: t.Title, Goal: t.Goal, Files: t.Files}
	for _, other := range split.Parts(&run, split.Whole(rec)) {
		if o := split.TaskOf(&run, other); o != nil && o.ID != t.ID {
			part.Others = append(part.Others, o.ID+": "+o.Title)
		}
	}
	return part
}

// others gives the open runs that the agent of a decision has to know of: all of them
// before the first phase that changes code, and from there on those that change the same
// files.
func (e *Engine) others(ctx context.Context, run metadata.Run, d phases.Decision) (lines []string, err error) {
	if e.Others == nil || d.Do != phases.DoExecute {
		return nil, nil
	}
	all, err := e.Others(ctx, run)
	for _, o := range all {
		if len(o.Shared) > 0 || scope.Plans(e.Plan, d.Phase) {
			lines = append(lines, o.String())
		}
	}
	return lines, err
}

// documents lists the artifacts that the agent of a phase is told of.
func (e *Engine) documents(dir string, run metadata.Run, p *pipelines.Phase) []prompts.Document {
	var out []prompts.Document
	for _, earlier := range order.Visible(e.Plan, &run, p.Name) {
		out = append(out, prompts.Document{Phase: earlier.Name, Path: artifactIn(dir, run, earlier)})
	}
	return out
}
