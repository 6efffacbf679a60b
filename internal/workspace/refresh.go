package workspace

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Refresh makes the run go on with the issue, its pipeline and prompts, or both, as they are now, and commits that.
func (w *Workspace) Refresh(ctx context.Context, o Options) error {
	if o.RefreshIssue {
		now, err := w.issueNow(ctx, o)
		if err == nil {
			err = w.TakeIssue(now, w.Source.UserName)
		}
		if err != nil {
			return err
		}
	}
	if o.Refresh {
		before := *w
		if err := w.Redefine(ctx, o); err != nil {
			return err
		}
		if w.Run.Status == metadata.Completed && !o.RefreshIssue {
			*w = before
			w.Notes = append(w.Notes, NothingNew(w.Plan).In(prompts.Words("en")))
			return nil
		}
	}
	e, err := w.Engine(o, engine.Quiet{})
	if err != nil {
		return err
	}
	return e.Refreeze(ctx, w.Run, Refreshed(o.Refresh, o.RefreshIssue, w.Plan))
}

// Refreshed says in a few words what of a run was taken anew.
func Refreshed(pipeline, issue bool, plan *pipelines.Pipeline) string {
	return text.Join(" and ", text.If(issue, "issue"), text.If(pipeline, plan.Name+" pipeline"))
}

// NothingNew says why a completed run has nothing to do, and what there is to do.
func NothingNew(plan *pipelines.Pipeline) metadata.Reason {
	return metadata.Because("nothing_new", "pipeline", plan.Name)
}

// Redefine gives the run its pipeline and prompts as they are defined now. The next commit takes them along.
func (w *Workspace) Redefine(ctx context.Context, o Options) error {
	known := isFindable(w.Run.Pipeline.Source)
	if o.Part.IsZero() && (o.Pipeline == "" || !known) { // one that need not be named and is, is meant as a whole
		o.Part = w.Plan.Part
	}
	if o.Pipeline == "" {
		o.Weight = w.Plan.Given.Weight // who names a pipeline takes it as it is
		if !known {
			return exit.Usagef("the run began with the pipeline file %s, and where that is now is not known: name it again with --pipeline FILE", w.Run.Pipeline.Source)
		}
		o.Pipeline = pipelineOption(w.Run, w.Plan.Preset)
	}
	o.Language = cmp.Or(o.Language, w.Run.Language)
	o.Agent, o.Model = cmp.Or(o.Agent, w.Plan.Given.Agent), cmp.Or(o.Model, w.Plan.Given.Model)
	now, err := Define(ctx, w.Source, w.Issue, o.Choice)
	if err != nil {
		return err
	}
	limited := w.Run.Budget.IssueUSD > 0
	now.Plan, w.Run = phases.Refresh(w.Plan, now.Plan, w.Run, w.Env.Now())
	if !limited && w.Run.Budget.IssueUSD > 0 {
		w.Run.Budget.EarlierUSD = costOfEarlier(ctx, w, nil)
	}
	w.Run = phases.AllowMore(w.Run, o.More)
	return w.goBy(now)
}

// goBy has the run go by a definition, and what all agents share worked out anew.
func (w *Workspace) goBy(now Definition) error {
	files, digest, err := now.freeze(w.Issue)
	if err != nil {
		return err
	}
	if now.Plan.Sandbox != w.Plan.Sandbox {
		w.saidLacking = false // it holds something else now
	}
	w.Definition, w.Frozen, w.agents = now, files, nil
	w.Run.Pipeline = metadata.Pipeline{Name: now.Plan.Name, Digest: digest, Definition: now.Defined, Source: now.Plan.Source}
	return nil
}

// define gives the run that is about to begin what a definition says.
func (w *Workspace) define(ctx context.Context, o Options, now Definition) error {
	if err := w.goBy(now); err != nil {
		return err
	}
	w.Run.Language = w.Plan.Language
	w.Run = phases.AllowMore(phases.Fresh(phases.On(w.Plan, w.Run), w.Env.Now()), o.More)
	return w.takeDocuments(ctx, o)
}

