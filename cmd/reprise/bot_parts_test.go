//go:build slow || e2e

package main

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// parted is a pipeline whose code is written in parts, which may ask and decide.
const parted = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
phases: [
	{name: "plan", goal: "Plan.", review: false, report: {tasks: [...{id: string, title: string, goal: string}]}},
	{name: "build", goal: "Build.", needs: ["plan"], review: false, report: {questions?: [...string], decision?: "pass" | "fail", reason?: string}},
]
jobs: 1
rules: [{after: "plan", when: {}, then: split: "build"}]
`

// Each part that is halted is shown, and set going by its name, while the others
// stay as they are.
func TestPartsByComment(t *testing.T) {
	h := newStage(t, parted)
	h.write("home/plan-execute", `
echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {"tasks": [
	{"id": "t1", "title": "Parser", "goal": "G"}, {"id": "t2", "title": "Page", "goal": "G"},
	{"id": "t3", "title": "Docs", "goal": "G"}, {"id": "t4", "title": "Logo", "goal": "G"}, {"id": "t5", "title": "Tests", "goal": "G"}]}}'
exit 0
`)
	h.write("home/build.t1-execute", `
echo done >>"$REPRISE_ARTIFACT"
if grep -q 'It is REST' "$REPRISE_TASK_FILE"; then echo '{"structured": {}}'; else echo '{"structured": {"questions": ["REST?"]}}'; fi
exit 0
`)
	decides := `
echo done >>"$REPRISE_ARTIFACT"
echo '{"structured": {"decision": "fail", "reason": "it is thin"}}'
exit 0
`
	h.write("home/build.t2-execute", decides)
	h.write("home/build.t3-execute", `if [ -e "$HOME/lazy" ]; then exit 0; fi; echo "{\"structured\": {}}"`)
	h.write("home/build.t3-revise", `cp "$REPRISE_TASK_FILE" "$HOME/task"; echo "{\"structured\": {}}"`)
	h.write("home/build.t4-execute", "exit 0")
	h.write("home/build.t5-execute", `echo "{\"structured\": {}}"`)
	h.write("home/lazy", "")

	h.comment("ada", "/run").end(exit.Done).wants("reason-code", "waiting", "status", "waiting", "phase", "build.t1")
	if got, want := h.calls(), "plan execute, build.t1 execute, build.t2 execute, build.t3 execute, build.t3 execute, build.t4 execute, build.t4 execute, build.t5 execute"; got != want {
		t.Fatalf("the agent was called for %s\nwant %s", got, want)
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "**q1** REST?", "`/approve build.t2`", "`/retry build.t3`", "`/retry build.t4`")

	h.remove("home/lazy")
	refused := h.say("ada", "/approve build.t2") // it needs a maintainer
	done := h.say("ada", "/retry build.t5")
	skipped, retried := h.say("max", "/skip build.t4 nobody needs it"), h.say("max", "/retry build.t3")
	h.heard(retried, "max").end(exit.Done).wants("reason-code", "waiting", "status", "waiting", "phase", "build.t1")
	h.signs(refused, "eyes confused")
	testenv.Has(t, "the answer", h.replyTo(refused), "`permission_denied`")
	h.signs(done, "eyes confused")
	h.signs(skipped, "eyes rocket")
	h.signs(retried, "eyes rocket")
	run := h.record()
	if got := run.Phase("build.t3").Status; got != metadata.PhaseCompleted || run.Phase("build.t4").Status != metadata.PhaseSkipped || run.Phase("build.t3").AllowanceFrom == 0 {
		t.Errorf("t3 is %s, t4 is %s", got, run.Phase("build.t4").Status)
	}
	body := h.ours("progress")[0].Body
	testenv.Has(t, "the live comment", body, "**q1** REST?", "`/approve build.t2`")
	testenv.Lacks(t, "the live comment", body, "`/retry build.t4`")

	approved, back := h.say("max", "/approve build.t2"), h.say("max", "/rollback build.t3 because it has to read tabs")
	answered := h.say("max", "/answer q1 It is REST.")
	h.heard(answered, "max").end(exit.Done).wants("reason-code", "completed", "status", "completed")
	for _, id := range []int64{approved, back, answered} {
		h.signs(id, "eyes rocket")
		h.once(h.record(), id)
	}
	testenv.Has(t, "the task of the next agent", h.read("home/task"), "it has to read tabs")
	run = h.record()
	if a := run.Approvals; len(a) != 1 || a[0].Phase != "build.t2" || a[0].Role != "maintain" {
		t.Errorf("the approvals are %+v", a)
	}
	testenv.Lacks(t, "the live comment of the completed run", h.ours("progress")[0].Body, "do not go on")
}
