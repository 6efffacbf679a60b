package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
	"github.com/reprise-ci/reprise/prompts"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	workspace.Options
	prompt runs.PromptQuery // and JSON for all that is explained
	graph  bool             // draw it
	whole  bool             // every setting
	all    bool             // every prompt of a rehearsal
}

func explainCommand(env environ.Env) *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "explain [--issue-file FILE | --issue ID | --pipeline NAME] [--settings | --graph | --phase PHASE | --prompts]",
		Short: "Show which pipeline an issue takes, why, and what it would do",
		Long: `Show which pipeline an issue takes, why, and what it would do, in a few lines for each phase.

With --settings, show every setting that has a value, and where it comes from.

With --graph, draw the pipeline of a run as a graph in Mermaid, with colours for where each phase
stands and an arrow for each way that the run was taken back; or a pipeline that no run
has yet.

With --phase, print exactly what an agent would be told in a step of that phase. With
--prompts, rehearse the whole pipeline as reprise run --dry-run does, and print every
prompt.`,
		Example: `  reprise explain --issue-file issue.md
  reprise explain --pipeline full --settings
  reprise explain --issue 7 --graph
  reprise explain --pipeline full --graph >full.mmd
  reprise explain --issue 7 --phase design --step revise
  reprise explain --issue-file issue.md --prompts`,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case countFlags(o.whole, o.graph, o.prompt.Phase != "", o.all) > 1:
				return exit.Usagef("--settings, --graph, --phase and --prompts each show something else: give one of them")
			case o.graph:
				return drawGraph(c.Context(), env, o)
			case o.prompt.Phase != "":
				return runs.ShowPrompt(c.Context(), env, o.Options, o.prompt)
			case c.Flags().Changed("step"):
				return exit.Usagef("which phase? Give --phase PHASE")
			case o.all:
				ctx, end := telemetry.Begin(c.Context(), env)
				defer end()
				return runRun(ctx, env, runOptions{Options: o.Options, dry: true, prompts: true, json: o.prompt.JSON, log: "text"})
			}
			return explainPlan(c.Context(), env, o)
		},
	}
	f := c.Flags()
	repoFlag(c, &o.Repo)
	anyIssueFlag(c, &o.Id)
	f.StringVar(&o.File, "issue-file", "", "Markdown file with the issue")
	f.StringVar(&o.Pipeline, "pipeline", "", "pipeline: a name, NAME/PRESET, or a file (default: chosen by the issue)")
	f.StringVar(&o.Language, "language", "", "of prompts: en or ja (default: the pipeline's)")
	f.BoolVar(&o.whole, "settings", false, "show every setting")
	f.BoolVar(&o.graph, "graph", false, "draw a graph")
	f.StringVar(&o.prompt.Phase, "phase", "", "print the prompt of this phase")
	f.StringVar(&o.prompt.Step, "step", string(metadata.Execute), "with --phase: execute, review or revise")
	f.BoolVar(&o.all, "prompts", false, "rehearse the run, and print every prompt")
	jsonFlag(c, &o.prompt.JSON, "it")
	return c
}

// drawGraph draws the graph of a pipeline.
func drawGraph(ctx context.Context, env environ.Env, o explainOptions) error {
	plan, run, err := runs.Drawn(ctx, env, o.Options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(env.Stdout, view.Mermaid(plan, run))
	return text.Unread(err)
}

// explainPlan shows which pipeline an issue takes, and why.
func explainPlan(ctx context.Context, env environ.Env, o explainOptions) error {
	d, err := runs.Explain(ctx, env, o.Options)
	if err != nil {
		return err
	}
	why := d.Why.In(prompts.Words("en"))
	if o.prompt.JSON {
		return text.PrintJSON(env.Stdout, map[string]any{"why": why, "open": d.Open, "pipeline": d.Plan})
	}
	said := fmt.Sprintf("%s: %s\n", d.Plan.Name, why)
	if d.Open {
		said = fmt.Sprintf("%s: %s. %s\nTo see one of them: reprise explain --pipeline NAME\n", pipelines.Auto, why, source.ChoiceRules)
	}
	terminal.Tell(env.Stdout, said)
	for _, names := range d.Closed {
		_, _ = fmt.Fprintf(env.Stdout, "Note: %s\n\n", names.In(prompts.Words("en")))
	}
	if !o.whole {
		_, err = fmt.Fprint(env.Stdout, terminal.Fold(view.Outline(d.Plan)+"Every setting: the same with --settings\n", terminal.Width(env.Stdout)))
		return text.Unread(err)
	}
	_, err = fmt.Fprint(env.Stdout, view.Settings(d.Plan))
	return text.Unread(err)
}
