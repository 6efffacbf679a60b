//go:build slow || e2e

package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// A job that is killed in a step, and what comes after it.
func TestKilledJob(t *testing.T) {
	const actions = "GET /repos/acme/widget/actions/runs/9001"
	for _, tt := range []struct {
		name   string
		before func(h *hub) // the job that follows
		next   func(h *hub, id int64) *hubJob
		code   string // of the one that follows
	}{
		{"the same job again", func(*hub) {}, func(h *hub, id int64) *hubJob {
			return h.heard(id, "ada", "GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2")
		}, "completed"},
		{"a new command when the job is over", func(h *hub) {
			h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Status: "completed", Conclusion: "failure"})
		}, nil, "completed"},
		{"a new command when the job was started again", func(h *hub) {
			h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Attempt: 2})
		}, nil, "completed"},
		{"a new command when the job is deleted", func(h *hub) {
			h.forge.Fault(actions, githubtest.Status(http.StatusNotFound, "Not Found"))
		}, nil, "completed"},
		{"a new command while the job seems to work", func(*hub) {}, nil, "already_running"},
		{"a new command while nobody knows", func(h *hub) {
			h.forge.Fault(actions, githubtest.Status(http.StatusForbidden, "Resource not accessible by integration"))
		}, nil, "already_running"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newStage(t, twoSteps)
			j, first := h.working()
			j.kill(true)
			h.write("home/go-on", "")
			before := h.record()
			if before.Status != metadata.Running || before.Execution.Lease == nil || !strings.HasPrefix(before.Execution.Lease.Owner, "actions/9001/1/") {
				t.Fatalf("the run is %s, its lease %+v", before.Status, before.Execution.Lease)
			}
			tt.before(h)
			id := first
			if tt.next == nil {
				id = h.say("max", "/run")
				tt.next = func(h *hub, id int64) *hubJob { return h.heard(id, "max") }
			}
			tt.next(h, id).end(exit.Done).wants("reason-code", tt.code)
			after := h.record()
			if tt.code == "already_running" {
				if after.Revision != before.Revision || h.calls() != "plan execute, build execute" {
					t.Errorf("the record went from %d to %d, the agent was called for %s", before.Revision, after.Revision, h.calls())
				}
				return
			}
			if got := h.calls(); after.Status != metadata.Completed || got != "plan execute, build execute, build execute" {
				t.Errorf("the run is %s, the agent was called for %s", after.Status, got)
			}
			h.signs(id, "eyes rocket")
			if live := h.ours("progress"); len(live) != 1 {
				t.Errorf("the live comments are %+v", live)
			}
		})
	}
}

// A lease that has run out holds nothing, whatever the forge says of the job.
func TestLeaseRunsOut(t *testing.T) {
	h := newStage(t, twoSteps)
	j, _ := h.working()
	j.kill(true)
	h.write("home/go-on", "")
	run := h.record()
	if left := time.Until(run.Execution.Lease.Expires); left < 5*time.Minute || left > 3*time.Hour {
		t.Errorf("the lease is %+v", run.Execution.Lease)
	}
	run.Execution.Lease.Expires = time.Now().UTC().Truncate(time.Second)
	h.rewrite(run)
	id := h.say("max", "/run")
	h.heard(id, "max").end(exit.Done).wants("status", "completed")
	h.signs(id, "eyes rocket")
}

// rewrite puts another record in the place of the newest one on origin.
func (h *hub) rewrite(run metadata.Run) {
	h.t.Helper()
	data, err := metadata.Format(run)
	testenv.Must(h.t, err)
	at := world.RecordAt(h.path("origin.git"), environ.BranchPrefix+"7")
	h.git("clone", "--quiet", "--no-checkout", h.path("origin.git"), h.path("rewrite"))
	h.git("-C", h.path("rewrite"), "fetch", "--quiet", "origin", at)
	h.git("-C", h.path("rewrite"), "checkout", "--quiet", "--detach", "FETCH_HEAD")
	h.write("rewrite/.reprise/issue-7/"+metadata.File, string(data))
	h.git("-C", h.path("rewrite"), "commit", "--quiet", "--all", "--amend", "--no-edit")
	h.git("-C", h.path("rewrite"), "push", "--quiet", "--force", "origin", "HEAD:"+at)
}

