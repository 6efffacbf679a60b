//go:build e2e

package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// TestActionsThreeAtOnce has somebody give three commands in a second. Their
// gates work at the same time; their jobs wait for each other, as GitHub has
// it, which keeps no order and drops those in between.
func TestActionsThreeAtOnce(t *testing.T) {
	for name, order := range map[string][]int{"in another order": {2, 0, 1}, "one dropped": {0, 2}} {
		t.Run(name, func(t *testing.T) {
			h, a := newHand(t)
			_, d := h.comment("ann", "/run")
			d.want(t, bothJobs, theRun, "status", "completed")
			reasons := []string{"too long", "not deep enough", "and name the API"}
			var ids []int64
			for i, phase := range []string{"build", "plan", "plan"} {
				ids = append(ids, h.say("ann", "/rollback "+phase+" "+reasons[i]))
			}
			var all []*pending
			for _, id := range ids {
				h.hold()
				all = append(all, h.hear(id))
			}
			for i, p := range all {
				p.arrive()
				if !slices.Contains(order, i) {
					p.drop()
				}
			}
			for n, i := range order {
				all[i].release()
				want := map[bool]string{true: "completed", false: "stale_event"}[n == 0]
				all[i].wait(t).want(t, bothJobs, theRun, "reason-code", want)
			}
			run := h.record()
			var why []string
			for _, r := range run.RollbackHistory {
				why = append(why, r.Reason)
			}
			if diff := cmp.Diff(reasons, why); diff != "" || taken(run) != "run rollback rollback rollback" || run.Status != metadata.Completed {
				t.Errorf("taken were %q, the run is %s, reasons (-want +got):\n%s", taken(run), run.Status, diff)
			}
			for _, id := range ids {
				if got := h.signs(id); got != "eyes rocket" {
					t.Errorf("comment %d has the signs %q", id, got)
				}
			}
			if got := a.steps(); got != "plan execute, build execute, plan revise, build execute" {
				t.Fatalf("the agent was called for %s", got)
			}
			testenv.Has(t, "what the agent was told", a.calls[2].task, reasons[2])
			if len(h.ours("progress")) != 1 || len(h.github.Pulls(repository)) != 1 {
				t.Errorf("live comments %+v, pull requests %+v", h.ours("progress"), h.github.Pulls(repository))
			}
		})
	}
}

// TestActionsTwoAtOnce has two people ask for the same, and lets both jobs
// loose at the same moment.
func TestActionsTwoAtOnce(t *testing.T) {
	h, a := newHand(t)
	var both []*pending
	for _, who := range []string{"ann", "max"} {
		h.hold()
		both = append(both, h.hear(h.say(who, "/run")))
	}
	for _, p := range both {
		p.arrive()
	}
	for _, p := range both {
		p.release()
	}
	var codes []string
	for _, p := range both {
		d := p.wait(t)
		if d.results["run"] != "success" {
			t.Errorf("jobs %v\n%s", d.results, d.log)
		}
		codes = append(codes, d.outputs[theRun]["reason-code"])
	}
	slices.Sort(codes)
	if codes[0] != "already_running" && codes[1] != "stale_event" || codes[0] == codes[1] {
		t.Errorf("the jobs ended with %q", codes)
	}
	testenv.Is(t, "the agent was called for", a.steps(), "plan execute, build execute")
	if run := h.record(); run.Status != metadata.Completed || taken(run) != "run run" {
		t.Errorf("the run is %s and has taken %q", run.Status, taken(run))
	}
	if len(h.ours("progress")) != 1 || len(h.github.Pulls(repository)) != 1 {
		t.Errorf("live comments %+v, pull requests %+v", h.ours("progress"), h.github.Pulls(repository))
	}
}
