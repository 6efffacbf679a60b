package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// promptsFile is the name of the file in the run's folder that has the frozen
// prompts.
const promptsFile = "prompts.json"

// evaluateCommand is the hidden command that evaluates CUE from a repository,
// in a process of its own with limits.
const evaluateCommand = "evaluate-cue"

// definition is a pipeline with the prompts that go with it.
type definition struct {
	plan  *pipelines.Pipeline
	words *prompts.Set
	why   string // this pipeline and no other
	// defined is the digest of pipeline and prompts before the command line
	// changed anything about them.
	defined string
}

// unwritten gives a mistake for each step whose template nobody has written.
func (d *definition) unwritten() (wrong pipelines.Errors) {
	look := func(list string, of []pipelines.Phase) {
		for i, p := range of {
			steps := []struct{ name, prompt string }{{"execute", p.Execute.Prompt}, {"review", p.Review.Prompt}, {"revise", p.Revise.Prompt}}
			for _, s := range steps {
				if s.prompt == "" || d.words.Has(s.prompt) {
					continue
				}
				wrong = append(wrong, pipelines.Error{File: d.plan.Source, Path: fmt.Sprintf("%s[%d]", list, i), Message: fmt.Sprintf(
					"%s of %s takes the prompt %q, which nobody has written: it would be .github/reprise/prompts/%s.md on the default branch", s.name, p.Name, s.prompt, s.prompt)})
			}
		}
	}
	look("phases", d.plan.Phases)
	look("spare", d.plan.Spare)
	return wrong
}

// sources says where pipelines come from: a file that was named, the default
// branch's .github/reprise, then what is built in. The branch that agents
// work on has no say.
func sources(ctx context.Context, src *git.Source, pipeline string) (pipelines.Sources, string, error) {
	eval, err := evaluator()
	if err != nil {
		return pipelines.Sources{}, "", err
	}
	s := pipelines.Sources{Evaluator: eval}
	if src != nil {
		if s.Repo, err = src.FS(ctx, trusted(src), ".github/reprise"); err != nil {
			return s, "", err
		}
	}
	if isPath(pipeline) {
		s.Path, pipeline = pipeline, ""
	}
	return s, pipeline, nil
}

// trusted is the commit whose .github/reprise counts: that of the default
// branch, or where nothing tells which that is, what is checked out.
func trusted(src *git.Source) string {
	if src.DefaultBranch != "" {
		return src.DefaultBranch
	}
	return src.Head
}

// isPath tells a file from a name, or a name with a preset behind a slash.
func isPath(pipeline string) bool {
	switch filepath.Ext(pipeline) {
	case ".cue", ".yaml", ".yml", ".json", ".toml":
		return true
	}
	return strings.HasPrefix(pipeline, ".") || filepath.IsAbs(pipeline)
}

func evaluator() (pipelines.Evaluator, error) {
	self, err := os.Executable()
	if err != nil {
		return pipelines.Evaluator{}, fmt.Errorf("finding the program's own file: %w", err)
	}
	return pipelines.Evaluator{Argv: []string{self, evaluateCommand}}, nil
}

// define reads the pipeline and the prompts as they are now.
func define(ctx context.Context, src *git.Source, is issue, o opening) (definition, error) {
	s, name, err := sources(ctx, src, o.pipeline)
	if err != nil {
		return definition{}, err
	}
	plan, why, err := pipelines.Choose(ctx, s, pipelines.Issue{Title: is.Title, Labels: is.Labels, Type: is.Type}, name)
	if err != nil {
		return definition{}, usage(onlyHere(ctx, src, err)) // what was named, or a label or file of the repository
	}
	if filepath.IsAbs(plan.Source) {
		plan.Source = filepath.Base(plan.Source) // the record names no folder of this machine
	}
	var overrides fs.FS
	if s.Repo != nil {
		if overrides, err = fs.Sub(s.Repo, "prompts"); err != nil {
			return definition{}, err
		}
	}
	d := definition{plan: plan, why: why}
	if o.language != "" {
		plan.Language = o.language
	}
	if err := plan.Speak(); err != nil {
		return d, err
	}
	if d.words, err = prompts.Load(overrides, plan.Language); err != nil {
		return d, inRepository(err)
	}
	if wrong := d.unwritten(); len(wrong) > 0 {
		return d, wrong
	}
	if _, d.defined, err = d.freeze(is); err != nil {
		return d, err
	}
	err = d.adapt(o)
	return d, err
}

// adapt changes a definition as the command line says, for this run alone.
func (d *definition) adapt(o opening) error {
	cut, err := pipelines.Cut(d.plan, o.part)
	if err != nil {
		return usage(err)
	}
	d.plan = cut
	d.plan.Protect = append(slices.Clip(d.plan.Protect), o.protect...)
	return d.assign(o)
}

