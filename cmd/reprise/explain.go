package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"
	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/setup"
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

With --graph, draw the pipeline of a run, with where each phase stands and each way that
the run was taken back; or a pipeline that no run has yet. A terminal gets the picture,
a file or another program a graph in Mermaid.

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
			case text.Count(o.whole, o.graph, o.prompt.Phase != "", o.all) > 1:
				return exit.Usagef("--settings, --graph, --phase and --prompts each show something else: give one of them")
			case o.graph:
				return drawGraph(c.Context(), env, o)
			case o.prompt.Phase != "":
				return runs.ShowPrompt(c.Context(), env, o.Options, o.prompt)
			case c.Flags().Changed("step"):
				return exit.Usagef("which phase? Give --phase PHASE")
			case o.all:
				return runRun(c.Context(), env, runOptions{Options: o.Options, dry: true, prompts: true, json: o.prompt.JSON, log: "text"})
			}
			return explainPlan(c.Context(), env, o)
		},
	}
	f := c.Flags()
	anyIssueFlag(c, &o.Repo, &o.Id)
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

func drawGraph(ctx context.Context, env environ.Env, o explainOptions) error {
	drawn, err := runs.Drawn(ctx, env, o.Options)
	if err != nil {
		return err
	}
	draw := view.Mermaid
	if terminal.Width(env.Stdout) > 0 {
		draw = view.Drawing
	}
	_, err = fmt.Fprint(env.Stdout, draw(drawn))
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
	shown := view.Settings(d.Plan)
	if !o.whole {
		shown = terminal.Fold(view.Outline(d.Plan)+"Every setting: the same with --settings\n", terminal.Width(env.Stdout))
	}
	_, err = fmt.Fprint(env.Stdout, shown)
	return text.Unread(err)
}

