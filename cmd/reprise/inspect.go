package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// recorded is a run as its branch has it, opened for reading only.
type recorded struct {
	definition
	source *git.Source
	issue  issue
	run    metadata.Run
}

// look reads a run without taking it: another process may be at work on it.
// Without an id it is the run that is at hand.
func look(ctx context.Context, env environment, repo, id string) (*recorded, error) {
	if id != "" {
		if err := checkID(id); err != nil {
			return nil, err
		}
	}
	src, err := git.Find(ctx, repo)
	if err != nil {
		return nil, err
	}
	if id == "" {
		if id, err = atHand(ctx, env, src); err != nil {
			return nil, err
		}
	}
	return lookAt(ctx, env, src, id)
}

// lookAt reads the run of an issue in a repository.
func lookAt(ctx context.Context, env environment, src *git.Source, id string) (*recorded, error) {
	r := &recorded{source: src}
	name := recordFile(id)
	read, done, err := r.reader(ctx, env, env.branch(id))
	if err != nil {
		return nil, err
	}
	defer done()
	data, err := read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRun(ctx, env, src, id)
	}
	if err != nil {
		return nil, err
	}
	if r.run, err = metadata.Parse(data, env.branch(id)+":"+name); err != nil {
		return nil, err
	}
	r.aheadHere(env, id)
	r.definition, r.issue, err = thaw(r.run, read)
	return r, err
}

// reader gives how files of a run's branch are read: of the branch here, else of
// the one on origin as it is now, which a clone need not have. Where origin does
// not answer, what it had when it was fetched last is all there is.
func (r *recorded) reader(ctx context.Context, env environment, branch string) (read func(string) ([]byte, error), done func(), err error) {
	here := func(name string) ([]byte, error) { return r.source.ReadFile(ctx, branch, name) }
	known, err := r.source.Branches(ctx, branch)
	if err != nil || slices.Contains(known, branch) || r.source.RemoteURL == "" {
		return here, func() {}, err
	}
	there, err := r.source.Peek(ctx, branch)
	if errors.Is(err, fs.ErrNotExist) {
		return func(string) ([]byte, error) { return nil, fs.ErrNotExist }, func() {}, nil
	}
	if err != nil && ctx.Err() == nil {
		_, _ = fmt.Fprintf(env.stderr, "reprise: %v; what is shown was fetched earlier, if anything\n", err)
		return here, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return func(name string) ([]byte, error) { return there.ReadFile(ctx, name) }, there.Close, nil
}

// aheadHere takes the record from the folder that the run has on this machine
// if that is newer: the branch of the user is not moved along while it is
// checked out.
func (r *recorded) aheadHere(env environment, id string) {
	root, err := rootOf(env, r.source, id)
	if err != nil {
		return // then nothing of the run is here
	}
	here := saved(root, id)
	if here == nil || here.Execution.ID != r.run.Execution.ID || here.Pipeline.Digest != r.run.Pipeline.Digest {
		return
	}
	committed := here.Revision
	if n := len(here.Attempts); n > 0 && here.Attempts[n-1].Status == metadata.Started {
		committed-- // that it began is in no commit yet
	}
	if committed > r.run.Revision {
		_, _ = fmt.Fprintf(env.stderr, "reprise: branch %s of this repository is behind the run; this is the run as it is in %s\n", r.run.BranchName, filepath.Join(root, "tree"))
		r.run = *here
	}
}

// noRunError says that an issue has no run.
type noRunError struct{ usageError }

// Unwrap returns the mistake that it is.
func (e *noRunError) Unwrap() error { return e.usageError }

// noRun says that an issue has no run, and what there is.
func noRun(ctx context.Context, env environment, src *git.Source, id string) error {
	ids, err := idsUnder(ctx, src, env.prefix())
	if err != nil || len(ids) == 0 {
		return &noRunError{usageError{fmt.Errorf("there is no run for issue %s in this repository; start one with: reprise run --issue-file FILE", id)}}
	}
	return &noRunError{usageError{fmt.Errorf("there is no run for issue %s in this repository; there are: %s", id, strings.Join(ids, ", "))}}
}

// idsUnder lists the issues that have a branch here whose name is the prefix
// and an id, in the order of the names.
func idsUnder(ctx context.Context, src *git.Source, prefix string) ([]string, error) {
	folder, _ := path.Split(prefix) // a prefix may end within a name, which git lists no branches by
	branches, err := src.Branches(ctx, folder)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, b := range branches {
		if id, ok := strings.CutPrefix(b, prefix); ok && metadata.CheckID(id) == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func statusCommand(env environment) *cobra.Command {
	var repo, id string
	var asJSON bool
	c := &cobra.Command{
		Use: "status [--issue ID]", Short: "Show where a run is, and what it waits for",
		Long: `Show where a run is, and what it waits for. Without --issue it is the run whose
branch is checked out, or the only one there is; if there are several, they are
listed.`,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := look(c.Context(), env, repo, id)
			var several severalRuns
			if errors.As(err, &several) {
				return several.list(c.Context(), env, asJSON)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.stdout, resultOf(r.plan, r.run))
			}
			showStatus(env.stdout, r.plan, r.run, showOptions(env))
			return nil
		},
	}
	repoFlag(c, &repo)
	anyIssueFlag(c, &id)
	c.Flags().BoolVar(&asJSON, "json", false, "print the state as one JSON object")
	return c
}

func historyCommand(env environment) *cobra.Command {
	var repo, id string
	var asJSON bool
	c := &cobra.Command{
		Use: "history [--issue ID]", Short: "Show every attempt, decision and rollback of a run",
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := look(c.Context(), env, repo, id)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.stdout, historyOf(r.run))
			}
			showHistory(env.stdout, r.run, showOptions(env))
			return nil
		},
	}
	repoFlag(c, &repo)
	anyIssueFlag(c, &id)
	c.Flags().BoolVar(&asJSON, "json", false, "print the history as one JSON object")
	return c
}

