//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// peopled is a pipeline whose plan cannot be made without an answer, and has to
// be approved.
const peopled = `name: "own"
agents: own: {use: "command", command: ["sh", "-c", #"""
	if [ "$REPRISE_PHASE" = build ]; then
		echo REST >"$REPRISE_DIR/code.txt"
	elif ! grep -q 'It is REST' "$REPRISE_TASK_FILE"; then
		echo '{"structured": {"questions": ["REST or gRPC?"]}}'
		exit
	fi
	echo 'It is REST.' >"$REPRISE_ARTIFACT"
	[ "$REPRISE_PHASE" = build ] || echo '{"structured": {}}'
	"""#]}
phases: [
	{name: "plan", goal: "Plan.", review: false, approve: "maintain", report: questions?: [...string]},
	{name: "build", goal: "Build.", needs: ["plan"], access: "tree", review: false},
]
`

// TestActionsPeople has people answer and approve, with the workflow that they
// copy: each comment is a job, and the run goes on where it waited.
func TestActionsPeople(t *testing.T) {
	h := newActions(t, "claude")
	h.workflow("agent: claude\n", "pipeline: own\n")
	h.write("repo/.github/reprise/pipelines/own.cue", peopled)
	h.publish("Add a pipeline")
	_, d := h.comment("ann", "/run")
	d.want(t, bothJobs, theRun, "decision", "run", "reason-code", "waiting", "status", "waiting", "phase", "plan")
	if live := h.ours("progress"); len(live) != 1 || !strings.Contains(live[0].Body, "REST or gRPC?") || !strings.Contains(live[0].Body, "`/answer q1`") {
		t.Fatalf("the live comments are %+v", live)
	}
	answer, d := h.comment("ann", "/answer It is REST.")
	d.want(t, bothJobs, theRun, "reason-code", "waiting", "status", "waiting", "phase", "plan")
	// Who has not the right that the phase asks for is not heard, whatever it is.
	eve, d := h.comment("eve", "/approve")
	d.want(t, gateOnly, "gate/gate", "decision", "denied", "reason-code", "permission_denied")
	weak := h.say("ann", "/approve")
	approve, d := h.comment("max", "/approve plan "+h.git(h.root, "--git-dir", "origin.git", "rev-parse", "reprise/issue-7"))
	d.want(t, bothJobs, theRun, "reason-code", "completed", "status", "completed", "pr-number", "8")
	for id, want := range map[int64]string{answer: "eyes rocket", approve: "eyes rocket", weak: "eyes confused", eve: "confused"} {
		if got := h.signs(id); got != want {
			t.Errorf("comment %d has the signs %q, want %q", id, got, want)
		}
	}
	run := h.record()
	if got := taken(run); got != "run answer approve approve" || run.Status != metadata.Completed {
		t.Errorf("taken were %q, the run is %s", got, run.Status)
	}
	if len(run.Questions) != 1 || run.Questions[0].By != "ann" || len(run.Approvals) != 1 || run.Approvals[0].By != "max" {
		t.Errorf("the questions are %+v, the approvals %+v", run.Questions, run.Approvals)
	}
	if got := h.pushed("code.txt"); got != "REST" && got != "REST\n" {
		t.Errorf("code.txt reads %q", got)
	}
}
