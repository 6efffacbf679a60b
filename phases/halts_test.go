package phases

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// goes carries a run on with outcomes for its steps, by phase and step, until it
// stops; what is not named succeeds. It returns the steps, as "code.t1 execute".
func goes(t *testing.T, plan *pipelines.Pipeline, run metadata.Run, special map[string]Outcome) (metadata.Run, []string) {
	t.Helper()
	var done []string
	for range 60 {
		if run.Status != metadata.Running {
			return run, done
		}
		d := Decide(On(plan, run))
		name := d.Phase + " " + string(d.Do)
		o, ok := special[name]
		if !ok {
			o = map[Do]Outcome{DoExecute: wrotten(d.Phase), DoRevise: wrotten(d.Phase + "!"), DoIntegrate: wrotten("all"), DoReview: judged(true), DoCheck: checked(true)}[d.Do]
		}
		if d.Do != DoFinish {
			done = append(done, name)
		}
		run = play(t, plan, run, d, o)
	}
	t.Fatalf("the run does not end: %s", strings.Join(done, ", "))
	return run, done
}

// halting shows which parts of a run are halted, and by what.
func halting(plan *pipelines.Pipeline, run metadata.Run) string {
	var out []string
	for _, d := range Halts(On(plan, run)) {
		out = append(out, d.Phase+" "+string(d.Code))
	}
	return strings.Join(out, ", ")
}

// asksPerson is an outcome of a call that asks a question.
func asksPerson() Outcome {
	return Outcome{Status: metadata.Blocked, Code: metadata.AwaitingPerson, Why: "asks", Questions: []askedQuestion{{Question: "REST or RPC?"}}}
}

// What halts a part halts those that need it, and not the others. Only then does
// the run stop, and it says so of each.
func TestAPartHaltsOnlyWhatNeedsIt(t *testing.T) {
	nothing := without(metadata.Unsuccessful, metadata.NoProgress, "nothing changed")
	barred := without(metadata.Blocked, metadata.ChangeRefused, "protected")
	for name, tt := range map[string]struct {
		special map[string]Outcome
		halts   string
		status  metadata.Status
		t3      metadata.PhaseStatus
	}{
		"a question":    {map[string]Outcome{"code.t1 execute": asksPerson()}, "code.t1 waiting", metadata.Waiting, metadata.PhaseCompleted},
		"a review":      {map[string]Outcome{"code.t1 review": judged(false, blocker("F1"))}, "code.t1 review_failed", metadata.Failed, metadata.PhaseCompleted},
		"nothing done":  {map[string]Outcome{"code.t1 execute": nothing}, "code.t1 no_progress", metadata.Waiting, metadata.PhaseCompleted},
		"a broken rule": {map[string]Outcome{"code.t1 execute": barred}, "code.t1 change_refused", metadata.Waiting, metadata.PhaseCompleted},
		"two at once":   {map[string]Outcome{"code.t1 execute": asksPerson(), "code.t3 execute": nothing}, "code.t1 waiting, code.t3 no_progress", metadata.Waiting, metadata.PhaseInProgress},
		"one needs it":  {map[string]Outcome{"code.t2 execute": nothing}, "code.t2 no_progress", metadata.Waiting, metadata.PhaseCompleted},
		"its checks":    {map[string]Outcome{"code.t1 check": checked(false)}, "code.t1 check_failed", metadata.Failed, metadata.PhasePending},
		"no program":    {map[string]Outcome{"code.t1 execute": {Status: metadata.Errored, Class: metadata.Missing, Code: metadata.AgentFailed, Why: "gone"}}, "code.t1 agent_failed", metadata.Failed, metadata.PhasePending},
	} {
		t.Run(name, func(t *testing.T) {
			plan := splitPlan()
			plan.Phases[1].Revisions = 0
			run, done := goes(t, plan, advance(t, plan, freshRun(plan), three, "code.t1"), tt.special)
			if got := halting(plan, run); got != tt.halts {
				t.Errorf("halted: %s, want %s\nafter %s", got, tt.halts, strings.Join(done, ", "))
			}
			if rec := run.Phase("code.t3"); rec.Status != tt.t3 || run.Status != tt.status || run.Stop.Phase != Halts(On(plan, run))[0].Phase {
				t.Errorf("the run is %s at %s, t3 is %s; want %s, %s\nafter %s", run.Status, run.Stop.Phase, rec.Status, tt.status, tt.t3, strings.Join(done, ", "))
			}
			if n := len(run.Attempts); n != len(slices.DeleteFunc(done, func(s string) bool { return strings.HasSuffix(s, " wait") || strings.HasSuffix(s, " fail") }))+2 {
				t.Errorf("%d attempts after %s", n, strings.Join(done, ", "))
			}
			for _, rec := range run.Phases {
				if rec.Name == "code" && rec.Status != metadata.PhasePending {
					t.Errorf("the whole is %s, and not all of its parts are done", rec.Status)
				}
			}
		})
	}
}

