//go:build slow || e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A hook that fails is told where people look: in the comment of the run and in the summary
// of the job.
func TestAHookThatFailsIsTold(t *testing.T) {
	h := newStage(t, twoSteps+"hooks: [{on: [\"start\"], run: \"exit 5\"}]\n")
	h.write("home/build-execute", changesCode)
	job := h.comment("ada", "/run").end(anyCode)
	const said = "hook 1 of the pipeline was not told of"
	testenv.Has(t, "the summary", job.summary, said)
	testenv.Has(t, "the log", job.said.String(), "::warning::", said)
	testenv.Has(t, "the comment of the run", h.ours("progress")[0].Body, said)
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

// What a hook did not take as long as a job lasted is told by the next one, which has nothing
// from its machine: once.
func TestWhatAJobCouldNotTellIsToldByTheNext(t *testing.T) {
	h := newStage(t, twoSteps)
	hooked := fmt.Sprintf("hooks: [{on: [\"start\", \"wait\"], run: \"test -e '%s' && cat event.json >>'%s' && echo >>'%s'\"}]\n", h.path("home/up"), h.path("home/told"), h.path("home/told"))
	h.publish(map[string]string{".github/reprise/pipelines/own.cue": strings.Replace(twoSteps, "name: \"plan\"", "approve: \"write\", name: \"plan\"", 1) + hooked})
	h.write("home/build-execute", changesCode)
	down := h.comment("ada", "/run").end(anyCode).wants("status", "waiting")
	if got := strings.Count(down.said.String(), "::warning::hook 1 of the pipeline was not told of"); got != 2 {
		t.Errorf("warned %d times:\n%s", got, down.said.String())
	}
	if told := h.record().Execution.Told; len(told) != 1 || told[0] > 1 {
		t.Errorf("the record says that hooks were told up to revision %d", told)
	}
	h.write("home/up", "")
	h.comment("max", "/approve").end(exit.Done).wants("status", "completed")
	said := h.read("home/told")
	for _, want := range []string{"\"type\":\"reprise.run.start\"", "\"type\":\"reprise.run.wait\"", "\"status\":\"waiting\""} {
		if strings.Count(said, want) != 1 {
			t.Errorf("%s is not in what was told, or twice:\n%s", want, said)
		}
	}
	h.comment("max", "/run").end(anyCode)
	if again := h.read("home/told"); again != said {
		t.Errorf("the job after it told:\n%s", again)
	}
}
