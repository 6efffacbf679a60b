package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/boundary"
	"github.com/reprise-ci/reprise/phases/opened"
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
		Model: e.model(run, p, d), Models: s.Models, Turns: s.Turns, BudgetUSD: phases.RemainingUSD(run), Network: s.Network, Part: split.TaskOf(&run, rec),
	}
	t.Timeout, t.Idle = timeouts(s)
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
		Round: rec.Round, Last: rec.Round >= 2, Issue: e.Issue, Protected: e.Plan.Protect, Opened: e.Plan.Open, Rollback: rollbackOf(run, rec),
		Feedback: feedbackOf(run, rec, d, filepath.Join(dir, filepath.FromSlash(phases.ConflictFolder(run, p)))), Documents: e.documents(dir, run, p), Answers: answersOf(run, rec, d), Resumed: d.Resume > 0,
		Part: partOf(run, rec),
	}
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

// documents lists the artifacts of the phases before this one.
func (e *Engine) documents(dir string, run metadata.Run, p *pipelines.Phase) []prompts.Document {
	var out []prompts.Document
	for _, rec := range run.Phases {
		if rec.Name == p.Name {
			break
		}
		if whole := split.Whole(&rec); whole != "" && whole != p.Name && !strings.HasPrefix(p.Name, whole+".") {
			continue // the artifact of the whole names that of the part
		}
		if q := e.Plan.Phase(rec.Name); q != nil && rec.Status == metadata.PhaseCompleted {
			out = append(out, prompts.Document{Phase: q.Name, Path: artifactIn(dir, run, q)})
		}
	}
	return out
}

// answersOf gives what people have answered to the questions of a phase, also
// before it was taken back: what they have decided holds.
func answersOf(run metadata.Run, rec *metadata.Phase, d phases.Decision) []prompts.Answer {
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
	r.Comments = commentsOn(run, rec)
	if c.Details != nil {
		r.Blockers, r.Suggestions, r.AffectedTests = c.Details.BlockerCount, c.Details.SuggestionCount, c.Details.AffectedTests
	}
	return r
}

// feedbackOf gathers what stands against the work, for the step at hand.
func feedbackOf(run metadata.Run, rec *metadata.Phase, d phases.Decision, folder string) *prompts.Feedback {
	f := &prompts.Feedback{}
	if d.Do != phases.DoExecute && rec.Verdict != nil {
		for _, g := range rec.Verdict.FailedGates() {
			f.Gates = append(f.Gates, prompts.Gate{Gate: g.Gate, Why: g.Why})
		}
		f.Findings = withoutComments(findingsFor(d, rec.Verdict.Findings), commentsOn(run, rec))
	}
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		for _, c := range rec.Checks.Results {
			if d.Do == phases.DoReview || !c.Pass {
				f.Checks = append(f.Checks, prompts.Check{Name: c.Name, Run: c.Run, Pass: c.Pass, ExitCode: c.ExitCode, Output: c.Output, FailsBefore: c.FailsBefore, Tests: c.FailedTests, Flaky: c.Flaky})
			}
		}
	}
	for _, v := range rec.Violations {
		f.Violations = append(f.Violations, fmt.Sprintf("%s: %s", v.Path, say(run.Language, v.Rule)))
	}
	if tries := phases.Tries(run, rec, d.Step()); d.Again && len(tries) > 0 {
		addMistakes(f, run.Language, tries[len(tries)-1])
	}
	if lane := rec.Lane; d.Do == phases.DoRevise && lane != nil && lane.Conflict != nil && lane.Conflict.Writer == 0 {
		why := metadata.Because("parts_to_join", "parts", lane.Conflict.Parts, "folder", folder)
		if len(lane.Conflict.Paths) == 0 {
			why = metadata.Because("parts_to_mend", "parts", lane.Conflict.Parts)
		}
		f.Conflict, f.Paths = say(run.Language, why), lane.Conflict.Paths
		return f
	}
	if len(f.Gates)+len(f.Findings)+len(f.Checks)+len(f.Violations)+len(f.Missing)+len(f.Invalid) == 0 {
		return nil
	}
	return f
}

// commentsOn gives what people have said about lines of a phase's work while it is
// taken back, and no review has found fixed.
func commentsOn(run metadata.Run, rec *metadata.Phase) (out []prompts.Comment) {
	for _, v := range run.Reviews {
		for _, c := range v.Comments {
			if rec.RollbackContext == nil || v.Phase != rec.Name || c.Finding.Status == metadata.Fixed {
				continue
			}
			out = append(out, prompts.Comment{ID: c.Finding.ID, Text: c.Finding.Problem, File: c.Finding.File, Line: c.Finding.Line, Side: c.Side, Hunk: c.Hunk})
		}
	}
	return out
}

// withoutComments leaves out what stands in the prompt as a comment of people.
func withoutComments(all []prompts.Finding, comments []prompts.Comment) []prompts.Finding {
	return slices.DeleteFunc(all, func(f prompts.Finding) bool {
		return slices.ContainsFunc(comments, func(c prompts.Comment) bool { return c.ID == f.ID })
	})
}

// unanswered names the comments of people on lines that a verdict says nothing of.
func unanswered(run metadata.Run, rec *metadata.Phase, v metadata.Verdict) (wrong []metadata.Reason) {
	for _, c := range commentsOn(run, rec) {
		if !slices.ContainsFunc(v.Findings, func(f metadata.Finding) bool { return f.ID == c.ID }) {
			wrong = append(wrong, metadata.Because("comment_unanswered", "id", c.ID))
		}
	}
	return wrong
}

// findingsFor gives the findings that a step has to know: those that are open, and
// for a review all, as it has to know which ids are taken.
func findingsFor(d phases.Decision, all []metadata.Finding) (out []prompts.Finding) {
	for _, x := range all {
		if x.Status != metadata.Fixed || d.Do == phases.DoReview {
			out = append(out, prompts.Finding{
				ID: x.ID, Severity: string(x.Severity), Title: x.Title, Problem: x.Problem, Impact: x.Impact,
				Solution: x.Solution, File: x.File, Line: x.Line, Status: string(x.Status),
			})
		}
	}
	return out
}

// addMistakes adds why the call before could not be used.
func addMistakes(f *prompts.Feedback, language string, last metadata.Attempt) {
	to := &f.Missing
	if last.Code == metadata.OutputInvalid {
		to = &f.Invalid
	}
	for _, why := range last.Why.Each() {
		*to = append(*to, strings.Split(say(language, why), "\n")...)
	}
}
