package phases

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// A run is where it stopped, what it works on, or what comes next.
func TestAt(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Approve = "write"
	run := freshRun(plan)
	at := func(when, want string) {
		t.Helper()
		testenv.Is(t, when+" the run is at", At(On(plan, run)), want)
	}
	at("at first", "plan")
	run = plays(t, plan, run, wrotten("p1"), judged(true), Outcome{})
	at("while it waits", "plan")
	run, err := Approve(On(plan, run), Command{By: "ada", At: run.UpdatedAt})
	testenv.Must(t, err)
	at("after the approval", "code")
	if _, err = Approve(On(plan, run), Command{At: run.UpdatedAt}); !strings.HasSuffix(refused(err), "the run is at code") {
		t.Errorf("a second approval: %v", err)
	}
	if _, err = PlanRollback(On(plan, run), Rollback{To: "tell", Step: metadata.Revise, Reason: "why"}); !strings.HasSuffix(refused(err), "the run is at code") {
		t.Errorf("a rollback to what has not begun: %v", err)
	}
	run = Begin(run, Decide(On(plan, run)), Beginning{At: run.UpdatedAt})
	at("while it works", "code")
	run = metadata.Run{Status: metadata.Completed, CurrentPhase: "tell"}
	at("when it is completed", "tell")
}

// What was proposed can be carried out: where it was the reason to ask.
func TestProposed(t *testing.T) {
	plan := testPlan()
	plan.Phases[1].Report, plan.Phases[1].ReportSchema = "{...}", json.RawMessage(`{"properties":{"rollback":{}}}`)
	plan.Rules = []pipelines.Rule{{After: "code", Then: pipelines.Then{Rollback: &pipelines.RuleRollback{To: "code", Step: "execute", Reason: "too large"}}}}
	waiting := func(report, ask string) metadata.Run {
		run := freshRun(plan)
		for range 5 {
			d, o := Decide(On(plan, run)), wrotten("w")
			if d.Do == DoReview {
				o = judged(true)
			} else if d.Do == DoCheck {
				o = checked(true)
			}
			run = play(t, plan, run, d, o)
		}
		rec := run.Phase("code")
		rec.Report, rec.Approve, rec.Ask = json.RawMessage(report), "maintain", metadata.Because("went_back_often", "command", ask)
		return run
	}
	for name, tt := range map[string]struct{ report, ask, want string }{
		"by a report":         {`{"rollback":{"phase":"plan","step":"revise","reason":"no paging"}}`, "/rollback plan:revise no paging", "plan revise no paging"},
		"without a step":      {`{"rollback":{"phase":"plan","reason":"no paging\nat all"}}`, "/rollback plan:revise no paging", "plan revise no paging\nat all"},
		"by a rule":           {`{}`, "/rollback code:execute too large", "code execute too large"},
		"not what was asked":  {`{"rollback":{"phase":"plan","step":"revise","reason":"no paging"}}`, "/rollback plan:revise another", ""},
		"to no phase":         {`{"rollback":{"phase":"plam","step":"revise","reason":"no"}}`, "/rollback plam:revise no", ""},
		"to what comes later": {`{"rollback":{"phase":"tell","step":"revise","reason":"no"}}`, "/rollback tell:revise no", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if rw, ok := Proposed(On(plan, waiting(tt.report, tt.ask))); ok {
				got = strings.Join([]string{rw.To, string(rw.Step), rw.Reason}, " ")
			}
			testenv.Is(t, "it is proposed", got, tt.want)
		})
	}
	if _, ok := Proposed(On(plan, freshRun(plan))); ok {
		t.Error("something is proposed about a run that waits for nothing")
	}
}

func TestRounded(t *testing.T) {
	for in, want := range map[float64]float64{0.1 + 0.2: 0.3, 0.12000000000000001: 0.12, -0.1 - 0.2: -0.3, 1e300: 1e300, 0.0000004: 0, 2.5: 2.5} {
		if got := metadata.Rounded(in); got != want {
			t.Errorf("%v becomes %v, want %v", in, got, want)
		}
	}
}
