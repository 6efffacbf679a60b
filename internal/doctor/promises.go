package doctor

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/pipelines"
)

// promises holds what a pipeline asks of the token of a job against what the workflow of
// the default branch gives it. Without a workflow there is nothing to hold.
func promises(ctx context.Context, src *git.Source, plan *pipelines.Pipeline) []Check {
	if src == nil {
		return nil
	}
	data, err := src.ReadFile(ctx, workspace.TrustedCommit(src), setup.File)
	if err != nil {
		return nil // which is said where the workflow is looked at
	}
	return promised(data, plan)
}

// promised is promises of the text of a workflow.
func promised(data []byte, plan *pipelines.Pipeline) (found []Check) {
	var w setup.WorkflowYAML
	if yaml.Unmarshal(data, &w) != nil {
		return nil // which is said, too
	}
	opened := slices.DeleteFunc(slices.Clone(plan.Open), func(p string) bool { return path.Dir(p) != workspace.Workflows })
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[name]
		works, short := worksFor(job)
		if !works {
			continue
		}
		granted := job.Permissions
		if granted.IsZero() {
			granted = w.Permissions
		}
		switch statuses := (need{name: "statuses", access: "write"}); {
		case !plan.Statuses:
		case short:
			found = append(found, hinted("statuses", fmt.Sprintf("%s has statuses: true, and the jobs that %s calls may only read them: commits get no status", plan.Name, name), "hand over the token of an app, which may write statuses, as the secret TOKEN"))
		case !granted.IsZero() && !grants(granted, statuses):
			found = append(found, hinted("statuses", fmt.Sprintf("%s has statuses: true, and job %s lacks statuses: write: commits get no status", plan.Name, name), "add statuses: write to its permissions"))
		}
		if files := text.Flat(strings.Join(delivery.CIFiles(plan.CI), ", ")); files != "" {
			found = append(found, started(plan.Name, name, files, short, granted)...)
		}
		if len(opened) > 0 {
			found = append(found, hinted("opened", fmt.Sprintf("%s opens %s, and GitHub takes no push that changes a workflow with the token of a job, which job %s uses", plan.Name, text.Flat(strings.Join(opened, ", ")), name), "give the token of an app that has the right workflows: as github-token, or as the secret TOKEN"))
		}
	}
	return found
}

// started says that a job may not start the workflows that CI consists of, where it may not.
// What the token of a job pushes starts none of them, and then they are waited for in vain.
func started(plan, job, files string, short bool, granted yaml.Node) []Check {
	switch {
	case short:
		return []Check{hinted("ci", fmt.Sprintf("%s requires %s of CI, and the jobs that %s calls may not start workflows: no run begins", plan, files, job), "hand over the token of an app, whose pushes start them, as the secret TOKEN")}
	case !granted.IsZero() && !grants(granted, need{name: "actions", access: "write"}):
		return []Check{hinted("ci", fmt.Sprintf("%s requires %s of CI, and job %s lacks actions: write to start that: no run begins", plan, files, job), "add actions: write to its permissions, or give the token of an app as github-token")}
	}
	return nil
}

// worksFor reports whether a job works on runs with the token of the job, and whether it
// calls the jobs that do.
func worksFor(job setup.WorkflowJob) (works, short bool) {
	if job.Ours() {
		own := job.Secrets.Kind == yaml.ScalarNode || slices.Contains(namesIn(job.Secrets), "TOKEN")
		return !own, true
	}
	return slices.ContainsFunc(job.Steps, func(s setup.WorkflowStep) bool {
		return s.Ours() && s.Input("github-token") == "" && !slices.Contains([]string{setup.GateOnly, setup.EndOnly}, s.Input("command"))
	}), false
}
