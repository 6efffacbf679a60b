//go:build slow || e2e

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
)

// People are told of each stop in one new comment, which calls whoever gave the
// newest command; the one before is folded away, and the issue has a label while
// its run waits.
func TestPeopleAreToldOfStops(t *testing.T) {
	h := newStage(t, strings.Replace(judged, `gates: ["It is built"]`, `gates: ["It is built"], approve: "write"`, 1))
	h.inputs["notify"] = "commander"
	h.write("home/build-execute", changesCode)
	h.write("home/build-review", verdictOf(""))
	id := h.say("ada", "/run")
	h.heard(id, "ada").end(exit.Done).wants("status", "waiting")
	told := h.ours("stop")
	if len(told) != 1 || !strings.Contains(told[0].Body, "@ada ") || !strings.Contains(told[0].Body, "/approve build") || told[0].Minimized != "" {
		t.Fatalf("told is %+v", told)
	}
	if got := h.forge.Labels(hubRepo, hubIssue); !slices.Contains(got, "reprise: waiting") {
		t.Errorf("the labels are %q", got)
	}
	// Started again, and asked for what it cannot do, it tells nothing new.
	h.heard(id, "ada", "GITHUB_RUN_ATTEMPT=2").end(anyCode)
	h.comment("max", "/run").end(anyCode)
	if again := h.ours("stop"); len(again) != 1 {
		t.Errorf("then told is %+v", again)
	}
	h.comment("max", "/approve").end(exit.Done).wants("status", "completed")
	told = h.ours("stop")
	if len(told) != 2 || told[0].Minimized != "OUTDATED" || !strings.Contains(told[1].Body, "@max ") || told[1].Minimized != "" {
		t.Errorf("at the end told is %+v", told)
	}
	if got := h.forge.Labels(hubRepo, hubIssue); slices.Contains(got, "reprise: waiting") {
		t.Errorf("the labels are %q", got)
	}
}

// A comment has the sign of how its command ended at last, and no other.
func TestStartedAgainWithAnotherEnd(t *testing.T) {
	h := newStage(t, twoSteps)
	id := h.say("ada", "/run")
	h.write("home/plan-execute", "exit 7\n")
	h.heard(id, "ada", "GITHUB_RUN_ID=9001").end(exit.Failed)
	h.signs(id, "eyes -1")
	h.remove("home/plan-execute")
	h.heard(id, "ada", "GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2").end(exit.Done).wants("status", "completed")
	h.signs(id, "eyes rocket")
}
