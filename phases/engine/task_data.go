package engine

import (
	"cmp"
	"context"
	"path"
	"path/filepath"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

func (e *Engine) data(ctx context.Context, run metadata.Run, d phases.Decision) (prompts.Data, error) {
	p, rec, dir := e.Plan.Phase(d.Phase), run.Phase(d.Phase), e.dirOf(d)
	data := prompts.Data{
		Pipeline: e.Plan.Name, Phase: p.Name, Step: string(d.Do), Goal: p.Goal, Gates: p.Gates,
		Access: string(phases.AccessOf(e.Plan, d)), Artifact: artifactIn(dir, run, p), Dir: dir, Schema: string(schemaOf(p, d)),
		Round: rec.Round, Last: rec.Round >= 2, Base: run.BaseCommit, Protected: e.Plan.Protect, Opened: e.Plan.Open, Rollback: phases.RollbackFeedback(run, rec),
		Feedback: phases.FeedbackOn(e.Plan, run, rec, d, filepath.Join(dir, filepath.FromSlash(phases.ConflictFolder(run, p)))), Documents: e.documents(dir, run, p), Answers: phases.AnswersFor(run, rec, d), Resumed: d.Resume > 0,
		Part: partOf(run, rec),
	}
	data.Issue, _ = e.shown(ctx)
	data.Issue.Path = filepath.Join(dir, filepath.FromSlash(path.Join(phases.Folder(run.IssueNumber), phases.IssueFile)))
	var err error
	if data.Others, err = e.others(ctx, run, d); err != nil {
		return data, err
	}
	notice, err := e.notice(ctx, run, d)
	if err != nil {
		return data, err
	}
	if notice != "" {
		data.Feedback = cmp.Or(data.Feedback, &prompts.Feedback{})
		data.Feedback.Notice = notice
	}
	if d.Do != phases.DoExecute {
		if data.Diff, _, err = e.since(ctx, e.Tree, run, p, rec); err != nil {
			return data, err
		}
	}
	data.Diff += phases.OpenedDiff(rec.Opened) // of protected paths, for a person
	data.Boundary = prompts.NewBoundary(e.Rand, data.Texts()...)
	return data, nil
}

func (e *Engine) shown(ctx context.Context) (prompts.Issue, []string) {
	if e.See == nil {
		return e.Issue, nil
	}
	return e.See(ctx, e.Issue)
}

// partOf gives the task to which a part of a phase is limited; nil for a phase.
func partOf(run metadata.Run, rec *metadata.Phase) *prompts.Part {
	t := phases.TaskOf(&run, rec)
	if t == nil {
		return nil
	}
	part := &prompts.Part{ID: t.ID, Title: t.Title, Goal: t.Goal, Files: t.Files}
	for _, other := range phases.PartsOf(&run, phases.WholeOf(rec)) {
		if o := phases.TaskOf(&run, other); o != nil && o.ID != t.ID {
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
		if len(o.Shared) > 0 || phases.PlansFiles(e.Plan, d.Phase) {
			lines = append(lines, o.String())
		}
	}
	return lines, err
}

// documents lists the artifacts that the agent of a phase is told of.
func (e *Engine) documents(dir string, run metadata.Run, p *pipelines.Phase) []prompts.Document {
	var out []prompts.Document
	for _, earlier := range phases.VisiblePhases(e.Plan, &run, p.Name) {
		out = append(out, prompts.Document{Phase: earlier.Name, Path: artifactIn(dir, run, earlier)})
	}
	return out
}
