package phases

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestBack(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	for range 7 { // up to the end of tell's execute
		d := Decide(On(plan, run))
		o := map[Do]Outcome{DoExecute: wrotten(d.Phase), DoReview: judged(true), DoCheck: checked(true)}[d.Do]
		run = play(t, plan, run, d, o)
	}
	for _, step := range []metadata.Step{metadata.Execute, metadata.Review, metadata.Revise} {
		t.Run(string(step), func(t *testing.T) {
			r := goneBack(t, plan, run, "plan", step, "keep the API")
			legal(t, run, r.Run)
			rec := r.Run.Phase("plan")
			if rec.Status != metadata.PhaseInProgress || rec.CurrentStep != step || rec.CompletedAt != nil || rec.RetryCount != 0 || rec.Generation != 1 {
				t.Errorf("the target is %+v", rec)
			}
			for _, name := range []string{"code", "tell"} {
				rec := r.Run.Phase(name)
				want := metadata.Phase{Name: name, Status: metadata.PhasePending, Generation: rec.Generation, Base: strings.Repeat("b", 40)}
				testenv.Same(t, name+" as if it had never begun", want, *rec)
			}
			if d := Decide(On(plan, r.Run)); string(d.Do) != string(step) || d.Phase != "plan" {
				t.Errorf("decided %q, want %s of plan", show(d), step)
			}
			e := r.Run.RollbackHistory[0]
			if e.FromPhase != "tell" || e.FromStep != metadata.Review || e.ToStep != step {
				t.Errorf("the history entry is %+v", e)
			}
			if got := rec.RollbackContext; got == nil || got.Reason != "keep the API" {
				t.Errorf("the next call is told %+v, want the reason", got)
			}
		})
	}
}

func TestBackIsRefused(t *testing.T) {
	plan := testPlan()
	run := plays(t, plan, freshRun(plan), without(metadata.Unsuccessful, metadata.NoProgress, "nothing"))
	tests := []struct {
		rw   Rollback
		want string
	}{
		{Rollback{To: "desing", Step: metadata.Revise, Reason: "r"}, "plan, code, tell"},
		{Rollback{To: "plan", Step: "rewrite", Reason: "r"}, "execute, review, revise"},
		{Rollback{To: "plan", Step: metadata.Revise, Reason: "  \n"}, "needs a reason"},
		{Rollback{To: "code", Step: metadata.Revise, Reason: "r"}, "never started"},
		{Rollback{To: "plan", Step: metadata.Review, Reason: "r"}, "nothing that could be reviewed"},
		{Rollback{To: "plan", Step: metadata.Revise, Reason: "r", From: "x"}, "no phase \"x\""},
	}
	for _, test := range tests {
		if _, err := PlanRollback(On(plan, run), test.rw); !strings.Contains(refused(err), test.want) {
			t.Errorf("%+v: error %v, want one with %q", test.rw, err, test.want)
		}
	}
	r := goneBack(t, plan, run, "plan", metadata.Revise, "r")
	if d := Decide(On(plan, r.Run)); d.Do != DoExecute {
		t.Errorf("with nothing written yet decided %q, want execute", show(d))
	}
}

func TestRollbackToReviewNeedsAReviewAndWork(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].NoReview = true
	run := plays(t, plan, freshRun(plan), wrotten("p1"))
	if _, err := PlanRollback(On(plan, run), Rollback{To: "plan", Step: metadata.Review, Reason: "r", At: t0}); !strings.Contains(refused(err), "has no review") {
		t.Errorf("rollback to a review that the phase does not have: %v", err)
	}
	plan.Phases[0].NoReview = false
	r := goneBack(t, plan, run, "plan", metadata.Execute, "r")
	if _, err := PlanRollback(On(plan, r.Run), Rollback{To: "plan", Step: metadata.Review, Reason: "r", At: t0}); err == nil {
		t.Error("rollback to review was taken though nothing is written any more")
	}
}

// What is open is counted; a check that fails and a file of tests with a blocker are named.
func TestDetailsOfARollback(t *testing.T) {
	plan := testPlan()
	run := plays(t, plan, freshRun(plan), wrotten("p1"))
	found := []metadata.Finding{blocker("F1"), blocker("F2"), blocker("F3"), {ID: "F4", Title: "x (y)", Severity: metadata.Suggestion, Status: metadata.StillOpen}}
	found[0].File, found[1].Status = "cmd/main_test.go", metadata.Fixed
	run = plays(t, plan, run, judged(false, found...))
	rec := run.Phase("plan")
	rec.Checks = &metadata.Checks{Written: rec.Written, Results: []metadata.CheckResult{{Name: "unit", Run: "false", ExitCode: 1}, {Name: "lint", Run: "true", Pass: true}}}
	r := goneBack(t, plan, run, "plan", metadata.Revise, "keep it")
	want := &metadata.RollbackDetails{BlockerCount: 2, SuggestionCount: 1, AffectedTests: []string{"cmd/main_test.go", "unit"}}
	testenv.Same(t, "the details", want, r.Run.Phase("plan").RollbackContext.Details)
}

// goneBack is the effect of a rollback that a person may ask for.
func goneBack(t *testing.T, plan *pipelines.Pipeline, run metadata.Run, to string, step metadata.Step, reason string) RollbackPlan {
	t.Helper()
	back, err := PlanRollback(On(plan, run), Rollback{To: to, Step: step, Reason: reason, Trigger: metadata.Manual, At: run.UpdatedAt})
	testenv.Must(t, err)
	return back
}
