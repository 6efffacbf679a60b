package phases

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// A phase that a rule has inserted and somebody has left out comes back when
// the rule asks for it again.
func TestAnInsertedPhaseComesBack(t *testing.T) {
	plan := testPlan()
	look := plan.Phases[0]
	look.Name, look.Folder, look.Writes = "look", "03_look", "look.md"
	plan.Spare = []pipelines.Phase{look}
	run := freshRun(plan)
	plan.Rules = []pipelines.Rule{{After: "plan", Then: pipelines.Then{Insert: "look"}}}
	run, _ = Fire(On(plan, run), 0, nil, t0)
	run, err := Skip(On(plan, run), "look", t0)
	testenv.Must(t, err)
	next, _ := Fire(On(plan, run), 0, nil, t0)
	next.Revision++
	legal(t, run, next)
	if rec := next.Phase("look"); rec.Status != metadata.PhasePending || len(next.Phases) != 4 {
		t.Errorf("the phases are %+v", next.Phases)
	}
}

// A phase that the pipeline does not have any more is left out, and is there
// again once the pipeline has it again, unless a person has left it out.
func TestARemovedPhaseComesBack(t *testing.T) {
	whole, less := testPlan(), testPlan()
	less.Phases = less.Phases[:2]
	for _, byHand := range []bool{false, true} {
		run := freshRun(whole)
		run.Phase("tell").Status, run.Phase("tell").CurrentStep = metadata.PhaseInProgress, metadata.Execute
		run.Decisions = append(run.Decisions, metadata.Decision{At: t0, Step: "execute", Phase: "tell", Why: "the phase has not begun"})
		if byHand {
			next, err := Skip(On(whole, run), "tell", t0)
			testenv.Must(t, err)
			run = Take(run, next, Command{Name: "skip", Phase: "tell", Why: "no need", At: t0})
		}
		now, gone := Refresh(whole, less, run, t0)
		legal(t, run, gone)
		if rec := gone.Phase("tell"); rec == nil || rec.Status != metadata.PhaseSkipped {
			t.Fatalf("the phases are %+v", gone.Phases)
		}
		_, back := Refresh(now, whole, gone, t0)
		legal(t, gone, back)
		want := map[bool]metadata.PhaseStatus{false: metadata.PhasePending, true: metadata.PhaseSkipped}[byHand]
		if rec := back.Phase("tell"); rec.Status != want || rec.CurrentStep != "" {
			t.Errorf("left out by hand %v: it is %+v", byHand, rec)
		}
	}
}
