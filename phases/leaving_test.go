package phases

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// A phase that is left out by its own condition is asked about anew when the run goes back
// before it, or to it, and the record can follow on the one before all the while.
func TestAskedAnew(t *testing.T) {
	plan, at := phasestest.Plan(), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	first, last := plan.Phases[0].Name, plan.Phases[len(plan.Phases)-1].Name
	plan.Phase(last).SkipIf = &pipelines.SkipIf{When: "cost: usd: 0"}
	run := Fresh(On(plan, phasestest.Run()), at)
	for i := range run.Phases[:len(run.Phases)-1] {
		rec := &run.Phases[i]
		rec.Status, rec.StartedAt, rec.CompletedAt = metadata.PhaseCompleted, &at, &at
	}
	if phase, asked := SkipDue(On(plan, run), Decision{Do: DoExecute, Phase: first}); asked != nil {
		t.Errorf("%s is asked about, which has no condition", phase)
	}
	next := Decide(On(plan, run))
	phase, asked := SkipDue(On(plan, run), next)
	if phase != last || asked == nil {
		t.Fatalf("%+v: asked about %q, want %q", next, phase, last)
	}
	left := LeaveOut(run, last, metadata.Because("skip_if_holds", "facts", []metadata.Reason{metadata.Because("fact", "name", "cost.usd", "value", metadata.Said("0"))}), at)
	phasestest.CheckLegal(t, run, left)
	if d := Decide(On(plan, left)); d.Do != DoFinish || WhyLeftOut(left, last) == "" || WhyLeftOut(left, first) != "" {
		t.Errorf("%+v, why %q", d, WhyLeftOut(left, last))
	}
	for _, to := range []string{first, last} {
		back, err := PlanRollback(On(plan, left), Rollback{To: to, Step: metadata.Execute, Reason: "again", At: at, Trigger: metadata.Manual})
		if err != nil {
			t.Fatalf("back to %s: %v", to, err)
		}
		phasestest.CheckLegal(t, left, back.Run)
		if rec := back.Run.Phase(last); rec.Status != metadata.PhasePending || rec.Dropped != "" || WhyLeftOut(back.Run, last) != "" {
			t.Errorf("back to %s: %+v", to, rec)
		}
		if d := Decide(On(plan, back.Run)); to == last {
			if _, asked := SkipDue(On(plan, back.Run), d); asked == nil {
				t.Errorf("%+v is carried out unasked", d)
			}
		}
	}
}
