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

func (v *visit) getRun() result {
	run := v.repo.runs[v.number("run_id")]
	if run == nil {
		return notFound()
	}
	self, now := at(v.apiOf(v.repo), "actions/runs", run.ID), stamp(v.time())
	head := v.sha(v.repo, run.Branch)
	repo := v.repositoryObject(v.repo)
	return ok(object{
		"id": run.ID, "name": "reprise", "node_id": node("WFR", run.ID), "check_suite_id": run.ID, "check_suite_node_id": node("CS", run.ID),
		"head_branch": run.Branch, "head_sha": head, "path": ".github/workflows/reprise.yml", "run_number": 1, "run_attempt": run.Attempt,
		"event": run.Event, "display_title": "reprise", "status": run.Status, "conclusion": orNull(run.Conclusion), "workflow_id": 1,
		"url": self, "html_url": at(v.webOf(v.repo), "actions/runs", run.ID), "pull_requests": []any{}, "created_at": now, "updated_at": now,
		"actor": v.simpleUser(v.repo.owner), "triggering_actor": v.simpleUser(v.repo.owner), "run_started_at": now, "jobs_url": self + "/jobs",
		"logs_url": self + "/logs", "check_suite_url": at(v.apiOf(v.repo), "check-suites", run.ID), "artifacts_url": self + "/artifacts",
		"cancel_url": self + "/cancel", "rerun_url": self + "/rerun", "previous_attempt_url": nil, "workflow_url": at(v.apiOf(v.repo), "actions/workflows/1"),
		"head_commit": object{
			"id": head, "tree_id": head, "message": "Work", "timestamp": now,
			"author":    object{"name": "Mona", "email": "mona@example.com"},
			"committer": object{"name": "Mona", "email": "mona@example.com"},
		},
		"repository": repo, "head_repository": repo,
	})
}

func (v *visit) dispatchWorkflow() result {
	ref, _ := field[string](v, "ref")
	if v.sha(v.repo, ref) == "" {
		return refuse(http.StatusUnprocessableEntity, "No ref found for: "+ref)
	}
	if !v.hasWorkflow(v.in.params["workflow_id"]) {
		return notFound()
	}
	inputs, _ := field[object](v, "inputs")
	v.repo.dispatches = append(v.repo.dispatches, Dispatch{Workflow: v.in.params["workflow_id"], Ref: ref, Inputs: inputs, By: v.login()})
	return nothing()
}

// hasWorkflow reports whether the default branch has a workflow. Without git,
// there are all that somebody asks for.
func (v *visit) hasWorkflow(file string) bool {
	if v.repo.bare == "" {
		return true
	}
	_, err := v.git(v.repo, "cat-file", "-e", "refs/heads/"+v.repo.DefaultBranch+":.github/workflows/"+file)
	return err == nil
}

func (v *visit) dispatchEvent() result {
	kind, _ := field[string](v, "event_type")
	payload, _ := field[object](v, "client_payload")
	v.repo.dispatches = append(v.repo.dispatches, Dispatch{Type: kind, Inputs: payload, By: v.login()})
	return nothing()
}
