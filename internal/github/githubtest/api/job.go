package api

import (
	"net/http"

	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// jobHandler answers requests about runs of workflows.
type jobHandler struct{ *visit }

func (h jobHandler) getRun() Result {
	run := h.repo.Runs[h.number("run_id")]
	if run == nil {
		return notFound()
	}
	return ok(shape.Runs{Objects: h.show}.Run(h.repo, run))
}

func (h jobHandler) listJobs() Result {
	run := h.repo.Runs[h.number("run_id")]
	if run == nil || h.number("attempt_number") > int64(run.Attempt) {
		return notFound()
	}
	var jobs []state.Job
	if h.number("attempt_number") == int64(run.Attempt) {
		jobs = run.Jobs
	}
	r := page(h.visit, jobs, func(j state.Job) any { return shape.Runs{Objects: h.show}.Job(h.repo, run, j) })
	r.value = object{"total_count": len(jobs), "jobs": r.value}
	return r
}

func (h jobHandler) dispatchWorkflow() Result {
	ref, _ := field[string](h.visit, "ref")
	if h.repo.Head(ref) == "" {
		return refuse(http.StatusUnprocessableEntity, "No ref found for: "+ref)
	}
	if !h.hasWorkflow(h.in.params["workflow_id"]) {
		return notFound()
	}
	inputs, _ := field[object](h.visit, "inputs")
	h.repo.Dispatches = append(h.repo.Dispatches, state.Dispatch{Workflow: h.in.params["workflow_id"], Ref: ref, Inputs: inputs, By: h.login()})
	return nothing()
}

// hasWorkflow reports whether the default branch has a workflow. Without git,
// there are all that somebody asks for.
func (h jobHandler) hasWorkflow(file string) bool {
	if h.repo.Bare == "" {
		return true
	}
	_, err := h.repo.Bare.Git("cat-file", "-e", "refs/heads/"+h.repo.DefaultBranch+":.github/workflows/"+file)
	return err == nil
}

func (h jobHandler) dispatchEvent() Result {
	kind, _ := field[string](h.visit, "event_type")
	payload, _ := field[object](h.visit, "client_payload")
	h.repo.Dispatches = append(h.repo.Dispatches, state.Dispatch{Type: kind, Inputs: payload, By: h.login()})
	return nothing()
}
