package shape

import (
	"cmp"
	"slices"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Runs makes objects of runs of workflows.
type Runs struct{ Objects }

// Run is a run of a workflow as GitHub sends it.
func (o Runs) Run(r *state.Repository, run *state.Run) object {
	self, now := At(o.apiOf(r), "actions/runs", run.ID), stamp(o.State.Time())
	head, name := cmp.Or(run.Commit, r.Head(run.Branch)), cmp.Or(run.Name, "reprise")
	repo := o.Repository(r)
	return object{
		"id": run.ID, "name": name, "node_id": state.Node("WFR", run.ID), "check_suite_id": run.ID, "check_suite_node_id": state.Node("CS", run.ID),
		"head_branch": run.Branch, "head_sha": head, "path": cmp.Or(run.Path, ".github/workflows/reprise.yml"), "run_number": 1, "run_attempt": run.Attempt,
		"event": run.Event, "display_title": name, "status": run.Status, "conclusion": orNull(run.Conclusion), "workflow_id": 1,
		"url": self, "html_url": At(o.WebOf(r), "actions/runs", run.ID), "pull_requests": []any{}, "created_at": now, "updated_at": now,
		"actor": o.simpleUser(r.Owner), "triggering_actor": o.simpleUser(r.Owner), "run_started_at": now, "jobs_url": self + "/jobs",
		"logs_url": self + "/logs", "check_suite_url": At(o.apiOf(r), "check-suites", run.ID), "artifacts_url": self + "/artifacts",
		"cancel_url": self + "/cancel", "rerun_url": self + "/rerun", "previous_attempt_url": nil, "workflow_url": At(o.apiOf(r), "actions/workflows/1"),
		"head_commit": object{
			"id": head, "tree_id": head, "message": "Work", "timestamp": now,
			"author":    object{"name": "Mona", "email": "mona@example.com"},
			"committer": object{"name": "Mona", "email": "mona@example.com"},
		},
		"repository": repo, "head_repository": repo,
	}
}

// Job is a job of a run.
func (o Runs) Job(r *state.Repository, run *state.Run, j state.Job) object {
	api, now := o.apiOf(r), stamp(o.State.Time())
	id, self := run.ID*100+int64(slices.Index(run.Jobs, j)), At(api, "actions/runs", run.ID)
	out := object{
		"id": id, "node_id": state.Node("J", id), "run_id": run.ID, "run_url": self, "run_attempt": run.Attempt, "head_sha": r.Head(run.Branch),
		"workflow_name": "reprise", "head_branch": run.Branch, "name": cmp.Or(j.Name, "run"), "url": At(api, "actions/jobs", id),
		"html_url": At(o.WebOf(r), "actions/runs", run.ID) + "/job/" + text(id), "status": cmp.Or(j.Status, "in_progress"), "conclusion": nil,
		"created_at": now, "started_at": now, "completed_at": nil, "check_run_url": At(api, "check-runs", id), "labels": []any{"ubuntu-latest"},
		"runner_id": nil, "runner_name": orNull(j.Runner), "runner_group_id": nil, "runner_group_name": nil, "steps": []any{},
	}
	if out["status"] == "completed" {
		out["conclusion"], out["completed_at"] = "success", now
	}
	return out
}
