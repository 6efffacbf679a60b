//go:build slow || e2e

package main

import (
	"os"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// Two jobs of one run of a workflow are two: while one works, the other leaves;
// when its machine is gone, the other takes the run, though the run of the
// workflow goes on.
func TestTwoJobsOfOneRun(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", hangs)
	id := h.say("ada", "/run")
	start := func(runner string) *hubJob {
		return h.heard(id, "ada", "GITHUB_RUN_ID=8001", "RUNNER_NAME="+runner)
	}
	tell := func(status string) {
		h.forge.AddRun(hubRepo, githubtest.Run{ID: 8001, Jobs: []githubtest.Job{{Runner: "one", Status: status}, {Runner: "two"}}})
	}
	tell("in_progress")
	first := start("one")
	h.await(first.life, "home/working")
	start("two").end(exit.Done).wants("reason-code", "already_running")
	first.kill(true)
	h.write("home/go-on", "")
	tell("completed")
	h.comment("max", "/run", "GITHUB_RUN_ID=8001", "RUNNER_NAME=two").end(exit.Done).wants("status", "completed")
	if run := h.record(); run.Execution.Lease != nil {
		t.Errorf("the lease is %+v", run.Execution.Lease)
	}
}

// Who works on a run from a machine without any job reads no comments and no reviews: what
// asks for something meanwhile is refused, and not obeyed once the run is free.
func TestRunHeldApart(t *testing.T) {
	h := newStage(t, twoSteps)
	h.comment("max", "/run").end(exit.Done).wants("status", "completed")
	run := h.record()
	run.Execution.Lease = &metadata.Lease{Owner: "process/0123456789ab", Fence: run.Execution.Attempt, Expires: time.Now().UTC().Add(time.Hour).Truncate(time.Second)}
	h.rewrite(run)
	id := h.say("max", "/rollback build because it is red")
	h.heard(id, "max").end(exit.Done).wants("decision", "denied", "reason-code", "already_running")
	h.signs(id, "eyes confused")
	testenv.Has(t, "the reply", h.replyTo(id), "process/0123456789ab works on it elsewhere")
	run.Execution.Lease = nil
	testenv.Must(t, os.RemoveAll(h.path("rewrite")))
	h.rewrite(run)
	h.comment("max", "/run").end(exit.Done)
	if run := h.record(); len(run.RollbackHistory) != 0 {
		t.Errorf("it was taken back: %+v", run.RollbackHistory)
	}
}
