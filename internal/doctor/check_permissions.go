package doctor

import (
	_ "embed" // what jobs need
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/pipelines"
)

//go:embed needs.yaml
var needsFile []byte

// need is a permission that a job has to give.
type need struct {
	Name, Access string
	Vital        bool // a run stops without it
	What         string
}

// needsOf are the permissions of the job with a step of reprise, as its command and inputs ask for them.
func needsOf(s setup.WorkflowStep) []need {
	all := text.TableIn(map[string][]need{}, needsFile)
	if own, is := all[s.Command()]; is {
		return own
	}
	needs := all["any other"]
	if s.Input("create-pr") != "false" {
		needs = append(needs, all["with create-pr"]...)
	}
	if s.Input("dispatch") != "" {
		needs = append(needs, all["with dispatch"]...)
	}
	return needs
}

// permissions holds what a job grants its token against what reprise needs.
func (l *workflowLint) permissions(name string, job setup.WorkflowJob, s setup.WorkflowStep, needs []need) {
	granted := granted(l.w, job)
	switch {
	case s.Input("github-token") != "":
		return
	case granted.IsZero():
		l.hint("name them, as reprise init does", "job %s names no permissions: it has what the repository gives to all jobs", name)
		return
	}
	for _, n := range needs {
		if grants(granted, n) {
			continue
		}
		c := hinted("workflow", fmt.Sprintf("job %s lacks %s: %s, so %s", name, n.Name, n.Access, n.What), fmt.Sprintf("add %s: %s to its permissions", n.Name, n.Access))
		if n.Vital {
			c.Status = Missing
		}
		l.found = append(l.found, c)
	}
}

// granted gives the permissions of the token of a job.
func granted(w setup.WorkflowYAML, job setup.WorkflowJob) yaml.Node {
	if job.Permissions.IsZero() {
		return w.Permissions
	}
	return job.Permissions
}

// grants reports whether permissions, in any of their forms, give one. What is
// not named is not given.
func grants(granted yaml.Node, n need) bool {
	levels := []string{"none", "read", "write"}
	given := valueOf(granted, n.Name)
	if granted.Kind == yaml.ScalarNode {
		given, _ = strings.CutSuffix(granted.Value, "-all")
	}
	return slices.Index(levels, given) >= slices.Index(levels, n.Access)
}

// called looks at a job that stands for the jobs of reprise, gate, run and end.
func (l *workflowLint) called(name string, job setup.WorkflowJob) {
	needs := needsOf(setup.WorkflowStep{}) // gate and end need no others
	for i := range needs {
		needs[i].Vital, needs[i].What = true, "GitHub starts none of its jobs"
	}
	l.permissions(name, job, setup.WorkflowStep{}, needs)
	given := namesIn(job.Secrets)
	switch {
	case job.Secrets.Kind == yaml.ScalarNode: // inherit
		l.hint("name those that it needs", "job %s hands over all secrets of the repository", name)
	case job.With["agent"].Value == agents.Rehearsal:
	case !slices.ContainsFunc(given, isKey):
		l.hint("name it below secrets:", "job %s hands over no key of an agent", name)
	}
	if !slices.Contains(given, "TOKEN") {
		l.found = append(l.found, defaultToken()...)
	}
}

// promises holds what a pipeline asks of the token of a job against what the workflow of the default branch gives it.
func promises(w *setup.WorkflowYAML, plan *pipelines.Pipeline) (found []Check) {
	if w == nil {
		return nil
	}
	opened := slices.DeleteFunc(slices.Clone(plan.Open), func(p string) bool { return path.Dir(p) != workspace.Workflows })
	files := text.Flat(strings.Join(plan.CI.Files(), ", "))
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		works, short := worksFor(w.Jobs[name])
		if !works {
			continue
		}
		granted := granted(*w, w.Jobs[name])
		lacks := func(permission string) bool {
			return !granted.IsZero() && !grants(granted, need{Name: permission, Access: "write"})
		}
		hint := func(check, do, format string, args ...any) {
			found = append(found, hinted(check, fmt.Sprintf(format, args...), do))
		}
		switch {
		case !plan.Statuses:
		case short:
			hint("statuses", "hand over the token of an app, which may write statuses, as the secret TOKEN", "%s has statuses: true, and the jobs that %s calls may only read them: commits get no status", plan.Name, name)
		case lacks("statuses"):
			hint("statuses", "add statuses: write to its permissions", "%s has statuses: true, and job %s lacks statuses: write: commits get no status", plan.Name, name)
		}
		switch { // what the token of a job pushes starts no workflow, and then it is waited for in vain
		case files == "":
		case short:
			hint("ci", "hand over the token of an app, whose pushes start them, as the secret TOKEN", "%s requires %s of CI, and the jobs that %s calls may not start workflows: no run begins", plan.Name, files, name)
		case lacks("actions"):
			hint("ci", "add actions: write to its permissions, or give the token of an app as github-token", "%s requires %s of CI, and job %s lacks actions: write to start that: no run begins", plan.Name, files, name)
		}
		if len(opened) > 0 {
			hint("opened", "give the token of an app that has the right workflows: as github-token, or as the secret TOKEN", "%s opens %s, and GitHub takes no push that changes a workflow with the token of a job, which job %s uses", plan.Name, text.Flat(strings.Join(opened, ", ")), name)
		}
	}
	return found
}

// worksFor reports whether a job works on runs with the token of the job, and whether it
// calls the jobs that do.
func worksFor(job setup.WorkflowJob) (works, short bool) {
	steps, short := job.Ours()
	if short {
		return job.Secrets.Kind != yaml.ScalarNode && !slices.Contains(namesIn(job.Secrets), "TOKEN"), true
	}
	return slices.ContainsFunc(steps, func(s setup.WorkflowStep) bool {
		return s.Input("github-token") == "" && !slices.Contains([]string{setup.GateOnly, setup.EndOnly}, s.Command())
	}), false
}
