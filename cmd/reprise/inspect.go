package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
func look(ctx context.Context, env environment, repo, id string) (*recorded, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	src, err := git.Find(ctx, repo)
	if err != nil {
		return nil, err
	}
	r := &recorded{source: src}
	name := recordFile(id)
	read := func(name string) ([]byte, error) { return src.ReadFile(ctx, env.branch(id), name) }
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
	branches, err := src.Branches(ctx, env.prefix())
	if err != nil || len(branches) == 0 {
		return &noRunError{usageError{fmt.Errorf("there is no run for issue %s in this repository; start one with: reprise run --issue-file FILE", id)}}
	}
	for i, b := range branches {
		branches[i] = strings.TrimPrefix(b, env.prefix())
	}
	slices.Sort(branches)
	return &noRunError{usageError{fmt.Errorf("there is no run for issue %s in this repository; there are: %s", id, strings.Join(branches, ", "))}}
}

func statusCommand(env environment) *cobra.Command {
	var repo, id string
	var asJSON bool
	c := &cobra.Command{
		Use: "status --issue ID", Short: "Show where a run is, and what it waits for",
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := look(c.Context(), env, repo, id)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.stdout, phases.Summarize(r.plan, r.run))
			}
			showStatus(env.stdout, r.plan, r.run, showOptions(env))
			return nil
		},
	}
	repoFlag(c, &repo)
	issueFlag(c, &id)
	c.Flags().BoolVar(&asJSON, "json", false, "print the state as one JSON object")
	return c
}

func historyCommand(env environment) *cobra.Command {
	var repo, id string
	var asJSON bool
	c := &cobra.Command{
		Use: "history --issue ID", Short: "Show every attempt, decision and rollback of a run",
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := look(c.Context(), env, repo, id)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.stdout, map[string]any{
					"issue": r.run.IssueNumber, "pipeline": r.run.Pipeline, "status": r.run.Status, "attempts": r.run.Attempts,
					"decisions": r.run.Decisions, "rollbacks": r.run.RollbackHistory, "cost": r.run.Cost,
					"questions": r.run.Questions, "approvals": r.run.Approvals, "tasks": r.run.Tasks, "children": r.run.Children,
				})
			}
			showHistory(env.stdout, r.run, showOptions(env))
			return nil
		},
	}
	repoFlag(c, &repo)
	issueFlag(c, &id)
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

func vetCommand(env environment) *cobra.Command {
	var repo string
	var asJSON bool
	c := &cobra.Command{
		Use:   "vet [FILE | NAME]...",
		Short: "Check pipelines and prompts, and print every mistake with its place",
		Long: `Check pipelines and print every mistake as file:line:column. Without arguments,
those in .github/reprise of the default branch and all that are built in. In
GitHub Actions mistakes are annotations, too. Exit code 2 if there is any.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return runVet(c.Context(), env, repo, args, asJSON) },
	}
	repoFlag(c, &repo)
	c.Flags().BoolVar(&asJSON, "json", false, "print the mistakes as a JSON array")
	return c
}

// runVet checks pipelines and reports all mistakes of all of them.
func runVet(ctx context.Context, env environment, repo string, args []string, asJSON bool) error {
	src, err := git.Find(ctx, repo)
	if isNoRepository(err) {
		src, err = nil, nil
	}
	if err != nil {
		return err
	}
	all, checked, err := vetted(ctx, src, args)
	if err != nil {
		return err
	}
	return reportMistakes(env, all, checked, asJSON)
}

// vetted gives the mistakes of pipelines and their prompts, and how many were
// checked: those that are named, else all there are. Without a repository those
// are the built-in ones.
func vetted(ctx context.Context, src *git.Source, args []string) (pipelines.Errors, int, error) {
	if len(args) == 0 {
		s, _, err := sources(ctx, src, "")
		if err != nil {
			return nil, 0, err
		}
		if args, err = s.Names(); err != nil {
			return nil, 0, err
		}
	}
	all := pipelines.Errors{}
	for _, name := range args {
		_, err := define(ctx, src, issue{ID: "none"}, opening{pipeline: name})
		var mistakes pipelines.Errors
		if errors.As(err, &mistakes) {
			for _, m := range mistakes {
				if !slices.Contains(all, m) { // a prompt is used by many pipelines
					all = append(all, m)
				}
			}
		} else if err != nil {
			return nil, 0, usageError{err}
		}
	}
	return all, len(args), nil
}

// reportMistakes prints mistakes for people, programs and GitHub.
func reportMistakes(env environment, all pipelines.Errors, checked int, asJSON bool) error {
	if asJSON {
		if err := printJSON(env.stdout, all); err != nil {
			return err
		}
	}
	for _, m := range all {
		if !asJSON {
			_, _ = fmt.Fprintln(env.stdout, m)
		}
		if env.getenv("GITHUB_ACTIONS") == "true" {
			text := strings.TrimPrefix(m.Path+": "+m.Message, ": ")
			_, _ = fmt.Fprintf(forCommands(env.stderr), "::error file=%s,line=%d,col=%d::%s\n", property(m.File), m.Line, m.Column, data(text))
		}
	}
	if len(all) > 0 {
		return exitCode(exitUsage)
	}
	if !asJSON {
		_, _ = fmt.Fprintf(env.stdout, "%d checked, no mistakes\n", checked)
	}
	return nil
}

// data and property escape what goes into a workflow command, as GitHub's
// runner reads it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string { return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s)) }

func promptCommand(env environment) *cobra.Command {
	var o opening
	var phase, step string
	c := &cobra.Command{
		Use:   "prompt (--issue-file FILE | --issue ID) --phase PHASE --step STEP",
		Short: "Print exactly what an agent would be told",
		RunE:  func(c *cobra.Command, _ []string) error { return runPrompt(c.Context(), env, o, phase, step) },
	}
	repoFlag(c, &o.repo)
	issueFlag(c, &o.id)
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
	case o.file == "" && o.id == "" || o.file != "" && o.id != "":
		return usagef("which issue? Give --issue-file FILE for one that would begin, or --issue ID for a run")
	case phase == "":
		return usagef("which phase? Give --phase PHASE")
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
		return usageError{&phases.UnknownPhase{Phase: phase, Known: phaseNames(w.plan)}}
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