// assign gives the work to the agent and the model that the command line names.
func (d *definition) assign(o opening) error {
	if o.agent != "" {
		if err := replaceAgents(d.plan, o.agent); err != nil {
			return err
		}
		d.plan.Given.Agent = o.agent
	}
	if strings.HasPrefix(o.model, "-") {
		return usagef("--model %s begins with a hyphen, as an option of an agent's program does: name a model", o.model)
	}
	if o.model != "" {
		for _, s := range stepsOf(d.plan) {
			s.Model = o.model
		}
		d.plan.Given.Model = o.model
	}
	return nil
}

// stepsOf gives the steps of all phases, to be changed.
func stepsOf(plan *pipelines.Pipeline) []*pipelines.Step {
	var out []*pipelines.Step
	for _, list := range [][]pipelines.Phase{plan.Phases, plan.Spare} {
		for i := range list {
			out = append(out, &list[i].Execute, &list[i].Review, &list[i].Revise)
		}
	}
	return out
}

// inRepository gives mistakes in prompts the form of mistakes in pipelines, and
// the path that people know the file by.
func inRepository(err error) error {
	var wrong prompts.Mistakes
	if !errors.As(err, &wrong) {
		return err
	}
	var out pipelines.Errors
	for _, m := range wrong {
		out = append(out, pipelines.Error{
			File: path.Join(".github/reprise/prompts", m.File), Line: m.Line, Column: max(m.Column, 1), Message: m.Message,
		})
	}
	return out
}

// replaceAgents makes one agent do all the work of a pipeline: one that it
// names, or one that reprise knows.
func replaceAgents(plan *pipelines.Pipeline, name string) error {
	with, ok := plan.Agents[name]
	if !ok {
		with = pipelines.Agent{Use: name}
		if _, err := agents.For(name, with, agents.Options{}); err != nil {
			return usagef("--agent %s: %w; pipeline %s names %s", name, err, plan.Name, strings.Join(slices.Sorted(maps.Keys(plan.Agents)), ", "))
		}
	}
	with.Fallback = ""
	for _, s := range stepsOf(plan) {
		s.Agent, s.Model = name, with.Models[s.Tier]
	}
	plan.Agents = map[string]pipelines.Agent{name: with}
	if limits := plan.Unheld(); len(limits) > 0 {
		return usagef("--agent %s: %s keeps to no limit on turns, and pipeline %s (%s) sets one: %s; take it out there, or name another agent",
			name, with.Use, plan.Name, plan.Source, turnsText(limits))
	}
	return nil
}

// turnsText names the steps that have a limit on turns.
func turnsText(limits []pipelines.Turns) string {
	var steps []string
	for _, l := range limits {
		steps = append(steps, fmt.Sprintf("%s for %s of %s", plural(l.Turns, "turn"), l.Step, l.Phase))
	}
	return strings.Join(steps, ", ")
}

// freeze gives the files that fix what a run works on and by which rules, and
// their digest.
func (d definition) freeze(is issue) (files map[string][]byte, digest string, err error) {
	plan, err := pipelines.Format(d.plan)
	if err != nil {
		return nil, "", err
	}
	words, err := json.MarshalIndent(d.words.Files(), "", "  ")
	if err != nil {
		return nil, "", err
	}
	words = append(words, '\n')
	folder := phases.Folder(is.ID)
	return map[string][]byte{
		path.Join(folder, phases.PipelineFile): plan,
		path.Join(folder, promptsFile):         words,
		path.Join(folder, phases.IssueFile):    is.markdown(),
	}, digestOf(plan, words), nil
}

// digestOf covers the frozen pipeline and prompts.
func digestOf(plan, words []byte) string {
	return pipelines.Digest(append(append([]byte{}, plan...), words...))
}

// thaw reads back what freeze made, and refuses it if it is not what the
// record says.
func thaw(run metadata.Run, read func(name string) ([]byte, error)) (definition, issue, error) {
	var d definition
	is := issue{
		ID: run.IssueNumber, Title: run.IssueTitle, URL: run.IssueURL, Author: run.Issue.Author, Labels: run.Issue.Labels,
	}
	folder := phases.Folder(run.IssueNumber)
	var files [3][]byte
	for i, name := range []string{phases.PipelineFile, promptsFile, phases.IssueFile} {
		data, err := read(path.Join(folder, name))
		if err != nil {
			return d, is, fmt.Errorf("the run's folder is not whole: %w", err)
		}
		files[i] = data
	}
	if got := digestOf(files[0], files[1]); got != run.Pipeline.Digest {
		return d, is, fmt.Errorf("%s or %s was changed by hand on %s (the record says %s, the files give %s): restore them",
			phases.PipelineFile, promptsFile, run.BranchName, run.Pipeline.Digest, got)
	}
	_, is.Body = parseKept(files[2])
	if is.digest() != run.Issue.Digest {
		return d, is, fmt.Errorf("%s was changed by hand on %s: restore it; a run keeps to the issue as it read when it began", phases.IssueFile, run.BranchName)
	}
	var err error
	if d.plan, err = pipelines.Parse(files[0]); err != nil {
		return d, is, err
	}
	texts := map[string]string{}
	if err := json.Unmarshal(files[1], &texts); err != nil {
		return d, is, fmt.Errorf("read the frozen prompts: %w", err)
	}
	d.words, err = prompts.FromFiles(d.plan.Language, texts)
	return d, is, err
}

