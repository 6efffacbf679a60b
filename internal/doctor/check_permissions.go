package doctor

import (
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

// need is a permission that a job has to give.
type need struct {
	name, access string
	vital        bool // a run stops without it
	what         string
}

// gateNeeds are the permissions of the job that only answers.
func gateNeeds() []need {
	return []need{
		{"issues", "write", false, "it cannot reply or react"},
		{"contents", "read", false, "it cannot say where a run is"},
		{"pull-requests", "write", false, "it takes no commands on pull requests"},
	}
}

// taskNeeds are the permissions of a job that does one part of a phase.
func taskNeeds() []need {
	return []need{
		{"contents", "write", true, "its part cannot be pushed"},
		{"issues", "read", true, "it cannot see whether somebody ends the run"},
		{"pull-requests", "read", false, "it cannot see whether somebody ends the run in a comment on the pull request"},
	}
}

// workNeeds are the permissions of the job that works, as its inputs ask for
// them.
func workNeeds(s setup.WorkflowStep) []need {
	needs := []need{
		{"contents", "write", true, "nothing can be pushed"},
		{"issues", "write", true, "the issue cannot be answered"},
		{"actions", "read", false, "it cannot see whether another job still works on the issue"},
	}
	if s.Input("create-pr") != "false" {
		needs = append(needs, need{"checks", "read", false, "it cannot see what CI says"}, need{"statuses", "read", false, "it cannot see what CI says"})
		needs = append(needs, need{"pull-requests", "write", true, "no pull request can be opened"})
	}
	if s.Input("dispatch") != "" {
		needs = append(needs, need{"actions", "write", false, "it cannot start other workflows"})
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
		c := hinted("workflow", fmt.Sprintf("job %s lacks %s: %s, so %s", name, n.name, n.access, n.what), fmt.Sprintf("add %s: %s to its permissions", n.name, n.access))
		if n.vital {
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
	given := valueOf(granted, n.name)
	if granted.Kind == yaml.ScalarNode {
		given, _ = strings.CutSuffix(granted.Value, "-all")
	}
	return slices.Index(levels, given) >= slices.Index(levels, n.access)
}

// called looks at a job that stands for the jobs of reprise, gate, run and end.
func (l *workflowLint) called(name string, job setup.WorkflowJob) {
	needs := workNeeds(setup.WorkflowStep{}) // gate and end need no others
	for i := range needs {
		needs[i].vital, needs[i].what = true, "GitHub starts none of its jobs"
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
			return !granted.IsZero() && !grants(granted, need{name: permission, access: "write"})
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
	if job.Ours() {
		own := job.Secrets.Kind == yaml.ScalarNode || slices.Contains(namesIn(job.Secrets), "TOKEN")
		return !own, true
	}
	return slices.ContainsFunc(job.Steps, func(s setup.WorkflowStep) bool {
		return s.Ours() && s.Input("github-token") == "" && !slices.Contains([]string{setup.GateOnly, setup.EndOnly}, s.Command())
	}), false
}