// Each part that is halted is set going by itself, in any order, and at once.
func TestEachHaltIsEndedByItself(t *testing.T) {
	plan := splitPlan()
	plan.Phases[1].Revisions = 0
	start := advance(t, plan, freshRun(plan), three, "code.t1")
	nothing := without(metadata.Unsuccessful, metadata.NoProgress, "nothing changed")
	stopped, _ := goes(t, plan, start, map[string]Outcome{"code.t1 execute": asksPerson(), "code.t3 execute": nothing})

	retried, err := Retry(On(plan, stopped), "code.t3", Start{At: stopped.UpdatedAt})
	testenv.Must(t, err)
	legal(t, stopped, retried)
	if d := Decide(On(plan, retried)); d.Phase != "code.t3" || d.Do != DoExecute || d.Again {
		t.Errorf("t3 has an allowance of its own, and %q is next", show(d))
	}
	testenv.Is(t, "halted:", halting(plan, retried), "code.t1 waiting")
	if _, err := Retry(On(plan, stopped), "code.t2", Start{At: stopped.UpdatedAt}); err == nil {
		t.Error("a part that waits for another one was retried")
	}
	answered, err := Answer(retried, "q1", "REST", Command{By: "ada", At: retried.UpdatedAt})
	testenv.Must(t, err)
	legal(t, retried, answered)
	if d := Decide(On(plan, answered)); d.Phase != "code.t1" || d.Do != DoExecute {
		t.Errorf("answered while the run is at work, %q is next", show(d))
	}
	if end, _ := goes(t, plan, answered, nil); end.Status != metadata.Completed {
		t.Errorf("the run ends %s: %+v", end.Status, end.Stop)
	}

	// One question answered, its part goes on though another one waits for its own.
	both, _ := goes(t, plan, start, map[string]Outcome{"code.t1 execute": asksPerson(), "code.t3 execute": asksPerson()})
	if got := halting(plan, both); got != "code.t1 waiting, code.t3 waiting" {
		t.Fatalf("halted: %s", got)
	}
	if _, err := Answer(both, "", "REST", Command{At: both.UpdatedAt}); err == nil {
		t.Error("nobody knows which question was answered, and it was")
	}
	second, err := Answer(both, "q2", "RPC", Command{At: both.UpdatedAt})
	testenv.Must(t, err)
	legal(t, both, second)
	if d := Decide(On(plan, second)); second.Status != metadata.Running || d.Phase != "code.t3" || d.Final() {
		t.Errorf("the run is %s, and %q is next", second.Status, show(d))
	}

	// A run that a person has paused stays so, whatever else is said meanwhile.
	asked := play(t, plan, start, Decide(On(plan, start)), asksPerson())
	asked = play(t, plan, asked, Decide(On(plan, asked)), wrotten("w")) // t3
	held, err := Pause(asked, "wait for me", asked.UpdatedAt)
	if err != nil || held.Stop.Phase != "code.t3" {
		t.Fatalf("%v: %+v", err, held.Stop)
	}
	if held, err = Answer(held, "q1", "REST", Command{At: held.UpdatedAt}); err != nil || held.Status != metadata.Waiting {
		t.Errorf("an answer has ended a pause: %v, %s", err, held.Status)
	}
	if d := Decide(On(plan, TakeUp(held, Start{At: held.UpdatedAt}))); d.Phase != "code.t1" {
		t.Errorf("taken up, %q is next", show(d))
	}

	// A person takes one back or leaves one out; the other stays halted.
	back := goneBack(t, plan, both, "code.t3", metadata.Execute, "keep the API")
	legal(t, both, back.Run)
	if d := Decide(On(plan, back.Run)); d.Phase != "code.t3" || halting(plan, back.Run) != "code.t1 waiting" {
		t.Errorf("taken back, %q is next, and halted: %s", show(d), halting(plan, back.Run))
	}
	skipped, err := Skip(On(plan, both), "code.t3", both.UpdatedAt)
	testenv.Must(t, err)
	legal(t, both, skipped)
	if got := halting(plan, skipped); got != "code.t1 waiting" || skipped.Status != metadata.Waiting {
		t.Errorf("left out, the run is %s, and halted: %s", skipped.Status, got)
	}
}

// Of several parts that wait for an approval, the one that is named is approved, by
// somebody with the right that this one asks for.
func TestApprovalOfAPart(t *testing.T) {
	plan := splitPlan()
	run := advance(t, plan, freshRun(plan), three, "code.t2")
	demand(run.Phase("code.t1"), "write", "look")
	run = advance(t, plan, run, three, "code")
	demand(run.Phase("code.t3"), "admin", "look")
	for part, want := range map[string]string{"": "code.t1 write", "code.t1": "code.t1 write", "code.t3": "code.t3 admin", "code.t2": "code.t1 write"} {
		if phase, role, _, ok := Approval(On(plan, run), part); !ok || phase+" "+role != want {
			t.Errorf("%q: %s %s, want %s", part, phase, role, want)
		}
	}
	next, err := Approve(On(plan, run), Command{Phase: "code.t3", At: run.UpdatedAt})
	testenv.Must(t, err)
	if a := next.Approvals[len(next.Approvals)-1]; a.Phase != "code.t3" || a.Role != "admin" || halting(plan, next) != "code.t1 waiting" {
		t.Errorf("approved %+v, and halted: %s", a, halting(plan, next))
	}
	if _, err := Approve(On(plan, next), Command{Phase: "code.t3", At: run.UpdatedAt}); err == nil {
		t.Error("it was approved twice")
	}
}

// A run that has failed for its checks goes on once they read otherwise, with the new ones.
func TestOtherChecksLetARunGoOn(t *testing.T) {
	with := func(run string) *pipelines.Pipeline {
		plan := testPlan()
		for i := range plan.Phases {
			plan.Phases[i].Checks, plan.Phases[i].Revisions = []pipelines.Check{{Name: "unit", Run: run}}, 0
		}
		return plan
	}
	old := with("false")
	failed, _ := goes(t, old, freshRun(old), map[string]Outcome{old.Phases[0].Name + " check": checked(false)})
	for command, want := range map[string]metadata.Status{"false": metadata.Failed, "true": metadata.Running} {
		plan, run := Refresh(old, with(command), failed, t0)
		if run.Status != want || want == metadata.Running && Decide(On(plan, run)).Do != DoCheck {
			t.Errorf("with %s: %s, %v", command, run.Status, Decide(On(plan, run)))
		}
	}
}
