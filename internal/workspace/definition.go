package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/source"
	"github.com/reprise-ci/reprise/prompts"
)

// EvaluateCommand is the hidden command that evaluates CUE from a repository, in a process of its own with limits.
const EvaluateCommand = "evaluate-cue"

// Definition is a pipeline with the prompts that go with it.
type Definition struct {
	Plan  *pipelines.Pipeline
	Words *prompts.Set
	Why   metadata.Reason // why this pipeline was chosen
	// Open says that an agent is to judge the issue, and Plan is what is taken if none can, see choice.Chosen.
	Open bool
	// Closed are the paths the issue names that no agent may change; unknown of a run under way.
	Closed []metadata.Reason
	// Workflows are those that the issue names and the pipeline opens.
	Workflows []string
	// Defined is the digest of pipeline and prompts before the command line changed them.
	Defined string
}

// unwritten gives a mistake for each step whose template nobody has written.
func (d *Definition) unwritten() (wrong pipelines.Mistakes) {
	written := d.Words.Files()
	for _, p := range phasesOf(d.Plan) {
		for _, s := range []struct{ name, prompt string }{{"execute", p.Execute.Prompt}, {"review", p.Review.Prompt}, {"revise", p.Revise.Prompt}} {
			if s.prompt != "" && written[s.prompt+".md"] == "" {
				wrong = append(wrong, pipelines.Mistake{File: d.Plan.Source, Message: fmt.Sprintf(
					"%s of %s takes the prompt %q, which nobody has written: it would be %s/prompts/%s.md", s.name, p.Name, s.prompt, ownFolder, s.prompt)})
			}
		}
	}
	return wrong
}

// sources says where pipelines come from: a file that was named, .github/reprise of the checkout where a person at a
// terminal asks, else of the default branch, then what is built in. The branch that agents work on has no say.
func sources(ctx context.Context, src *git.Source, o Choice) (s source.Sources, pipeline string, err error) {
	if s.Evaluator, err = evaluator(); err != nil {
		return s, "", err
	}
	if src != nil {
		s.Trusted, err = src.FS(ctx, src.Trusted(), ownFolder)
		s.Repo = s.Trusted
	}
	if src != nil && o.Here && err == nil {
		s.Repo, _, err = ownHere(ctx, src)
	}
	s.Policy = o.Policy
	if IsPath(o.Pipeline) {
		s.Path = o.Pipeline
		return s, "", err
	}
	return s, o.Pipeline, err
}

// IsPath tells a file from a name, or a name with a preset behind a slash.
func IsPath(pipeline string) bool {
	_, file := source.IsFile(pipeline)
	return file || strings.HasPrefix(pipeline, ".") || filepath.IsAbs(pipeline)
}

// evaluator evaluates CUE from a repository: this program, started again. An error says why its file is not known.
func evaluator() (source.Evaluator, error) {
	self, err := Executable()
	return source.Evaluator{Argv: []string{self, EvaluateCommand}}, err
}

// Choice is what the command line or an event says about the definition of a run.
type Choice struct {
	Pipeline string // name, name/preset or path; empty: chosen by the issue
	Language string // en or ja; empty: the pipeline's
	Agent    string // does the work of every agent of the pipeline
	Model    string // for every step; empty: as the pipeline says
	Part     pipelines.Part
	Policy   string // path of a policy besides that of the repository; empty: none
	Workflow string // path of the workflow that this job runs in, which no pipeline opens

	Weight string // a choice.Weight, of an issue that an agent has judged

	Installed []string // the agent programs that there are; none: those that the machine has

	// Here takes pipelines and prompts from the checkout, in place of the default branch.
	Here bool
}