// A job that is told to stop says so on the branch and on the issue, where it calls
// whoever gave the command, and the next one goes on.
func TestJobToldToStop(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["notify"] = "commander"
	j, id := h.working()
	asked, most := time.Now(), j.soon()
	j.stop(syscall.SIGTERM)
	j.end(exit.Cancelled).wants("decision", "run", "status", "interrupted", "reason-code", "cancelled", "branch", "reprise/issue-7")
	if took := time.Since(asked); took > most {
		t.Errorf("it took %v", took)
	}
	h.gone()
	if run := h.record(); run.Status != metadata.Interrupted || run.Execution.Lease != nil {
		t.Errorf("the run is %s, the lease %+v", run.Status, run.Execution.Lease)
	}
	h.signs(id, "eyes -1")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "Interrupted", "/run")
	told := h.ours("stop")
	if len(told) != 1 || h.record().GitHubIntegration.NoticeCommentID != told[0].ID {
		t.Fatalf("people are told %+v", told)
	}
	testenv.Has(t, "what people are told", told[0].Body, "@ada", "Interrupted", "`/run`")
	h.write("home/go-on", "")
	resume := h.say("max", "/run")
	h.heard(resume, "max").end(exit.Done).wants("status", "completed", "reason-code", "completed")
	h.signs(resume, "eyes rocket")
	if told = h.ours("stop"); len(told) != 2 || told[0].Minimized != "OUTDATED" {
		t.Errorf("at the end people are told %+v", told)
	}
	h.called("plan execute, build execute, build execute")
}

// A job that is killed after it took a command, while an agent works because
// of it. The job that waited for that command, or one that comes late for an
// older one, finds nothing new: it goes on with the run all the same.
func TestKilledJobHadTakenTheCommand(t *testing.T) {
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprintf("older %v", older), func(t *testing.T) {
			h := newStage(t, twoSteps)
			j, first := h.working()
			h.write("home/plan-revise", hangs)
			h.remove("home/working")
			back := h.say("max", "/rollback plan think of the cache")
			h.await(j.life, "home/working")
			j.kill(true)
			h.write("home/go-on", "")
			h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Status: "completed", Conclusion: "failure"})
			if run := h.record(); run.Status != metadata.Running || len(run.RollbackHistory) != 1 {
				t.Fatalf("the run is %s, taken back %d times", run.Status, len(run.RollbackHistory))
			}
			event, by := back, "max"
			if older {
				event, by = first, "ada"
			}
			h.heard(event, by).end(exit.Done).wants("decision", "run", "status", "completed", "reason-code", "completed")
			if run := h.record(); run.Status != metadata.Completed || len(run.RollbackHistory) != 1 || run.Execution.Lease != nil {
				t.Errorf("the run is %s, taken back %d times, its lease %+v", run.Status, len(run.RollbackHistory), run.Execution.Lease)
			}
			h.called("plan execute, build execute, plan revise, plan revise, build execute")
			h.signs(first, "eyes rocket")
			h.signs(back, "eyes rocket")
			if live := h.ours("progress"); len(live) != 1 || !h.shows(live[0].Body) {
				t.Errorf("the live comments are %+v", live)
			}
			// Once it is free, there is nothing to be done for the event any more.
			h.heard(event, by).end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
		})
	}
}

// What an earlier run of the issue has cost, whose branch was deleted, is not counted where the job of a new one is killed
// before it could say anything.
func TestKilledAfterAnEarlierRun(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", `echo done >>"$REPRISE_ARTIFACT"
echo '{"usage": {"input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cost_usd": 0.6}}'
exit 0
`)
	h.comment("ada", "/run").end(exit.Done).wants("cost-usd", "0.6000")
	for _, ref := range []string{"refs/heads/reprise/issue-7", "refs/reprise/records/issue-7"} {
		testenv.MustGit(t, h.path("origin.git"), "update-ref", "-d", ref)
	}
	h.forge.FaultWhen(func(r githubtest.Request) *githubtest.Fault {
		if r.Method == http.MethodPatch {
			return new(githubtest.Status(403, "Forbidden"))
		}
		return nil
	})
	h.write("home/plan-execute", hangs)
	time.Sleep(time.Second) // comments have no parts of a second
	j := h.comment("ada", "/run")
	h.await(j.life, "home/working")
	j.kill(true)
	h.write("home/go-on", "")
	h.forge.FaultWhen(noFault)
	h.forge.AddRun(hubRepo, githubtest.Run{ID: 9002, Status: "completed"})
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "cost-usd", "0.6000")
}
