package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/github/githubtest"
)

func TestHolder(t *testing.T) {
	env := environment{environ: []string{"GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2", "RUNNER_NAME=GitHub Actions 12/x"}}
	one, other := jobOf(env), jobOf(env)
	if one == other || !strings.HasPrefix(one, "actions/9001/2/GitHub-Actions-12-x/") {
		t.Errorf("two processes are %q and %q", one, other)
	}
	if h, ok := jobIn(one); !ok || h.run != 9001 || h.attempt != 2 || h.runner != runnerName("GitHub Actions 12/x") || h.own == "" {
		t.Errorf("%q is %+v, %v", one, h, ok)
	}
	if h, ok := jobIn("actions/9001/2"); !ok || h.run != 9001 || h.attempt != 2 || h.runner != "" {
		t.Errorf("what an older version wrote is %+v, %v", h, ok)
	}
	for _, owner := range []string{"", jobOf(environment{}), "actions", "actions/x/1", "actions/1/x/a/b", "actions/1/1/a", "local/1/1"} {
		if h, ok := jobIn(owner); ok {
			t.Errorf("%q is %+v", owner, h)
		}
	}
}

// Two jobs of one run of a workflow are two: while one works, the other leaves;
// when its machine is gone, the other takes the run, though the run of the
// workflow goes on.
func TestTwoJobsOfOneRun(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", hangs)
	id := h.say("ada", "/run")
	twin := func(runner string) *hubJob {
		return h.heard(id, "ada", "GITHUB_RUN_ID=8001", "RUNNER_NAME="+runner)
	}
	tell := func(status string) {
		h.forge.AddRun(hubRepo, githubtest.Run{ID: 8001, Jobs: []githubtest.Job{{Runner: "one", Status: status}, {Runner: "two"}}})
	}
	tell("in_progress")
	first := twin("one")
	h.await(first.life, "home/working")
	twin("two").end(exitDone).wants("reason-code", "already_running")
	first.kill(true)
	h.write("home/go-on", "")
	tell("completed")
	h.comment("max", "/run", "GITHUB_RUN_ID=8001", "RUNNER_NAME=two").end(exitDone).wants("status", "completed")
	if run := h.record(); run.Execution.Lease != nil {
		t.Errorf("the lease is %+v", run.Execution.Lease)
	}
}
