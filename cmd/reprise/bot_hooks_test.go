package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github/githubtest"
)

// A hook that fails is told where people look: in the comment of the run and in the summary
// of the job.
func TestAHookThatFailsIsTold(t *testing.T) {
	h := newStage(t, twoSteps+"hooks: [{on: [\"start\"], run: \"exit 5\"}]\n")
	h.write("home/build-execute", changesCode)
	job := h.comment("ada", "/run").end(anyCode)
	const said = "hook 1 of the pipeline was not told of"
	has(t, "the summary", job.summary, said)
	has(t, "the log", job.said.String(), "::warning::", said)
	has(t, "the comment of the run", h.ours("progress")[0].Body, said)
}

// A job that was killed may not have told of its last commit: the next one, which has nothing
// from its machine, tells that once more.
func TestAJobThatWasKilledIsToldOf(t *testing.T) {
	h := newStage(t, twoSteps+"hooks: [{on: [\"phase\"], run: \"exit 5\"}]\n")
	j, _ := h.working()
	j.kill(true)
	h.write("home/go-on", "")
	h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Status: "completed", Conclusion: "failure"})
	next := h.heard(h.say("max", "/run"), "max").end(exit.Done).wants("status", "completed")
	const said = `::warning::hook 1 of the pipeline was not told of "phase"`
	for job, want := range map[*hubJob]int{j: 1, next: 2} {
		if got := strings.Count(job.said.String(), said); got != want {
			t.Errorf("it was told %d times, and should be %d:\n%s", got, want, job.said.String())
		}
	}
}
