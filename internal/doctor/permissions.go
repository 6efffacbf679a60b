package doctor

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/setup"
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

// permissions holds what a job grants its token against what reprise needs. A
// token that comes from elsewhere is nothing that the workflow tells of.
func (l *workflowLint) permissions(name string, job setup.WorkflowJob, s setup.WorkflowStep, needs []need) {
	granted := job.Permissions
	if granted.IsZero() {
		granted = l.w.Permissions
	}
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