// takeDocuments gives a new run what people wrote for its phases: what the pipeline names, as the base commit has
// it, and what the command line names, as it lies in the repository.
func (w *Workspace) takeDocuments(ctx context.Context, o Options) error {
	committed := func(name string) ([]byte, error) { return w.Source.ReadPlain(ctx, w.Repo.Tip(), name) }
	here := func(name string) ([]byte, error) { return documentIn(w.Source.Dir, name) }
	all, err := documents(w.Plan, o.Docs, committed, here)
	if err != nil {
		return exit.AsUsage(err)
	}
	w.Run.ExternalDocuments = nil
	for phase, d := range all {
		if w.Run.ExternalDocuments == nil {
			w.Run.ExternalDocuments = map[string]string{}
		}
		w.Run.ExternalDocuments[phase] = d.Path
		w.Frozen[phases.GivenFile(w.Run, phase)] = d.Text
	}
	return nil
}

// Choose gives a run that is about to begin the pipeline of that name, and says why.
func (w *Workspace) Choose(ctx context.Context, o Options, name string, why metadata.Reason) error {
	o.Pipeline = name
	now, err := w.backend.Define(ctx, w.Source, w.Issue, o.Choice)
	if err != nil {
		return err
	}
	now.Why = why
	return w.define(ctx, o, now)
}

// issueNow reads the issue of a run that has begun from where the command line says.
func (w *Workspace) issueNow(ctx context.Context, o Options) (issue.Issue, error) {
	switch {
	case o.File != "":
		return w.Given, nil
	case o.Url == "" && w.Run.IssueURL == "":
		return issue.Issue{}, exit.Usagef("--refresh=issue: the run did not begin with an issue on GitHub: give the file with --issue-file FILE")
	case w.there == nil:
		return issue.Issue{}, exit.Usagef("--refresh=issue: issue %s cannot be read from GitHub: %s", w.Issue.ID, w.nowhere)
	}
	now, err := w.readThere(ctx, o)
	if err == nil {
		now.Mask(w.Env)
		w.Removed = now.Clean()
	}
	return now, err
}

// readThere reads an issue from GitHub, with what was said below it.
func (w *Workspace) readThere(ctx context.Context, o Options) (issue.Issue, error) {
	now, err := w.there.Read(ctx, w.Env)
	if err != nil || o.Hear == nil {
		return now, err
	}
	return o.Hear(ctx, *w.there, now)
}

// Heard says what a person who begins the run should know: notes, and what agents get of discussion and images.
func (w *Workspace) Heard() []string {
	all := slices.Clone(w.Notes)
	if heard := issue.HeardImages(w.Catalogue(), w.Issue); heard != "" {
		all = append(all, heard)
	}
	return all
}

// TakeIssue makes the run go on with an issue as it reads now. The next commit takes it along.
func (w *Workspace) TakeIssue(now issue.Issue, by string) (err error) {
	changed := w.Issue.Differs(now)
	if changed == "" {
		return exit.Usagef("the issue reads as it did when the run took it: edit it first, or leave --refresh=issue out")
	}
	w.Notes = append(w.Notes, "the issue is taken as it reads now: "+changed.In(prompts.Words("en"))+"; what is done stays done, and rollback takes a phase back")
	now.Author = w.Issue.Author
	w.Issue.Title, w.Issue.Body, w.Issue.Labels, w.Issue.Discussion, w.Issue.Images = now.Title, now.Body, now.Labels, now.Discussion, now.Images
	had := w.Run.Issue.Discussion != ""
	w.Run = phases.TakeIssue(w.Run, now.Record(), changed, by, w.Env.Now())
	if w.Frozen, err = freezeIssue(w.Issue); err == nil && had && len(now.Discussion.Comments) == 0 {
		// The file stays, and says that nothing is left.
		w.Frozen[path.Join(phases.Folder(w.Issue.ID), phases.DiscussionFile)], err = now.Discussion.JSON()
	}
	return err
}