// Define reads the pipeline and the prompts as they are now.
func Define(ctx context.Context, src *git.Source, is issue.Issue, o Choice) (Definition, error) {
	s, name, err := sources(ctx, src, o)
	if err != nil {
		return Definition{}, err
	}
	chosen, err := source.Choose(ctx, s, source.ChoiceIssue{Title: is.Title, Labels: is.Labels, Type: is.Type}, name)
	if err != nil {
		return Definition{}, exit.AsUsage(err) // what was named, or a label or file of the repository
	}
	plan := chosen.Plan
	if err := protectAs(ctx, src, s, o, plan); err != nil {
		return Definition{}, err
	}
	if filepath.IsAbs(plan.Source) {
		plan.Source = filepath.Base(plan.Source) // the record names no folder of this machine
	}
	d := Definition{Plan: plan, Why: chosen.Why, Open: chosen.Open}
	applyChoice(plan, o)
	if err := builtin.Speak(plan); err != nil {
		return d, err
	}
	if d.Words, err = prompts.Load(s.Repo, plan.Language); err != nil {
		return d, err
	}
	if wrong := d.unwritten(); len(wrong) > 0 {
		return d, wrong
	}
	if _, d.Defined, err = d.freeze(is); err != nil {
		return d, err
	}
	if err = d.adapt(o); err == nil {
		err = s.Hold(ctx, d.Plan)
	}
	if err == nil {
		err = d.name(ctx, src, is)
	}
	return d, err
}

// hold says what the policies that hold now demand of what a run does, with the flags, that it does not have, as
// pipelines.Mistakes.
func (w *Workspace) hold(ctx context.Context, o Options, plan *pipelines.Pipeline) error {
	s, _, err := sources(ctx, w.Source, o.Choice)
	if err != nil {
		return err
	}
	plan.Jobs = max(o.Jobs, plan.Jobs)
	return s.Hold(ctx, plan)
}

// Allows says what the policies have against what a command makes of a run, as pipelines.Mistakes. A command that
// leaves what the run does as it was is always allowed.
func (w *Workspace) Allows(ctx context.Context, o Options, run, next metadata.Run) error {
	plan := phases.Effective(phases.On(w.Plan, next))
	if reflect.DeepEqual(plan, phases.Effective(phases.On(w.Plan, run))) {
		return nil
	}
	return w.hold(ctx, o, plan)
}

// protectAs has a pipeline of the checkout protect what that of the default branch protects, too, and open nothing
// that it does not open.
func protectAs(ctx context.Context, src *git.Source, s source.Sources, o Choice, plan *pipelines.Pipeline) error {
	if !o.Here || !isFindable(plan.Source) || SayOtherwise(ctx, src) == "" {
		return nil
	}
	there, err := source.Load(ctx, source.Sources{Repo: s.Trusted, Evaluator: s.Evaluator}, plan.Name)
	if err != nil {
		there = &pipelines.Pipeline{} // none without mistakes: nothing is open
	}
	for _, pattern := range there.Protect {
		if !slices.Contains(plan.Protect, pattern) {
			plan.Protect = append(plan.Protect, pattern)
		}
	}
	plan.Open = slices.DeleteFunc(plan.Open, func(pattern string) bool { return !slices.Contains(there.Open, pattern) })
	return ctx.Err()
}

// applyChoice puts the given language over the pipeline's, and takes this machine's folders out of plan.Origins.
func applyChoice(plan *pipelines.Pipeline, o Choice) {
	for setting, file := range plan.Origins {
		if filepath.IsAbs(file) {
			plan.Origins[setting] = filepath.Base(file)
		}
	}
	if o.Language != "" && o.Language != plan.Language {
		plan.Language = o.Language
		if plan.Origins == nil {
			plan.Origins = map[string]string{}
		}
		plan.Origins["language"] = pipelines.GivenForRun
	}
}

// adapt changes a definition as the command line says, for this run alone.
func (d *Definition) adapt(o Choice) error {
	if !d.Open { // whose phases those may not be
		cut, err := pipelines.Cut(d.Plan, o.Part)
		if err != nil {
			return exit.AsUsage(err)
		}
		d.Plan = cut
	}
	if pipelines.IsOpened(o.Workflow, d.Plan.Open) {
		d.Plan.Protect = append(slices.Clip(d.Plan.Protect), o.Workflow)
	}
	return d.assign(o)
}

// assign gives the work to the agent and model that were named, or to installed agents, after adjusting to the weight.
func (d *Definition) assign(o Choice) error {
	if o.Weight != "" { // a frozen plan was adjusted before
		adjust(d.Plan, source.Weight(o.Weight))
		d.Plan.Given.Weight = o.Weight
	}
	if o.Agent == "" && len(o.Installed) > 0 {
		install(d.Plan, o.Installed)
	}
	if o.Agent != "" {
		if err := ReplaceAgents(d.Plan, o.Agent); err != nil {
			return err
		}
		d.Plan.Given.Agent = o.Agent
	}
	if strings.HasPrefix(o.Model, "-") {
		return exit.Usagef("--agent: the model %s begins with a hyphen, as an option of an agent's program does: name a model", o.Model)
	}
	if o.Model != "" {
		for _, s := range StepsOf(d.Plan) {
			s.Model = o.Model
		}
		d.Plan.Given.Model = o.Model
	}
	return nil
}

