package githubtest

import (
	"cmp"
	"slices"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Run is one run of a workflow.
type Run = state.Run

// Job is a job of a run.
type Job = state.Job

// Dispatch is a wish to start workflows.
type Dispatch = state.Dispatch

// jobs are runs of workflows, and wishes for them.
type jobs struct{ in *world }

// AddRun adds a run, or replaces the one with its id.
func (j jobs) AddRun(repo string, run Run) {
	j.in.Lock()
	defer j.in.Unlock()
	r := j.in.repository(repo)
	run.Attempt, run.Status = max(run.Attempt, 1), cmp.Or(run.Status, "in_progress")
	run.Branch, run.Event = cmp.Or(run.Branch, r.DefaultBranch), cmp.Or(run.Event, "issue_comment")
	r.Runs[run.ID] = &run
}

// Dispatches are the wishes that were taken, in order.
func (j jobs) Dispatches(repo string) []Dispatch {
	j.in.Lock()
	defer j.in.Unlock()
	return slices.Clone(j.in.repository(repo).Dispatches)
}
