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
	run := freshRun(plan)
	run = play(t, plan, run, Decide(On(plan, run)), wrotten("p1"))
	run = play(t, plan, run, Decide(On(plan, run)), judged(false, blocker("F1")))
	run = play(t, plan, run, Decide(On(plan, run)), Outcome{})
	if run.Status != metadata.Failed {
		t.Fatalf("the run is %s, want failed", run.Status)
	}
	if _, err := Retry(On(plan, run), "nope", Start{At: t0}); !strings.Contains(refused(err), "plan, code, tell") {
		t.Errorf("retry of an unknown phase: %v, want the valid names", err)
	}
	next, err := Retry(On(plan, run), "", Start{At: run.UpdatedAt})
	testenv.Must(t, err)
	legal(t, run, next)
	if d := Decide(On(plan, next)); show(d) != "plan revise writer resume 1" {
		t.Errorf("after retry decided %q, want a revise", show(d))
	}
}

func TestTakeUpAfterAKill(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	run = play(t, plan, run, Decide(On(plan, run)), wrotten("p1"))
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
	if d := Decide(On(plan, next)); show(d) != "plan review reviewer" {
		t.Errorf("decided %q, want the review in a new session: what it ran may have written the old one", show(d))
	}
}
