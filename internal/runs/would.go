package runs

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// Explain finds the pipeline that a run has, or that an issue would take.
func Explain(ctx context.Context, env environ.Env, o workspace.Options) (_ workspace.Definition, err error) {
	switch {
	case o.File != "" && o.Id != "":
		return workspace.Definition{}, exit.Usagef("--issue-file and --issue each name an issue: give one of them")
	case o.Pipeline != "" && o.Id != "":
		return workspace.Definition{}, exit.Usagef("--issue names a run, which keeps the pipeline it began with: leave --pipeline out, or give the issue with --issue-file")
	}
	if o.Id != "" {
		r, err := workspace.Look(ctx, env, o.Repo, o.Id)
		if err != nil {
			return workspace.Definition{}, err
		}
		r.Why = metadata.Because("chosen_before", "source", r.Run.Pipeline.Source)
		return r.Definition, nil
	}
	is := issue.Issue{ID: "none"}
	if o.File != "" {
		if is, err = issue.ReadFile(o.File, env.Stdin); err != nil {
			return workspace.Definition{}, err
		}
	}
	src, err := SourceIfAny(ctx, o.Repo)
	if err != nil {
		return workspace.Definition{}, err
	}
	o.Here = true
	d, err := workspace.Define(ctx, src, is, o.Choice)
	if said := workspace.SayOtherwise(ctx, src); err == nil && said != "" {
		terminal.Tell(env.Stderr, "reprise: "+said)
	}
	return d, err
}

// SourceIfAny finds a repository, of which only the folder is known where nothing is committed, or gives nil where there
// is none, or no git: built-in pipelines and files need none.
func SourceIfAny(ctx context.Context, dir string) (*git.Source, error) {
	src, err := git.Find(ctx, dir)
	if unborn, is := errors.AsType[*git.NoCommits](err); is {
		return &git.Source{Dir: unborn.Dir}, nil
	}
	if errors.As(err, new(*git.NotARepository)) || errors.Is(err, exec.ErrNotFound) {
		return nil, nil
	}
	return src, err
}

// PromptQuery is what ShowPrompt is asked for.
type PromptQuery struct {
	Phase, Step string
	JSON        bool // print an object with what it is the prompt of
}

// ShowPrompt prints a prompt as it would be sent, for the run as it stands.
func ShowPrompt(ctx context.Context, env environ.Env, o workspace.Options, a PromptQuery) (err error) {
	if o.File != "" && o.Id != "" {
		return exit.Usagef("--issue-file names an issue that would begin, --issue one that has a run: give one of them")
	}
	if o.File == "" && o.Id == "" {
		src, err := git.Find(ctx, o.Repo)
		if err != nil {
			return err
		}
		if o.Id, err = workspace.CurrentRun(ctx, env, src); err != nil {
			return err
		}
	}
	o.Scratch, o.Here = true, true
	w, err := workspace.Open(ctx, env, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	e, err := w.Engine(o, engine.Quiet{})
	if err != nil {
		return err
	}
	root, err := workspace.HomeFolder(env, w.Source, w.Issue.ID)
	if err != nil {
		return err
	}
	e.Tree = treeAt{w.Repo.At(w.Run.BaseCommit), filepath.Join(root, "tree")}
	p := w.Plan.Phase(a.Phase)
	if p == nil {
		return exit.AsUsage(command.WithNearest(&phases.UnknownPhase{Phase: a.Phase, Known: pipelines.NamesOf(w.Plan.Phases)}))
	}
	if !slices.Contains(metadata.AgentSteps(), metadata.Step(a.Step)) {
		return exit.Usagef("there is no step %q; the steps are execute, review, revise", a.Step)
	}
	d := phases.Decide(phases.On(w.Plan, w.Run))
	if d.Phase != a.Phase || string(d.Do) != a.Step { // not what comes next, but what would be said now
		d = phases.Decision{Do: phases.Do(a.Step), Phase: a.Phase, Agent: phases.SettingsIn(phases.On(w.Plan, w.Run), p, metadata.Step(a.Step)).Agent}
	}
	prompt, err := e.Prompt(ctx, w.Run, d)
	switch {
	case err != nil:
	case a.JSON:
		err = text.PrintJSON(env.Stdout, map[string]string{"phase": a.Phase, "step": a.Step, "agent": d.Agent, "prompt": prompt})
	default:
		if environ.IsTerminal(env.Stdout) { // of which nothing is ours, not even the colours
			prompt = text.Visible(prompt)
		}
		_, err = fmt.Fprint(env.Stdout, prompt)
	}
	return err
}

// treeAt is a tree that says it is in another folder: the one in which the agent would find it.
type treeAt struct {
	engine.BranchTree
	dir string
}

// Dir is that other folder.
func (t treeAt) Dir() string { return t.dir }

// Drawn gives what there is to draw: the pipeline and the record of a run, or a
// pipeline that no run has yet, without a record.
func Drawn(ctx context.Context, env environ.Env, o workspace.Options) (phases.Course, error) {
	if o.File != "" || o.Pipeline != "" {
		d, err := Explain(ctx, env, o)
		return phases.Course{Plan: d.Plan}, err
	}
	r, err := workspace.Look(ctx, env, o.Repo, o.Id)
	if err != nil {
		return phases.Course{}, err
	}
	return phases.On(r.Plan, r.Run), nil
}
