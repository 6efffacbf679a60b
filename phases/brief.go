package phases

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// task is everything the agent of a decision is given.
func (e *Engine) task(ctx context.Context, run metadata.Run, d Decision) (Task, error) {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	s := SettingsIn(e.Plan, run, p, d.Step())
	prompt, err := e.Prompt(ctx, run, d)
	if err != nil {
		return Task{}, err
	}
	t := Task{
		Issue: run.IssueNumber, Title: run.IssueTitle, Phase: p.Name, Step: d.Step(),
		Attempt: len(run.Attempts) + 1, Round: rec.Round, Goal: p.Goal, Gates: p.Gates, Language: run.Language,
		Prompt: prompt, Dir: e.Tree.Dir(), Artifact: e.abs(run, p), Access: e.access(d),
		Schema: schemaOf(p, d), Session: e.session(run, d), Resume: d.Resume > 0,
		Model: e.model(run, p, d), Turns: s.Turns, BudgetUSD: leftUSD(run),
	}
	t.Timeout, t.Idle = timeouts(s)
	return t, nil
}

// abs gives the absolute path of the phase's artifact.
func (e *Engine) abs(run metadata.Run, p *pipelines.Phase) string {
	return filepath.Join(e.Tree.Dir(), filepath.FromSlash(path.Join(e.folder(run, p), p.Writes)))
}

func schemaOf(p *pipelines.Phase, d Decision) json.RawMessage {
	if d.Do == DoReview {
		return json.RawMessage(VerdictSchema)
	}
	return p.ReportSchema
}

// model gives the model for a step: the step's own, or for an agent that
// stands in for another, that agent's model of the same tier.
func (e *Engine) model(run metadata.Run, p *pipelines.Phase, d Decision) string {
	s := SettingsIn(e.Plan, run, p, d.Step())
	if d.Agent == s.Agent {
		return s.Model
	}
	return e.Plan.Agents[d.Agent].Models[s.Tier]
}

// Prompt gives the exact words for a decision.
func (e *Engine) Prompt(ctx context.Context, run metadata.Run, d Decision) (string, error) {
	data, err := e.data(ctx, run, d)
	if err != nil {
		return "", err
	}
	name := Settings(e.Plan.Phase(d.Phase), d.Step()).Prompt
	switch {
	case d.Again && d.Resume > 0:
		name = "retry"
	case name == "":
		name = string(d.Do)
	}
	return e.Prompts.Render(name, data)
}

func (e *Engine) data(ctx context.Context, run metadata.Run, d Decision) (prompts.Data, error) {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	data := prompts.Data{
		Pipeline: e.Plan.Name, Phase: p.Name, Step: string(d.Do), Goal: p.Goal, Gates: p.Gates,
		Access: string(e.access(d)), Artifact: e.abs(run, p), Dir: e.Tree.Dir(), Schema: string(schemaOf(p, d)),
		Round: rec.Round, Last: rec.Round >= 2, Issue: e.Issue, Protected: e.Plan.Protect, Rollback: rollbackOf(run, rec),
		Feedback: feedbackOf(run, rec, d), Documents: e.documents(run, p), Answers: answersOf(run, rec, d), Resumed: d.Resume > 0,
	}
	data.Issue.Path = filepath.Join(e.Tree.Dir(), filepath.FromSlash(path.Join(Folder(run.IssueNumber), IssueFile)))
	if d.Do != DoExecute {
		var err error
		if data.Diff, _, err = e.diff(ctx, p, rec); err != nil {
			return data, err
		}
	}
	data.Boundary = prompts.NewBoundary(e.Rand, data.Texts()...)
	return data, nil
}

// IssueFile is the name of the file in the run's folder that has the issue as
// it read when the run began.
const IssueFile = "issue.md"

// PipelineFile is the name of the file in the run's folder that has the
// frozen pipeline.
const PipelineFile = "pipeline.json"

// documents lists the artifacts of the phases before this one.
func (e *Engine) documents(run metadata.Run, p *pipelines.Phase) []prompts.Document {
	var out []prompts.Document
	for _, rec := range run.Phases {
		if rec.Name == p.Name {
			break
		}
		if q := e.Plan.Phase(rec.Name); q != nil && rec.Status == metadata.PhaseCompleted {
			out = append(out, prompts.Document{Phase: q.Name, Path: e.abs(run, q)})
		}
	}
	return out
}

// answersOf gives what people have answered to the questions of a phase, also
// before it was taken back: what they have decided holds.
func answersOf(run metadata.Run, rec *metadata.Phase, d Decision) []prompts.Answer {
	var out []prompts.Answer
	for _, q := range run.Questions {
		if q.Phase == rec.Name && !q.Open() {
			out = append(out, prompts.Answer{Question: q.Text, Answer: q.Answer, By: q.By})
		}
	}
	return out
}

func rollbackOf(run metadata.Run, rec *metadata.Phase) *prompts.Rollback {
	c := rec.RollbackContext
	if c == nil {
		return nil
	}
	automatic := false
	for _, entry := range run.RollbackHistory {
		if entry.ToPhase == rec.Name {
			automatic = entry.TriggeredBy == metadata.Automatic
		}
	}
	r := &prompts.Rollback{
		Automatic: automatic, FromPhase: c.FromPhase, FromStep: string(c.FromStep), By: c.By, Reason: c.Reason, Earlier: c.Earlier,
		ReviewResult: c.ReviewResult, Blockers: -1, Suggestions: -1,
	}
	if c.Details != nil {
		r.Blockers, r.Suggestions, r.AffectedTests = c.Details.BlockerCount, c.Details.SuggestionCount, c.Details.AffectedTests
	}
	return r
}

// feedbackOf gathers what stands against the work, for the step at hand.
func feedbackOf(run metadata.Run, rec *metadata.Phase, d Decision) *prompts.Feedback {
	f := &prompts.Feedback{}
	if d.Do != DoExecute && rec.Verdict != nil {
		for _, g := range failedGates(rec.Verdict) {
			f.Gates = append(f.Gates, prompts.Gate{Gate: g.Gate, Why: g.Why})
		}
		for _, x := range rec.Verdict.Findings {
			if x.Status != metadata.Fixed || d.Do == DoReview { // a reviewer has to know which ids are taken
				f.Findings = append(f.Findings, prompts.Finding{
					ID: x.ID, Severity: string(x.Severity), Title: x.Title, Problem: x.Problem, Impact: x.Impact,
					Solution: x.Solution, File: x.File, Line: x.Line, Status: string(x.Status),
				})
			}
		}
	}
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		for _, c := range rec.Checks.Results {
			if d.Do == DoReview || !c.Pass {
				f.Checks = append(f.Checks, prompts.Check{Name: c.Name, Run: c.Run, Pass: c.Pass, ExitCode: c.ExitCode, Output: c.Output})
			}
		}
	}
	for _, v := range rec.Violations {
		f.Violations = append(f.Violations, fmt.Sprintf("%s: %s", v.Path, Say(run.Language, v.Rule)))
	}
	if tries := effort(run, rec, d.Step()); d.Again && len(tries) > 0 {
		last := tries[len(tries)-1]
		to := &f.Missing
		if last.Code == metadata.OutputInvalid {
			to = &f.Invalid
		}
		for _, why := range last.Why.Each() {
			*to = append(*to, strings.Split(Say(run.Language, why), "\n")...)
		}
	}
	if len(f.Gates)+len(f.Findings)+len(f.Checks)+len(f.Violations)+len(f.Missing)+len(f.Invalid) == 0 {
		return nil
	}
	return f
}
