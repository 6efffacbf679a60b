package doctor

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/setup"
)

// called looks at a job that stands for the jobs of reprise, gate, run and end. What
// these are is decided elsewhere; what they may do is given here.
func (l *workflowLint) called(name string, job setup.WorkflowJob) {
	granted := job.Permissions
	if granted.IsZero() {
		granted = l.w.Permissions
	}
	if granted.IsZero() {
		l.hint("name them, as reprise init does", "job %s names no permissions: it has what the repository gives to all jobs, and GitHub starts nothing if that is too little", name)
	} else {
		for _, n := range workNeeds(setup.WorkflowStep{}) { // gate and end need no others
			if !grants(granted, n) {
				l.found = append(l.found, lacking("workflow", fmt.Sprintf("job %s lacks %s: %s, and GitHub starts none of its jobs then", name, n.name, n.access), fmt.Sprintf("add %s: %s to its permissions", n.name, n.access)))
			}
		}
	}
	given := namesIn(job.Secrets)
	switch {
	case job.Secrets.Kind == yaml.ScalarNode: // inherit
		l.hint("name those that it needs", "job %s hands over all secrets of the repository", name)
	case job.With["agent"].Value == agents.Rehearsal:
	case !slices.ContainsFunc(slices.Collect(maps.Values(allCredentials())), func(c credentials) bool {
		return slices.ContainsFunc(c.vars, func(v string) bool { return slices.Contains(given, v) })
	}):
		l.hint("name it below secrets:", "job %s hands over no key of an agent", name)
	}
	if !slices.Contains(given, "TOKEN") {
		l.found = append(l.found, defaultToken()...)
	}
}
