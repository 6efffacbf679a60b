package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/pipelines"
)

// repository looks at the repository, where it comes from, and how a run of the
// issue stands in it.
func (d *doctor) repository(ctx context.Context) []check {
	src, err := git.Find(ctx, d.o.repo)
	if err != nil {
		return []check{lacking("repository", err.Error(), "go to a repository, or name one with --repo")}
	}
	d.src = src
	at := "on " + src.Branch
	if src.Branch == "" {
		at = "on no branch, at " + src.Head[:min(len(src.Head), 10)]
	}
	checks := []check{well("repository", src.Dir+", "+at), origin(src), defaultBranch(src)}
	if src.Shallow {
		checks = append(checks, hinted("history", "it is cut off (a shallow clone); a run works with it", "git fetch --unshallow, if agents are to see the history"))
	}
	checks = append(checks, shapes(ctx, src)...)
	return append(checks, d.began(ctx)...)
}

// shapes says in what a run does not find the repository as its user does.
func shapes(ctx context.Context, src *git.Source) []check {
	var checks []check
	if left := src.Partial(); left != "" {
		checks = append(checks, hinted("objects", "the clone is partial ("+left+"): what is missing is fetched when a run needs it; agents and checks cannot fetch", "git fetch --refetch --filter=blob:limit=1g, if that is too slow"))
	}
	if src.Sparse() {
		checks = append(checks, hinted("checkout", "it is sparse: a run has all files of the repository", "leave it so if there is room for them"))
	}
	modules, err := src.Submodules(ctx)
	switch {
	case err != nil:
		checks = append(checks, hinted("submodules", err.Error(), ""))
	case len(modules) > 0:
		checks = append(checks, hinted("submodules", fmt.Sprintf("%s: their folders are empty for agents and checks", strings.Join(modules, ", ")), "have checks that need them fetch them"))
	}
	large, err := src.UsesLFS(ctx)
	switch {
	case err != nil:
		checks = append(checks, hinted("Git LFS", err.Error(), ""))
	case large && src.LFS() != "":
		checks = append(checks, well("Git LFS", src.LFS()+": agents and checks have the files that it keeps, and what they change is uploaded with the push"))
	case large:
		checks = append(checks, hinted("Git LFS", "it is not set up here: agents and checks see pointers instead of the files that it keeps, and cannot change these", "install git-lfs, and run git lfs install"))
	}
	return checks
}

func origin(src *git.Source) check {
	const name = "origin"
	switch {
	case src.RemoteURL == "":
		return hinted(name, "there is none: a run stays on this machine", "git remote add origin ADDRESS")
	case src.GitHub == "":
		return hinted(name, src.RemoteURL+" has no OWNER/REPO: issues are not read from there", "take issues from files, with --issue-file")
	}
	return well(name, src.RemoteURL)
}

func defaultBranch(src *git.Source) check {
	const name = "default branch"
	if src.DefaultBranch == "" {
		return hinted(name, "it is not known; pipelines and prompts are read from what is checked out", "git remote set-head origin --auto")
	}
	return well(name, src.DefaultBranch)
}

// began says how the run of the issue is, if there is one, and takes its
// pipeline.
func (d *doctor) began(ctx context.Context) []check {
	const name = "run"
	if d.o.id == "" {
		return nil
	}
	r, err := look(ctx, d.env, d.o.repo, d.o.id)
	switch {
	case errors.As(err, new(*noRunError)):
		return nil // it would be a new one
	case err != nil:
		return []check{lacking(name, err.Error(), "")}
	}
	d.plan, d.is, d.run = r.plan, r.issue, string(r.run.Status)
	return []check{well(name, fmt.Sprintf("there is one on %s: %s", r.run.BranchName, words(r.run.Status)))}
}

// workflow looks at the workflow of the default branch, where GitHub reads it.
func (d *doctor) workflow(ctx context.Context) []check {
	const name = "workflow"
	if d.src == nil {
		return nil
	}
	data, err := d.src.ReadFile(ctx, trusted(d.src), workflowFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []check{hinted(name, "comments start nothing: "+d.absent(), "reprise init; commit "+workflowFile+" to the default branch")}
	case err != nil:
		return []check{lacking(name, err.Error(), "")}
	}
	found := d.agentPins(ctx, data)
	if agent, ok := written(string(data)); ok {
		return slices.Concat([]check{well(name, workflowFile+", as reprise init writes it for "+agent)}, found, defaultToken())
	}
	found = append(found, lintWorkflow(data)...)
	if len(found) == 0 {
		return []check{well(name, workflowFile+"; it differs from what reprise init writes in nothing that is known to matter")}
	}
	return found
}

