package engine

import (
	"cmp"
	"context"
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
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

func (b briefing) data(ctx context.Context, run metadata.Run, d phases.Decision) (prompts.Data, error) {
	p, rec, dir := b.plan.Phase(d.Phase), run.Phase(d.Phase), b.dirOf(d)
	data := prompts.Data{
		Pipeline: b.plan.Name, Phase: p.Name, Step: string(d.Do), Goal: p.Goal, Gates: p.Gates,
		Access: string(boundary.AccessOf(b.plan, d)), Artifact: artifactIn(dir, run, p), Dir: dir, Schema: string(schemaOf(p, d)),
		Round: rec.Round, Last: rec.Round >= 2, Base: run.BaseCommit, Protected: b.plan.Protect, Opened: b.plan.Open, Rollback: feedback.Rollback(run, rec),
		Feedback: feedback.On(b.plan, run, rec, d, filepath.Join(dir, filepath.FromSlash(phases.ConflictFolder(run, p)))), Documents: b.documents(dir, run, p), Answers: feedback.Answers(run, rec, d), Resumed: d.Resume > 0,
		Part: partOf(run, rec),
	}
	data.Issue, _ = b.shown(ctx)
	data.Issue.Path = filepath.Join(dir, filepath.FromSlash(path.Join(phases.Folder(run.IssueNumber), phases.IssueFile)))
	var err error
	if data.Others, err = b.others(ctx, run, d); err != nil {
		return data, err
	}
	notice, err := b.notice(ctx, run, d)
	if err != nil {
		return data, err
	}
	if notice != "" {
		data.Feedback = cmp.Or(data.Feedback, &prompts.Feedback{})
		data.Feedback.Notice = notice
	}
	if d.Do != phases.DoExecute {
		if data.Diff, _, err = (comparison{b.tree}).with(ctx, b.tree, run, p, rec); err != nil {
			return data, err
		}
	}
	data.Diff += opened.Diff(rec.Opened) // of protected paths, for a person
	data.Boundary = prompts.NewBoundary(b.rand, data.Texts()...)
	return data, nil
}

func (b briefing) shown(ctx context.Context) (prompts.Issue, []string) {
	if b.see == nil {
		return b.issue, nil
	}
	return b.see(ctx, b.issue)
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
func (b briefing) others(ctx context.Context, run metadata.Run, d phases.Decision) (lines []string, err error) {
	if b.running == nil || d.Do != phases.DoExecute {
		return nil, nil
	}
	all, err := b.running(ctx, run)
	for _, o := range all {
		if len(o.Shared) > 0 || scope.Plans(b.plan, d.Phase) {
			lines = append(lines, o.String())
		}
	}
	return lines, err
}

// documents lists the artifacts that the agent of a phase is told of.
func (b briefing) documents(dir string, run metadata.Run, p *pipelines.Phase) []prompts.Document {
	var out []prompts.Document
	for _, earlier := range order.Visible(b.plan, &run, p.Name) {
		out = append(out, prompts.Document{Phase: earlier.Name, Path: artifactIn(dir, run, earlier)})
	}
	return out
}
