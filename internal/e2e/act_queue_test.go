//go:build e2e

package e2e

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
)

// TestActionsThreeAtOnce has somebody give three commands in a second. Their
// gates work at the same time; their jobs wait for each other, as GitHub has
// it, which keeps no order and drops those in between.
func TestActionsThreeAtOnce(t *testing.T) {
	for name, order := range map[string][]int{"in another order": {2, 0, 1}, "one dropped": {0, 2}} {
		t.Run(name, func(t *testing.T) {
			h, a := newHand(t)
			var ids []int64
			for _, body := range []string{"/run --until plan", "/rollback plan not deep enough", "/cancel enough"} {
				ids = append(ids, h.say("ann", body))
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
				d := all[i].wait(t)
				if n == 0 && d.outputs[theRun]["decision"] != "run" || n > 0 && d.outputs[theRun]["reason-code"] != "stale_event" {
					t.Errorf("job %d ended with %v\n%s", i, d.outputs, d.log)
				}
			}
			if run := h.record(); taken(run) != "run rollback cancel" || run.Status != metadata.Cancelled {
				t.Errorf("taken were %q, the run is %s", taken(run), run.Status)
			}
			var signs []string
			for _, id := range ids {
				signs = append(signs, h.signs(id))
			}
			// The run that was asked for came to nothing.
			if diff := cmp.Diff([]string{"eyes -1", "eyes rocket", "eyes rocket"}, signs); diff != "" {
				t.Errorf("signs (-want +got):\n%s", diff)
			}
			if len(h.ours("progress")) != 1 {
				t.Errorf("the live comments are %+v", h.ours("progress"))
			}
			t.Logf("the agent was called for: %s", a.steps())
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
	if got := a.steps(); got != "plan execute, build execute" {
		t.Errorf("the agent was called for %s", got)
	}
	if run := h.record(); run.Status != metadata.Completed || taken(run) != "run run" {
		t.Errorf("the run is %s and has taken %q", run.Status, taken(run))
	}
	if len(h.ours("progress")) != 1 || len(h.github.Pulls(repository)) != 1 {
		t.Errorf("live comments %+v, pull requests %+v", h.ours("progress"), h.github.Pulls(repository))
	}
}