// agentPins looks at the files by which the workflow installs the agent program,
// if it does so by the folder that init writes.
func (d *doctor) agentPins(ctx context.Context, workflow []byte) []check {
	const name = "workflow"
	if !bytes.Contains(workflow, []byte(agentsDir)) {
		return nil
	}
	if _, err := d.src.ReadFile(ctx, trusted(d.src), agentsLock); errors.Is(err, fs.ErrNotExist) {
		return []check{lacking(name, "it installs the agent program by "+agentsLock+", which is not on the default branch", "reprise init; commit the folder .github to the default branch")}
	} else if err != nil {
		return []check{lacking(name, err.Error(), "")}
	}
	data, err := d.src.ReadFile(ctx, trusted(d.src), agentsFile)
	if err != nil {
		return []check{lacking(name, agentsFile+": "+err.Error(), "reprise init --force")}
	}
	var pins struct{ Dependencies map[string]string }
	if err := json.Unmarshal(data, &pins); err != nil {
		return []check{lacking(name, agentsFile+": "+err.Error(), "reprise init --force")}
	}
	var checks []check
	for _, key := range slices.Sorted(maps.Keys(agentInstalls())) {
		a := agentInstalls()[key]
		if got, ok := pins.Dependencies[a.Package]; ok && firstNumbers(got) != firstNumbers(a.Version) {
			checks = append(checks, hinted(name, fmt.Sprintf("%s names %s %s; tried is %s", agentsFile, a.Title, got, a.Version), "reprise init --force takes the version that is tried"))
		}
	}
	return checks
}

// absent says where the workflow is not, and whether it is only not committed.
func (d *doctor) absent() string {
	root, err := os.OpenRoot(d.src.Dir)
	if err != nil {
		return workflowFile + " cannot be looked for: " + err.Error()
	}
	defer func() { _ = root.Close() }() // opened for reading
	if _, err := root.Stat(workflowFile); err == nil {
		return workflowFile + " is here, but not on the default branch"
	}
	return "there is no " + workflowFile
}

// pipelines checks the pipelines and prompts of the default branch, and finds
// the one that the run takes.
func (d *doctor) pipelines(ctx context.Context) []check {
	var checks []check
	all, plans, err := vetted(ctx, d.src, nil)
	switch {
	case err != nil:
		checks = append(checks, lacking("pipelines", err.Error(), ""))
	case len(all) > 0:
		checks = append(checks, lacking("pipelines", fmt.Sprintf("%s, the first is %v", plural(len(all), "mistake"), all[0]), "reprise vet names all"))
	default:
		checks = append(checks, well("pipelines", fmt.Sprintf("%d checked, no mistakes", len(plans))))
	}
	if files := notInForce(ctx, d.src); len(files) > 0 {
		checks = append(checks, hinted("pipelines", fmt.Sprintf("%s of your checkout: %s does not have it like that, and only what is there counts", flat(strings.Join(files, ", ")), inForce(d.src)), "commit it there, or name the file with --pipeline"))
	}
	if d.plan == nil {
		def, err := define(ctx, d.src, d.is, opening{pipeline: d.o.pipeline, agent: d.o.agent})
		if err != nil {
			return append(checks, d.noPipeline(err)...)
		}
		d.plan = def.plan
		checks = append(checks, well("pipeline", def.plan.Name+": "+def.why))
	} else if d.o.agent != "" {
		if err := replaceAgents(d.plan, d.o.agent); err != nil {
			return append(checks, lacking("pipeline", err.Error(), ""))
		}
	}
	return checks
}

// noPipeline says why no pipeline could be taken, unless its mistakes are said
// already.
func (d *doctor) noPipeline(err error) []check {
	var mistakes pipelines.Errors
	if errors.As(err, &mistakes) && !isPath(d.o.pipeline) {
		return nil
	}
	return []check{lacking("pipeline", err.Error(), "reprise explain says which pipeline an issue takes")}
}