func vetCommand(env environ.Env) *cobra.Command {
	var repo string
	var asJSON, schema bool
	c := &cobra.Command{
		Use:   "vet [FILE | NAME]...",
		Short: "Check pipelines and prompts, and print every mistake with its place",
		Long: `Check pipelines and print every mistake as file:line:column. Without arguments,
those in .github/reprise of your checkout and all that are built in. In
GitHub Actions mistakes are annotations, too. If there is any, the exit code is 2.

With --schema, print the JSON Schema of pipelines, by which editors complete names,
explain fields and mark mistakes in YAML and JSON. In a pipeline in YAML, name the file
that you have saved it in on the first line:

  # yaml-language-server: $schema=../pipeline.schema.json`,
		Example: `  reprise vet
  reprise vet .github/reprise/pipelines/own.cue
  reprise vet --schema >.github/reprise/pipeline.schema.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if schema && len(args) > 0 {
				return exit.Usagef("--schema is the same for all pipelines: leave %s out", args[0])
			}
			if schema {
				_, err := fmt.Fprint(env.Stdout, pipelines.JSONSchema)
				return text.Unread(err)
			}
			return vetPipelines(c.Context(), env, repo, args, asJSON)
		},
	}
	repoFlag(c.Flags(), &repo)
	c.Flags().BoolVar(&asJSON, "json", false, "print the mistakes as a JSON array")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of pipelines, for editors")
	return c
}

// vetPipelines checks the pipelines that args name, or those in force if they name none, and
// reports all mistakes of all of them: an exit code as the error if there is one.
func vetPipelines(ctx context.Context, env environ.Env, repo string, args []string, asJSON bool) error {
	src, err := runs.SourceIfAny(ctx, repo)
	if err != nil {
		return err
	}
	all, defined, err := workspace.Vetted(ctx, src, args)
	if err != nil {
		return err
	}
	if said := workspace.SayOtherwise(ctx, src); len(args) == 0 && said != "" {
		_, _ = fmt.Fprintln(env.Stderr, "reprise:", said)
	}
	var words []*prompts.Set
	if src != nil && len(args) == 0 { // else others may take a template
		var wrong pipelines.Mistakes
		if words, wrong, err = workspace.VetPrompts(ctx, src); err != nil {
			return err
		}
		for _, m := range wrong {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	if !asJSON && len(all) == 0 {
		whole := slices.DeleteFunc(slices.Clone(defined), func(d workspace.Definition) bool { return d.Plan == nil }) // settings are no pipeline
		notes := doubtful(whole, words)
		for _, d := range whole {
			for _, note := range slices.Concat(unfounded(d.Plan), doctor.Holding(d.Plan.Agents, env.Environ)) {
				notes = append(notes, fmt.Sprintf("pipeline %s: %s", text.Flat(d.Plan.Name), note))
			}
		}
		if src != nil && len(args) == 0 {
			if altered := setup.AlteredVendor(os.DirFS(src.Dir)); len(altered) > 0 {
				notes = append(notes, "not as taken from others, as reprise init --upgrade shows: "+text.Flat(strings.Join(altered, ", ")))
			}
			if unread := workspace.Unread(src); len(unread) > 0 {
				notes = append(notes, "nothing reads "+text.Flat(strings.Join(unread, ", "))+": pipelines lie in .github/reprise/pipelines and end in .yaml, .yml, .cue, .json or .toml, prompts in .github/reprise/prompts and end in .md, settings are .github/reprise/config.yaml, and a policy is .github/reprise/policy.cue")
			}
		}
		slices.Sort(notes)
		for _, note := range slices.Compact(notes) { // several steps or pipelines have the same
			_, _ = fmt.Fprintln(env.Stderr, "reprise:", note)
		}
	}
	return reportMistakes(env, all, len(defined), asJSON)
}

// reportMistakes prints mistakes for people, programs and GitHub.
func reportMistakes(env environ.Env, all pipelines.Mistakes, checked int, asJSON bool) error {
	if asJSON {
		if err := text.PrintJSON(env.Stdout, all); err != nil {
			return err
		}
	}
	for _, m := range all {
		if !asJSON {
			_, _ = fmt.Fprintln(env.Stdout, terminal.Fold(m.Error(), terminal.Width(env.Stdout)))
		}
		if env.Getenv("GITHUB_ACTIONS") == "true" {
			shown := githubactions.Command{Name: "error", Message: strings.TrimPrefix(m.Path+": "+m.Message, ": ")}
			if m.File != "" {
				shown.Properties = githubactions.CommandProperties{"file": m.File, "line": strconv.Itoa(m.Line), "col": strconv.Itoa(m.Column)}
			}
			_, _ = fmt.Fprintln(environ.Unescaped(env.Stderr), shown.String())
		}
	}
	if len(all) > 0 {
		return exit.Code(exit.Usage)
	}
	if !asJSON {
		_, _ = fmt.Fprintf(env.Stdout, "%d checked, no mistakes\n", checked)
	}
	return nil
}

// What vet says of pipelines that have no mistakes: what their author may not have thought of.

// unfounded says which models of lists and which programs nobody knows a price of, and what proves nothing.
func unfounded(plan *pipelines.Pipeline) (notes []string) {
	for _, p := range plan.Phases {
		if p.Proves != "" && len(p.Checks) == 0 && !strings.HasPrefix(plan.Source, "builtin:") { // to which init adds them
			notes = append(notes, fmt.Sprintf("phase %s: proves runs the checks of its phase, and it has none, so nothing is proven", p.Name))
		}
	}
	for _, why := range agents.Unpriced(plan.Agents) {
		notes = append(notes, why.In(prompts.Words("en")))
	}
	for _, step := range workspace.StepsOf(plan) {
		for _, model := range step.Models {
			if !agents.PriceKnown(plan, model) {
				notes = append(notes, fmt.Sprintf("allow_models: no price is known for %q, so it counts as the most expensive known one; if it is spelled correctly, give its price under prices", model))
			}
		}
	}
	return notes
}

// doubtful says what is doubtful about the prompts of the repository, for all of its pipelines together.
func doubtful(defined []workspace.Definition, words []*prompts.Set) (notes []string) {
	var named []string
	for _, d := range defined {
		for _, step := range workspace.StepsOf(d.Plan) {
			named = append(named, step.Prompt)
		}
	}
	for _, w := range words {
		for _, m := range w.Doubts(named) {
			notes = append(notes, m.Error())
		}
	}
	return notes
}