// Longest is more than a step of this plan may take, so that a lease which nobody renews is one that nobody holds.
func Longest(plan *pipelines.Pipeline) time.Duration {
	most := time.Duration(0)
	for i := range plan.Phases {
		p, checks := &plan.Phases[i], time.Duration(0)
		for _, c := range p.Checks {
			checks += time.Duration(c.Timeout) * time.Duration(1+c.Retries)
		}
		for _, s := range []pipelines.Step{p.Execute, p.Review, p.Revise} {
			most = max(most, time.Duration(s.Timeout), checks)
		}
		most = max(most, time.Duration(p.Retry.Cap))
	}
	return most + 5*time.Minute
}

// StepsOf gives the steps of all phases, to be changed.
func StepsOf(plan *pipelines.Pipeline) (out []*pipelines.Step) {
	for _, p := range phasesOf(plan) {
		out = append(out, &p.Execute, &p.Review, &p.Revise)
	}
	return out
}

// pipelineOption names the pipeline of a run the way --pipeline does.
func pipelineOption(run metadata.Run, preset string) string {
	if preset == "" {
		return run.Pipeline.Name
	}
	return run.Pipeline.Name + "/" + preset
}

// isFindable reports whether a pipeline comes from where its name finds it again.
func isFindable(source string) bool {
	return strings.HasPrefix(source, "builtin:") || strings.HasPrefix(source, ownFolder+"/pipelines/")
}

// ChangedSince says that the definition of a run, with the preset that o has as Pipeline, reads otherwise now, or "".
func ChangedSince(ctx context.Context, src *git.Source, run metadata.Run, is issue.Issue, o Choice) (string, error) {
	if !isFindable(run.Pipeline.Source) {
		return "", nil // from a file that was named, and may be anywhere
	}
	o.Pipeline, o.Language = pipelineOption(run, o.Pipeline), run.Language
	now, err := Define(ctx, src, is, o)
	switch {
	case errors.As(err, new(pipelines.Mistakes)):
		return "the pipeline has mistakes now; the run keeps the one it began with", nil
	case err != nil:
		return "", err
	case now.Defined != run.Pipeline.Definition:
		return "the pipeline or its prompts read otherwise now; the run keeps those it began with (--refresh takes the new ones)", nil
	}
	return "", nil
}

// Workflows is the folder of GitHub's workflows; to push one takes a right of its own.
const Workflows = ".github/workflows"

// name finds the protected paths that an issue names: agents would be refused them, or a person asked.
func (d *Definition) name(ctx context.Context, src *git.Source, is issue.Issue) error {
	var there []string
	if src != nil {
		files, err := src.FS(ctx, src.Trusted(), Workflows)
		if err != nil {
			return err
		}
		if files != nil {
			names, _ := fs.Glob(files, "*") // a good pattern
			for _, name := range names {
				there = append(there, path.Join(Workflows, name))
			}
		}
	}
	var closed, never, open []string
	for _, p := range pipelines.NamedPaths(is.Title+"\n"+is.Body, there, d.Plan.Protect) {
		shown := phases.TruncateText(p)
		switch {
		case pipelines.IsOpened(p, d.Plan.Open) && !pipelines.MatchesPath(p, d.Plan.Protect):
			if strings.HasPrefix(p, Workflows+"/") {
				d.Workflows = append(d.Workflows, shown)
			}
		case pipelines.WhyNotOpened(p, d.Plan.Protect) != "":
			never = append(never, shown)
		default:
			closed, open = append(closed, shown), append(open, strconv.Quote(shown))
		}
	}
	if len(closed) > 0 {
		d.Closed = append(d.Closed, metadata.Because("names_closed", "paths", closed, "list", strings.Join(open, ", ")))
	}
	if len(never) > 0 {
		d.Closed = append(d.Closed, metadata.Because("names_never", "paths", never))
	}
	return nil
}
