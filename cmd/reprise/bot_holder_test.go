//go:build slow || e2e

package main

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
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