// refresh makes the run go on with the issue as it reads now, with its pipeline
// and prompts as they are defined now, or both, and commits that.
func (w *workspace) refresh(ctx context.Context, env environment, o opening) error {
	if o.reissue {
		now, err := w.issueNow(ctx, env, o)
		if err == nil {
			err = w.takeIssue(env, now, w.source.UserName)
		}
		if err != nil {
			return err
		}
	}
	if o.refresh {
		before := *w
		if err := w.redefine(ctx, env, o); err != nil {
			return err
		}
		if w.run.Status == metadata.Completed && !o.reissue {
			*w = before
			w.notes = append(w.notes, phases.Say("en", nothingNew(w.plan)))
			return nil
		}
	}
	e, err := w.engine(env, o, quiet{})
	if err != nil {
		return err
	}
	return e.Refreeze(ctx, w.run, refreshed(o.refresh, o.reissue, w.plan))
}

// refreshed says in a few words what of a run was taken anew.
func refreshed(pipeline, issue bool, plan *pipelines.Pipeline) string {
	return joined(" and ", when(issue, "issue"), when(pipeline, plan.Name+" pipeline"))
}

// nothingNew says why a completed run has nothing to do, and what there is to do.
func nothingNew(plan *pipelines.Pipeline) metadata.Reason {
	return metadata.Because("nothing_new", "pipeline", plan.Name)
}

// redefine gives the run its pipeline and prompts as they are defined now. The
// next commit takes them along.
func (w *workspace) redefine(ctx context.Context, env environment, o opening) error {
	known := kept(w.run.Pipeline.Source)
	if o.part.IsZero() && (o.pipeline == "" || !known) { // one that need not be named and is, is meant as a whole
		o.part = w.plan.Part
	}
	if o.pipeline == "" {
		if !known {
			return usagef("the run began with the pipeline file %s, and where that is now is not known: name it again with --pipeline FILE", w.run.Pipeline.Source)
		}
		o.pipeline = definedBy(w.run, w.plan.Preset)
	}
	if o.language == "" {
		o.language = w.run.Language
	}
	o.agent, o.model = cmp.Or(o.agent, w.plan.Given.Agent), cmp.Or(o.model, w.plan.Given.Model)
	now, err := define(ctx, w.source, w.issue, o)
	if err != nil {
		return err
	}
	now.plan, w.run = phases.Refresh(w.plan, now.plan, w.run, env.now())
	w.run = phases.Allow(w.run, o.more)
	files, digest, err := now.freeze(w.issue)
	if err != nil {
		return err
	}
	if now.plan.Sandbox != w.plan.Sandbox {
		w.told = false // it holds something else now
	}
	w.definition, w.frozen = now, files
	w.run.Pipeline = metadata.Pipeline{Name: now.plan.Name, Digest: digest, Definition: now.defined, Source: now.plan.Source}
	return nil
}

// definedBy names the pipeline of a run the way --pipeline does.
func definedBy(run metadata.Run, preset string) string {
	if preset == "" {
		return run.Pipeline.Name
	}
	return run.Pipeline.Name + "/" + preset
}

// kept reports whether a pipeline comes from where its name finds it again.
func kept(source string) bool {
	return strings.HasPrefix(source, "builtin:") || strings.HasPrefix(source, ".github/reprise/")
}

// changedSince says that the definition of a run reads otherwise now, or "".
func changedSince(ctx context.Context, src *git.Source, run metadata.Run, is issue, preset string) (string, error) {
	if !kept(run.Pipeline.Source) {
		return "", nil // from a file that was named, and may be anywhere
	}
	now, err := define(ctx, src, is, opening{pipeline: definedBy(run, preset), language: run.Language})
	var mistakes pipelines.Errors
	switch {
	case errors.As(err, &mistakes):
		return "the pipeline has mistakes now; the run keeps the one it began with", nil
	case err != nil:
		return "", err
	case now.defined != run.Pipeline.Definition:
		return "the pipeline or its prompts read otherwise now; the run keeps those it began with (--refresh takes the new ones)", nil
	}
	return "", nil
}
