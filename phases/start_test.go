package phases

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

func TestRetryGivesAFreshAllowance(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Revisions = 0
	run := plays(t, plan, freshRun(plan), wrotten("p1"), judged(false, blocker("F1")), Outcome{})
	if run.Status != metadata.Failed {
		t.Fatalf("the run is %s, want failed", run.Status)
	}
	if _, err := Retry(On(plan, run), "nope", Start{At: t0}); !strings.Contains(refused(err), "plan, code, tell") {
		t.Errorf("retry of an unknown phase: %v, want the valid names", err)
	}
	next, err := Retry(On(plan, run), "", Start{At: run.UpdatedAt})
	testenv.Must(t, err)
	legal(t, run, next)
	testenv.Is(t, "after retry it decided", show(Decide(On(plan, next))), "plan revise writer resume 1")
}

func TestTakeUpAfterAKill(t *testing.T) {
	plan := testPlan()
	run := plays(t, plan, freshRun(plan), wrotten("p1"))
	killed := Begin(run, Decide(On(plan, run)), Beginning{At: run.UpdatedAt, Session: "s-open"})
	open := killed.Attempts[len(killed.Attempts)-1]
	open.Confirmed = true
	open.Usage.USD = 0.5
	next := Absorb(run, []metadata.Attempt{open}, run.UpdatedAt)
	if next.Cost.USD != run.Cost.USD+0.5 {
		t.Errorf("the cost is %v, want what the killed call had used in it", next.Cost.USD)
	}
	if again := Absorb(next, []metadata.Attempt{open}, run.UpdatedAt); len(again.Attempts) != len(next.Attempts) {
		t.Error("the same attempt was taken in twice")
	}
	next = TakeUp(next, Start{At: run.UpdatedAt})
	legal(t, run, next)
	if a := next.Attempts[len(next.Attempts)-1]; a.Status != metadata.Cut || a.Session != "s-open" {
		t.Errorf("the open attempt became %+v, want it interrupted, with its session", a)
	}
	// What the killed call ran may have written its session.
	testenv.Is(t, "it decided", show(Decide(On(plan, next))), "plan review reviewer")
}
