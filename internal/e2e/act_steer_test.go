//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// running are the processes of this machine whose command line has a word.
func (h *hub) running(word string) []string {
	h.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	testenv.Must(h.t, err)
	return slices.DeleteFunc(all, func(name string) bool {
		line, err := os.ReadFile(name)
		return err != nil || !slices.Contains(strings.Split(string(line), "\x00"), word) // a process that is over is not running
	})
}

// changed has somebody else push a change of a file to the branch of the run.
func (h *hub) changed(name, text string) {
	h.t.Helper()
	const clone = "elsewhere"
	h.git(h.root, "clone", "--quiet", "--branch", "reprise/issue-7", "origin.git", clone)
	h.write(filepath.Join(clone, name), text)
	dir := filepath.Join(h.root, clone)
	h.git(dir, "add", ".")
	h.git(dir, "commit", "--quiet", "-m", "Change what the run has made")
	h.git(dir, "push", "--quiet", "origin", "reprise/issue-7")
}

// TestActionsSteering has people reject, approve, pause, go on and cancel, each
// in a comment. An approval that was given is void once somebody has changed
// what it was for, and is asked for again.
func TestActionsSteering(t *testing.T) {
	h, a := newHandOf(t, `[
	{name: "plan", goal: "Plan.", review: false, access: "tree", approve: "maintain"},
	{name: "build", goal: "Build.", access: "tree", review: false},
	{name: "tell", goal: "Tell.", review: false},
]`)
	_, d := h.comment("ann", "/run")
	d.want(t, bothJobs, theRun, "reason-code", "waiting", "phase", "plan")
	const reason = "the API must stay REST"
	reject, d := h.comment("max", "/rollback plan because "+reason)
	d.want(t, bothJobs, theRun, "reason-code", "waiting", "phase", "plan")
	if got := a.steps(); got != "plan execute, plan revise" || !strings.Contains(a.calls[1].task, reason) {
		t.Fatalf("the agent was called for %s, the last time with\n%s", got, a.calls[len(a.calls)-1].task)
	}

	// A pause lets the step at work end.
	a.keep("build", "")
	approve := h.say("max", "/approve")
	p := h.hear(approve)
	<-a.working
	pause := h.say("ann", "/pause let me look")
	a.letGo()
	p.wait(t).want(t, bothJobs, theRun, "reason-code", "waiting", "phase", "build", "status", "waiting")
	h.changed("code.txt", "Somebody else's.\n")
	// It goes on to where it has to wait now.
	resume, d := h.comment("ann", "/run")
	d.want(t, bothJobs, theRun, "reason-code", "waiting", "phase", "plan", "status", "waiting")
	if run := h.record(); len(run.Approvals) != 1 || run.Phase("plan").Touched != 1 || !strings.Contains(h.ours("progress")[0].Body, "/approve") {
		t.Errorf("the approvals are %+v, plan is %+v", run.Approvals, run.Phase("plan"))
	}
	again, d := h.comment("max", "/approve")
	d.want(t, bothJobs, theRun, "reason-code", "completed", "status", "completed")
	if got := a.steps(); got != "plan execute, plan revise, build execute, tell execute" {
		t.Fatalf("the agent was called for %s", got)
	}

	// A command ends the step at work, with all that its agent has started.
	word := fmt.Sprintf("300.%d", os.Getpid())
	a.keep("build", `echo half >"$REPRISE_DIR/half.txt"; sleep `+word+` &`)
	back := h.say("ann", "/rollback build once more")
	p = h.hear(back)
	<-a.working
	h.until("what the agent starts", func() bool { return len(h.running(word)) == 1 })
	before := h.pushed("code.txt")
	cancel := h.say("ann", "/cancel it is not worth it")
	p.wait(t).want(t, map[string]string{"gate": "success", "run": "failure", "end": "success"}, theRun, "reason-code", "cancelled", "status", "cancelled", "phase", "build")
	if left := h.running(word); len(left) > 0 {
		t.Errorf("of the agent there is still %q", left)
	}
	run := h.record()
	if patch := h.pushed(".reprise/issue-7/01_build/attempt-5.patch"); !strings.Contains(patch, "+half") || h.pushed("code.txt") != before {
		t.Errorf("the patch reads\n%s", patch)
	}
	if got := taken(run); got != "run rollback approve pause run approve rollback cancel" || run.Status != metadata.Cancelled || run.Stop.Why.In(prompts.Words("en")) != "cancelled by ann: it is not worth it" {
		t.Errorf("taken were %q, the run is %s (%+v)", got, run.Status, run.Stop)
	}
	for id, want := range map[int64]string{reject: "eyes rocket", approve: "eyes rocket", pause: "eyes rocket", resume: "eyes rocket", again: "eyes rocket", back: "eyes rocket", cancel: "eyes rocket"} {
		if got := h.signs(id); got != want {
			t.Errorf("comment %d has the signs %q, want %q", id, got, want)
		}
	}
}