func explainCommand(env environment) *cobra.Command {
	var o opening
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain [--issue-file FILE | --issue ID | --pipeline NAME]",
		Short: "Show which pipeline an issue takes, why, and what it would do",
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := explained(c.Context(), env, o)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.stdout, map[string]any{"why": d.why, "pipeline": d.plan})
			}
			_, _ = fmt.Fprintf(env.stdout, "%s: %s\n\n", d.plan.Name, d.why)
			showPlan(env.stdout, d.plan, showOptions(env))
			return nil
		},
	}
	repoFlag(c, &o.repo)
	issueFlag(c, &o.id)
	c.Flags().StringVar(&o.file, "issue-file", "", "Markdown file with the issue")
	c.Flags().StringVar(&o.pipeline, "pipeline", "", "pipeline: a name, NAME/PRESET, or a file")
	c.Flags().BoolVar(&asJSON, "json", false, "print the pipeline as one JSON object")
	return c
}

// explained finds the pipeline that a run has, or that an issue would take.
func explained(ctx context.Context, env environment, o opening) (definition, error) {
	switch {
	case o.file != "" && o.id != "":
		return definition{}, usagef("--issue-file and --issue each name an issue: give one of them")
	case o.pipeline != "" && o.id != "":
		return definition{}, usagef("--issue names a run, which keeps the pipeline it began with: leave --pipeline out, or give the issue with --issue-file")
	}
	if o.id != "" {
		r, err := look(ctx, env, o.repo, o.id)
		if err != nil {
			return definition{}, err
		}
		r.why = "frozen when the run began, from " + r.run.Pipeline.Source
		return r.definition, nil
	}
	is := issue{ID: "none"}
	var err error
	if o.file != "" {
		if is, err = readIssue(o.file); err != nil {
			return definition{}, err
		}
	}
	src, err := git.Find(ctx, o.repo)
	var none *git.NotARepository
	var unborn *git.NoCommits
	if errors.As(err, &none) || errors.As(err, &unborn) {
		src, err = nil, nil // built-in pipelines and files need no repository
	}
	if err != nil {
		return definition{}, err
	}
	return define(ctx, src, is, o)
}

func promptCommand(env environment) *cobra.Command {
	var o opening
	var phase, step string
	c := &cobra.Command{
		Use:   "prompt [--issue-file FILE | --issue ID] --phase PHASE [--step STEP]",
		Short: "Print exactly what an agent would be told",
		RunE:  func(c *cobra.Command, _ []string) error { return runPrompt(c.Context(), env, o, phase, step) },
	}
	repoFlag(c, &o.repo)
	anyIssueFlag(c, &o.id)
	c.Flags().StringVar(&o.file, "issue-file", "", "Markdown file with the issue")
	c.Flags().StringVar(&o.pipeline, "pipeline", "", "pipeline: a name, NAME/PRESET, or a file (default: chosen by the issue)")
	c.Flags().StringVar(&o.language, "language", "", "en or ja (default: the pipeline's)")
	c.Flags().StringVar(&phase, "phase", "", "phase")
	c.Flags().StringVar(&step, "step", string(metadata.Execute), "step: execute, review or revise")
	return c
}

// runPrompt prints a prompt as it would be sent, for the run as it stands.
func runPrompt(ctx context.Context, env environment, o opening, phase, step string) (err error) {
	switch {
	case o.file != "" && o.id != "":
		return usagef("--issue-file names an issue that would begin, --issue one that has a run: give one of them")
	case phase == "":
		return usagef("which phase? Give --phase PHASE")
	}
	if o.file == "" && o.id == "" {
		src, err := git.Find(ctx, o.repo)
		if err != nil {
			return err
		}
		if o.id, err = atHand(ctx, env, src); err != nil {
			return err
		}
	}
	o.scratch = true
	w, err := openWorkspace(ctx, env, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	e, err := w.engine(env, o, quiet{})
	if err != nil {
		return err
	}
	root, err := rootOf(env, w.source, w.issue.ID)
	if err != nil {
		return err
	}
	e.Tree = treeAt{tree{w.repo, w.run.BaseCommit}, filepath.Join(root, "tree")}
	p := w.plan.Phase(phase)
	if p == nil {
		return usage(meant(&phases.UnknownPhase{Phase: phase, Known: phaseNames(w.plan)}))
	}
	if !slices.Contains([]string{"execute", "review", "revise"}, step) {
		return usagef("there is no step %q; the steps are execute, review, revise", step)
	}
	d := phases.Decide(w.plan, w.run)
	if d.Phase != phase || string(d.Do) != step { // not what comes next, but what would be said now
		d = phases.Decision{Do: phases.Do(step), Phase: phase, Agent: phases.SettingsIn(w.plan, w.run, p, metadata.Step(step)).Agent}
	}
	text, err := e.Prompt(ctx, w.run, d)
	if err == nil {
		_, err = fmt.Fprint(env.stdout, text)
	}
	return err
}

// treeAt is a tree that says it is in another folder: the one in which the
// agent would find it.
type treeAt struct {
	tree
	dir string
}

// Dir is that other folder.
func (t treeAt) Dir() string { return t.dir }

func phaseNames(plan *pipelines.Pipeline) []string {
	var out []string
	for _, p := range plan.Phases {
		out = append(out, p.Name)
	}
	return out
}
