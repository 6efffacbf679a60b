package githubtest

import (
	"cmp"
	"net/http"
	"slices"
)

// Run is one run of a workflow.
type Run struct {
	ID         int64
	Attempt    int    // 0: 1
	Status     string // queued, in_progress, completed; empty: in_progress
	Conclusion string // success, failure, cancelled; empty: none yet
	Branch     string // empty: the default branch
	Event      string // empty: issue_comment
	Name, Path string // of the workflow; empty: those of reprise
	Commit     string // empty: that of the branch
	Jobs       []Job  // of the newest attempt
}

// Job is a job of a run.
type Job struct {
	Name   string // empty: run
	Runner string // the name of its machine; empty: it has none yet
	Status string // queued, in_progress, completed; empty: in_progress
}

// AddRun adds a run, or replaces the one with its id.
func (s *Server) AddRun(repo string, run Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	run.Attempt, run.Status = max(run.Attempt, 1), cmp.Or(run.Status, "in_progress")
	run.Branch, run.Event = cmp.Or(run.Branch, r.DefaultBranch), cmp.Or(run.Event, "issue_comment")
	r.runs[run.ID] = &run
}

// Dispatch is a wish to start workflows.
type Dispatch struct {
	Workflow string         // of workflow_dispatch: the name of its file, or its id
	Ref      string         // of workflow_dispatch
	Inputs   map[string]any // of workflow_dispatch, or the payload of repository_dispatch
	Type     string         // of repository_dispatch
	By       string
}

// Dispatches are the wishes that were taken, in order.
func (s *Server) Dispatches(repo string) []Dispatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.repository(repo).dispatches)
}

// jobHandler answers requests about runs of workflows.
type jobHandler struct{ *visit }

func (h jobHandler) getRun() result {
	run := h.repo.runs[h.number("run_id")]
	if run == nil {
		return notFound()
	}
	return ok(h.runObject(h.repo, run))
}

// runObject is a run of a workflow as GitHub sends it.
func (s *Server) runObject(r *repository, run *Run) object {
	self, now := at(s.apiOf(r), "actions/runs", run.ID), stamp(s.time())
	head, name := cmp.Or(run.Commit, s.sha(r, run.Branch)), cmp.Or(run.Name, "reprise")
	repo := s.repositoryObject(r)
	return object{
		"id": run.ID, "name": name, "node_id": node("WFR", run.ID), "check_suite_id": run.ID, "check_suite_node_id": node("CS", run.ID),
		"head_branch": run.Branch, "head_sha": head, "path": cmp.Or(run.Path, ".github/workflows/reprise.yml"), "run_number": 1, "run_attempt": run.Attempt,
		"event": run.Event, "display_title": name, "status": run.Status, "conclusion": orNull(run.Conclusion), "workflow_id": 1,
		"url": self, "html_url": at(s.webOf(r), "actions/runs", run.ID), "pull_requests": []any{}, "created_at": now, "updated_at": now,
		"actor": s.simpleUser(r.owner), "triggering_actor": s.simpleUser(r.owner), "run_started_at": now, "jobs_url": self + "/jobs",
		"logs_url": self + "/logs", "check_suite_url": at(s.apiOf(r), "check-suites", run.ID), "artifacts_url": self + "/artifacts",
		"cancel_url": self + "/cancel", "rerun_url": self + "/rerun", "previous_attempt_url": nil, "workflow_url": at(s.apiOf(r), "actions/workflows/1"),
		"head_commit": object{
			"id": head, "tree_id": head, "message": "Work", "timestamp": now,
			"author":    object{"name": "Mona", "email": "mona@example.com"},
			"committer": object{"name": "Mona", "email": "mona@example.com"},
		},
		"repository": repo, "head_repository": repo,
	}
}

func (h jobHandler) listJobs() result {
	run := h.repo.runs[h.number("run_id")]
	if run == nil || h.number("attempt_number") > int64(run.Attempt) {
		return notFound()
	}
	var jobs []Job
	if h.number("attempt_number") == int64(run.Attempt) {
		jobs = run.Jobs
	}
	r := page(h.visit, jobs, func(j Job) any { return h.jobObject(run, j) })
	r.value = object{"total_count": len(jobs), "jobs": r.value}
	return r
}

func (h jobHandler) jobObject(run *Run, j Job) object {
	api, now := h.apiOf(h.repo), stamp(h.time())
	id, self := run.ID*100+int64(slices.Index(run.Jobs, j)), at(api, "actions/runs", run.ID)
	o := object{
		"id": id, "node_id": node("J", id), "run_id": run.ID, "run_url": self, "run_attempt": run.Attempt, "head_sha": h.sha(h.repo, run.Branch),
		"workflow_name": "reprise", "head_branch": run.Branch, "name": cmp.Or(j.Name, "run"), "url": at(api, "actions/jobs", id),
		"html_url": at(h.webOf(h.repo), "actions/runs", run.ID) + "/job/" + text(id), "status": cmp.Or(j.Status, "in_progress"), "conclusion": nil,
		"created_at": now, "started_at": now, "completed_at": nil, "check_run_url": at(api, "check-runs", id), "labels": []any{"ubuntu-latest"},
		"runner_id": nil, "runner_name": orNull(j.Runner), "runner_group_id": nil, "runner_group_name": nil, "steps": []any{},
	}
	if o["status"] == "completed" {
		o["conclusion"], o["completed_at"] = "success", now
	}
	return o
}

func (h jobHandler) dispatchWorkflow() result {
	ref, _ := field[string](h.visit, "ref")
	if h.sha(h.repo, ref) == "" {
		return refuse(http.StatusUnprocessableEntity, "No ref found for: "+ref)
	}
	if !h.hasWorkflow(h.in.params["workflow_id"]) {
		return notFound()
	}
	inputs, _ := field[object](h.visit, "inputs")
	h.repo.dispatches = append(h.repo.dispatches, Dispatch{Workflow: h.in.params["workflow_id"], Ref: ref, Inputs: inputs, By: h.login()})
	return nothing()
}

// hasWorkflow reports whether the default branch has a workflow. Without git,
// there are all that somebody asks for.
func (h jobHandler) hasWorkflow(file string) bool {
	if h.repo.bare == "" {
		return true
	}
	_, err := h.repo.bare.Git("cat-file", "-e", "refs/heads/"+h.repo.DefaultBranch+":.github/workflows/"+file)
	return err == nil
}

func (h jobHandler) dispatchEvent() result {
	kind, _ := field[string](h.visit, "event_type")
	payload, _ := field[object](h.visit, "client_payload")
	h.repo.dispatches = append(h.repo.dispatches, Dispatch{Type: kind, Inputs: payload, By: h.login()})
	return nothing()
}
