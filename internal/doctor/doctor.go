// Package doctor looks at all that a run needs, and says what it would lack. It
// changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Options is what the command line of doctor says.
type Options struct {
	// Any folder of the repository; the id of an issue; a pipeline as run takes it;
	// and the agent for every step. All but the folder may be empty.
	Repo, Id, Pipeline, Agent string
	Json                      bool // print the checks as JSON
	Online                    bool // try the keys of agents at their services
}

// examination is what is known of a run so far.
type examination struct {
	env  environ.Env
	o    Options
	src  *git.Source // nil: there is no repository
	plan *pipelines.Pipeline
	is   issue.Issue           // that the run would be of; its ID is "none" without one
	run  bool                  // there is one of the issue
	flow *setup.WorkflowYAML   // of the default branch; nil: there is none that can be read
	own  []*pipelines.Pipeline // of the repository, where nothing says yet which one a run takes
}

// Examine makes all checks, those first that others need. Errors are mistakes
// in the command line, and why ctx was cancelled.
func Examine(ctx context.Context, env environ.Env, o Options) (checks []Check, err error) {
	x := &examination{env: env, o: o, is: issue.Issue{ID: "none"}}
	if o.Id != "" {
		if err := issue.CheckID(o.Id); err != nil {
			return nil, err
		}
		x.is.ID = o.Id
	}
	for _, look := range []func(context.Context) []Check{
		x.git,
		x.repository,
		x.runs,
		x.forge,
		x.pipelines,
		x.sandbox,
		x.agents,
		x.commands,
	} {
		checks = append(checks, look(ctx)...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return checks, nil
}

// runs looks at where runs live, and at what became of others there.
func (x *examination) runs(ctx context.Context) []Check {
	if x.src == nil {
		return x.folder(&git.Source{Dir: "none"})
	}
	return slices.Concat(writable(x.src), x.folder(x.src))
}

// forge looks at the workflow and at GitHub, and takes the issue from there.
func (x *examination) forge(ctx context.Context) []Check {
	if x.src == nil {
		return nil
	}
	number := x.o.Id
	if x.run {
		number = "" // the run has it
	}
	checks := x.workflowFiles(ctx)
	more, is := Forge(ctx, x.env, x.src, number)
	if is != nil {
		x.is = *is
	}
	return append(checks, more...)
}

// agents looks at the programs that the pipeline gives work to, or all pipelines of the
// repository if any of them may be taken.
func (x *examination) agents(ctx context.Context) []Check {
	if x.plan == nil {
		return nil
	}
	p := programs{env: x.env, seen: map[string]Check{}}
	if x.src != nil {
		p.dir = x.src.Dir
	}
	checks := p.check(ctx, x.plan)
	if len(x.own) > 0 {
		checks = p.needed(ctx, x.own, x.plan)
	}
	if x.o.Online {
		checks = append(checks, p.online(ctx, x.plans())...)
	}
	return checks
}

// plans are the pipelines that the run may take.
func (x *examination) plans() []*pipelines.Pipeline {
	if len(x.own) > 0 || x.plan == nil {
		return x.own
	}
	return []*pipelines.Pipeline{x.plan}
}

// began says how the run of the issue is, if there is one, and takes its
// pipeline.
func (x *examination) began(ctx context.Context) []Check {
	const name = "run"
	if x.o.Id == "" {
		return nil
	}
	r, err := workspace.Look(ctx, x.env, x.o.Repo, x.o.Id)
	switch {
	case errors.As(err, new(*workspace.NoRunError)):
		return nil // it would be a new one
	case err != nil:
		return []Check{lacking(name, err.Error(), "")}
	}
	x.plan, x.is, x.run = r.Plan, r.Issue, true
	return []Check{well(name, fmt.Sprintf("there is one on %s: %s", r.Run.BranchName, text.Words(r.Run.Status)))}
}

// pipelines checks the pipelines and prompts of the checkout, and finds
// the one that the run takes.
func (x *examination) pipelines(ctx context.Context) []Check {
	var checks []Check
	all, defined, err := workspace.Vetted(ctx, x.src, nil)
	switch {
	case err != nil:
		checks = append(checks, lacking("pipelines", err.Error(), ""))
	case len(all) > 0:
		checks = append(checks, lacking("pipelines", fmt.Sprintf("%s, the first is %v", text.Plural(len(all), "mistake"), all[0]), "reprise vet names all"))
	default:
		checks = append(checks, well("pipelines", fmt.Sprintf("%d checked, no mistakes", len(defined))))
	}
	if said := workspace.SayOtherwise(ctx, x.src); said != "" {
		checks = append(checks, hinted("pipelines", said, "bring them there for runs on GitHub"))
	}
	if x.plan == nil {
		def, err := workspace.Define(ctx, x.src, x.is, workspace.Choice{Pipeline: x.o.Pipeline, Agent: x.o.Agent, Here: true})
		if err != nil {
			if !errors.As(err, new(pipelines.Mistakes)) || workspace.IsPath(x.o.Pipeline) { // else they are said already
				checks = append(checks, lacking("pipeline", err.Error(), "reprise explain says which pipeline an issue takes"))
			}
			return checks
		}
		x.plan = def.Plan
		name := def.Plan.Name
		if def.Open {
			name = pipelines.Auto
		}
		if def.Open && x.o.Agent == "" {
			for _, d := range defined {
				if d.Plan != nil && path.Dir(d.Plan.Source) == ownFolder {
					x.own = append(x.own, d.Plan)
				}
			}
		}
		checks = append(checks, well("pipeline", name+": "+def.Why.In(prompts.Words("en"))))
	} else if x.o.Agent != "" {
		if err := workspace.ReplaceAgents(x.plan, x.o.Agent); err != nil {
			return append(checks, lacking("pipeline", err.Error(), ""))
		}
	}
	return slices.Concat(checks, evidence(x.plan), promises(x.flow, x.plan))
}

// evidence says what reprise itself runs in a pipeline: without that, all that is
// known of the work is what agents say.
func evidence(plan *pipelines.Pipeline) (checks []Check) {
	if n := len(plan.Setup); n > 0 {
		checks = append(checks, well("setup", text.Plural(n, "command")+" before the first call of an agent"))
	}
	if phases.ChecksNothing(plan) {
		checks = append(checks, hinted("checks", "reprise runs nothing by itself: no phase of "+plan.Name+" that changes code has a check", "reprise init --local finds the checks of a repository"))
	}
	if names := plan.OfOneMind(); len(names) > 0 {
		checks = append(checks, hinted("reviewer", "the same model of the same program writes and reviews in "+strings.Join(names, ", "),
			"name another model or program for the reviewer in the pipeline; reprise init --agent claude --reviewer codex"))
	}
	return checks
}

// Condition says how a thing is that a run needs.
type Condition string

// The conditions.
const (
	Fine    Condition = "ok"
	Hint    Condition = "hint"    // a run goes on without it, or it could not be found out
	Missing Condition = "missing" // it would stop a run
)

// Check is one thing that a run needs.
type Check struct {
	Name   string    `json:"name"`
	Status Condition `json:"status"`
	Found  string    `json:"found"`
	Do     string    `json:"do"` // what a person can do; "" where all is well
}

// well, hinted and lacking make a check of each condition.
func well(name, found string) Check { return Check{name, Fine, found, ""} }

func hinted(name, found, do string) Check { return Check{name, Hint, found, do} }

func lacking(name, found, do string) Check { return Check{name, Missing, found, do} }

// Preflight finds out, in a job on GitHub, what is missing for the work ahead.
type Preflight struct {
	GitHub github.Repo
	Pull   bool            // a pull request is to be opened
	Warn   func(err error) // tells of what could not be found out

	done bool // what the work takes is there
}

// Check says what is missing for the work ahead, all at once, before anything is spent; it is asked for once in a job.
func (f *Preflight) Check(ctx context.Context, w *workspace.Workspace, o workspace.Options, base string, run metadata.Run) error {
	if f.done {
		return nil
	}
	if _, err := workspace.AgentOptions(w, o); err != nil {
		return err
	}
	var missing []metadata.Reason
	if err := w.Ready(o); err != nil {
		missing = append(missing, prompts.Why(err))
	}
	if lacks := f.lacks(ctx, w.Plan, base, run); len(lacks) > 0 {
		missing = append(missing, metadata.Because("lacks_rights", "rights", workspace.Lined(lacks)))
	}
	if err := f.MayPush(ctx, w.Workflows); err != nil {
		missing = append(missing, prompts.Why(err))
	}
	if len(missing) > 0 {
		return command.Refuse(metadata.CredentialsMissing, workspace.Lined(missing))
	}
	w.SayLacking()
	f.done = true
	return nil
}

// quiet reports whether the token is that of a job, which can push no workflow.
func (f *Preflight) quiet(ctx context.Context) bool {
	who, err := f.GitHub.Self(ctx)
	return err == nil && who.Login == "github-actions[bot]"
}

// MayPush says that the token of a job cannot push what is at some paths: files of workflows.
// Nil if nothing is known to be in the way.
func (f *Preflight) MayPush(ctx context.Context, paths []string) error {
	workflows := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return path.Dir(p) != workspace.Workflows })
	if len(workflows) == 0 || !f.quiet(ctx) {
		return nil
	}
	return command.Refuse(metadata.CredentialsMissing, metadata.Because("token_no_workflows", "paths", workflows))
}

// lacks lists what the token may not do and will have to.
func (f *Preflight) lacks(ctx context.Context, plan *pipelines.Pipeline, base string, run metadata.Run) (lacks []metadata.Reason) {
	if !f.Pull || run.PRNumber > 0 {
		base = "" // no pull request is opened
	}
	rights := append(issue.RightsOf(f.GitHub, base), issue.Right{Name: "issues: write", Ask: f.GitHub.MayWriteIssues})
	if files := plan.CI.Files(); f.Pull && len(files) > 0 && f.quiet(ctx) { // what it pushes starts nothing
		rights = append(rights, issue.Right{Name: "actions: write", Ask: func(ctx context.Context) error { return f.GitHub.MayStart(ctx, files[0]) }})
	}
	for _, right := range rights {
		var problem *github.Error
		switch err := right.Ask(ctx); {
		case errors.As(err, &problem) && (problem.Kind == github.Forbidden || problem.Kind == github.BadToken):
			lacks = append(lacks, metadata.Because("lacks_right", "right", right.Name, "why", prompts.Why(err)))
		case err != nil && ctx.Err() == nil:
			f.Warn(err) // it may work when it is needed
		}
	}
	return lacks
}
