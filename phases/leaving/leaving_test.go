package leaving

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/phasestest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines/skipping"
)

// A phase that is left out by its own condition is asked about anew when the run goes back
// before it, or to it, and the record can follow on the one before all the while.
func TestAskedAnew(t *testing.T) {
	plan, at := phasestest.Plan(), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	first, last := plan.Phases[0].Name, plan.Phases[len(plan.Phases)-1].Name
	plan.Phase(last).SkipIf = &skipping.If{Run: "true"}
	run := phases.Fresh(plan, phasestest.Run(), at)
	for i := range run.Phases[:len(run.Phases)-1] {
		rec := &run.Phases[i]
		rec.Status, rec.StartedAt, rec.CompletedAt = metadata.PhaseCompleted, &at, &at
	}
	if phase, asked := Due(plan, run, phases.Decision{Do: phases.DoExecute, Phase: first}); asked != nil {
		t.Errorf("%s is asked about, which has no condition", phase)
	}
	next := phases.Decide(plan, run)
	phase, asked := Due(plan, run, next)
	if phase != last || asked == nil {
		t.Fatalf("%+v: asked about %q, want %q", next, phase, last)
	}
	left := Out(run, last, metadata.Because("skip_if_passed", "run", metadata.Said("true")), at)
	phasestest.CheckLegal(t, run, left)
	if d := phases.Decide(plan, left); d.Do != phases.DoFinish || Why(left, last) == "" || Why(left, first) != "" {
		t.Errorf("%+v, why %q", d, Why(left, last))
	}
	for _, to := range []string{first, last} {
		back, err := phases.PlanRollback(plan, left, phases.Rollback{To: to, Step: metadata.Execute, Reason: "again", At: at, Trigger: metadata.Manual})
		if err != nil {
			t.Fatalf("back to %s: %v", to, err)
		}
		phasestest.CheckLegal(t, left, back.Run)
		if rec := back.Run.Phase(last); rec.Status != metadata.PhasePending || rec.Dropped != "" || Why(back.Run, last) != "" {
			t.Errorf("back to %s: %+v", to, rec)
		}
		if d := phases.Decide(plan, back.Run); to == last {
			if _, asked := Due(plan, back.Run, d); asked == nil {
				t.Errorf("%+v is carried out unasked", d)
			}
		}
	}
}
