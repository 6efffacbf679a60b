package phases

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestLife follows runs decision by decision. Each line is what Decide must
// say, then the outcome it gets.
func TestLife(t *testing.T) {
	type turn struct {
		want string // phase, what to do, and agent; or what ends it and the code
		gets Outcome
	}
	nothing := without(metadata.Unsuccessful, metadata.NoProgress, "x.md was not written")
	tooMuch := without(metadata.Unsuccessful, metadata.ChangeRefused, "101 changed files")
	invalid := without(metadata.Blocked, metadata.OutputInvalid, "no verdict")
	passes := []turn{
		{"code execute writer", wrotten("c1")},
		{"code check", checked(true)},
		{"code review reviewer", judged(true)},
		{"tell execute writer", wrotten("t1")},
		{"tell review reviewer", judged(true)},
		{"finish completed", Outcome{}},
	}
	planned := []turn{{"plan execute writer", wrotten("p1")}, {"plan review reviewer", judged(true)}}
	tests := map[string][]turn{
		"straight through": slices.Concat(planned, passes),
		"one revise": slices.Concat([]turn{
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", judged(true)},
		}, passes),
		"a failing check fails a passing review": slices.Concat(planned, []turn{
			{"code execute writer", wrotten("c1")},
			{"code check", checked(false)},
			{"code review reviewer", judged(true)},
			{"code revise writer resume 3", wrotten("c2")},
			{"code check", checked(true)},
			{"code review reviewer", judged(true)},
		}, passes[3:]),
		"revises run out": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", judged(false, blocker("F2"))},
			{"plan revise writer resume 3", wrotten("p3")},
			{"plan review reviewer", judged(false, blocker("F3"))},
			{"plan revise writer resume 5", wrotten("p4")},
			{"plan review reviewer", judged(false, blocker("F4"))},
			{"fail review_failed", Outcome{}},
		},
		"the same findings twice": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"wait stuck", Outcome{}},
		},
		"nothing done, asked once more, done": slices.Concat([]turn{
			{"plan execute writer", nothing},
			{"plan execute writer resume 1 again", wrotten("p1")},
			{"plan review reviewer", judged(true)},
		}, passes),
		"nothing done twice": {
			{"plan execute writer", nothing},
			{"plan execute writer resume 1 again", nothing},
			{"wait no_progress", Outcome{}},
		},
		"no verdict twice is never a pass": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", invalid},
			{"plan review reviewer again", invalid},
			{"wait output_invalid", Outcome{}},
		},
		"a crash is tried again, then another agent takes over": slices.Concat([]turn{
			{"plan execute writer", errored(metadata.Crash)},
			{"plan execute writer after 1s", errored(metadata.Crash)},
			{"plan execute second", wrotten("p1")},
			{"plan review reviewer", judged(true)},
		}, passes),
		"a wrong key goes to the other agent at once and stays there": {
			{"plan execute writer", errored(metadata.Auth)},
			{"plan execute second", wrotten("p1")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise second resume 2", wrotten("p2")},
			{"plan review reviewer", judged(true)},
			{"code execute second", wrotten("c1")},
		},
		"a wrong key with nobody to fall back to": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", errored(metadata.Auth)},
			{"fail credentials_missing", Outcome{}},
		},
		"a rate limit without a fallback is waited for": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", Outcome{Status: metadata.Errored, Class: metadata.RateLimited, RetryAfter: 30 * time.Second}},
			{"plan review reviewer after 30s", errored(metadata.RateLimited)},
			{"plan review reviewer after 2s", errored(metadata.RateLimited)},
			{"fail api_error", Outcome{}},
		},
		"what is tried again in vain goes to the other agent": {
			{"plan execute writer", errored(metadata.Network)},
			{"plan execute writer after 1s", errored(metadata.Network)},
			{"plan execute writer after 2s", errored(metadata.Network)},
			{"plan execute second", wrotten("p1")},
		},
		"what will never be taken goes to the other agent at once": {
			{"plan execute writer", errored(metadata.Refused)},
			{"plan execute second", wrotten("p1")},
		},
		"what will never be taken in a session goes on in a fresh one first": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", errored(metadata.Refused)},
			{"plan revise writer", errored(metadata.Refused)},
			{"plan revise second", wrotten("p2")},
		},
		"too long an answer is asked for in smaller pieces": {
			{"plan execute writer", errored(metadata.TooLong)},
			{"plan execute writer resume 1 again", errored(metadata.TooLong)},
			{"plan execute second", wrotten("p1")},
		},
		"a long wait is not sat out": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", Outcome{Status: metadata.Errored, Class: metadata.RateLimited, RetryAfter: 4 * time.Hour}},
			{"fail api_error", Outcome{}},
		},
		"what fails twice in a session goes on in a fresh one, and never in that": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", errored(metadata.Network)},
			{"plan revise writer resume 1 after 1s", errored(metadata.Network)},
			{"plan revise writer", errored(metadata.Network)},
			{"plan revise second", wrotten("p2")},
		},
		"a session that is gone is no crash": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", errored(metadata.Crash)},
			{"plan revise writer", wrotten("p2")},
			{"plan review reviewer", judged(true)},
			{"code execute writer", wrotten("c1")},
		},
		"a rule broken once is told, and no more": slices.Concat([]turn{
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleProtected)},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", breaking(wrotten("p2"), metadata.RuleForm)},
			{"plan review reviewer", judged(true)},
		}, passes),
		"the same rule broken by execute and by revise": {
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleForm, metadata.RuleProtected)},
			{"plan review reviewer", judged(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", judged(false, blocker("F2"))},
			{"plan revise writer resume 3", breaking(wrotten("p3"), metadata.RuleProtected)},
			{"wait change_refused", Outcome{}},
		},
		"the same rule broken over a crash": {
			{"plan execute writer", breaking(nothing, metadata.RuleAccess)},
			{"plan execute writer resume 1 again", errored(metadata.Crash)},
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleAccess)},
			{"wait change_refused", Outcome{}},
		},
		"too much, then less": slices.Concat(planned, []turn{
			{"code execute writer", breaking(tooMuch, metadata.RuleSize)},
			{"code execute writer resume 3 again", wrotten("c1")},
		}, passes[1:]),
		"too much twice": slices.Concat(planned, []turn{
			{"code execute writer", breaking(tooMuch, metadata.RuleSize)},
			{"code execute writer resume 3 again", breaking(tooMuch, metadata.RuleSize)},
			{"wait change_refused", Outcome{}},
		}),
		"each phase has its own count": slices.Concat([]turn{
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleProtected)},
			{"plan review reviewer", judged(true)},
			{"code execute writer", breaking(wrotten("c1"), metadata.RuleProtected)},
		}, passes[1:]),
		"what reviewers leave behind stops nothing": slices.Concat([]turn{
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleAccess)},
			{"plan review reviewer", breaking(judged(false, blocker("F1")), metadata.RuleAccess)},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", breaking(judged(true), metadata.RuleAccess)},
		}, passes),
		"a secret is worse than a rule": {
			{"plan execute writer", breaking(nothing, metadata.RuleProtected)},
			{"plan execute writer resume 1 again", breaking(without(metadata.Blocked, metadata.SecretFound, "x"), metadata.RuleProtected)},
			{"wait secret_found", Outcome{}},
		},
		"interrupted": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", without(metadata.Cut, metadata.RunCancelled, "told to stop")},
		},
	}
	for name, turns := range tests {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			run := freshRun(plan)
			for i, turn := range turns {
				d := Decide(On(plan, run))
				if got := show(d); got != turn.want {
					t.Fatalf("turn %d: decided %q (%s), want %q", i+1, got, english(d.Why), turn.want)
				}
				run = play(t, plan, run, d, turn.gets)
			}
		})
	}
}

// Runs that failed together come back at different times, each at the same one
// whoever computes it.
func TestBackoffDiffersFromRunToRun(t *testing.T) {
	plan := testPlan()
	plan.Agents["writer"] = pipelines.Agent{Use: "claude"}
	waits := map[time.Duration]bool{}
	for i := range 20 {
		run := freshRun(plan)
		run.Execution.ID = fmt.Sprint("run", i)
		run = plays(t, plan, run, errored(metadata.RateLimited))
		d := Decide(On(plan, run))
		if d.Delay < 800*time.Millisecond || d.Delay > time.Second {
			t.Errorf("the wait is %v, want from four fifths of a second to a second", d.Delay)
		}
		if again := Decide(On(plan, run)); again != d {
			t.Errorf("decided %+v and then %+v", d, again)
		}
		waits[d.Delay] = true
	}
	if len(waits) < 15 {
		t.Errorf("20 runs wait %d different times", len(waits))
	}
}

// A service that asks to wait longer than the run has time stops the run for
// what it is: no budget would help. Starting again later is all it needs.
func TestAServiceAsksForMoreTimeThanThereIs(t *testing.T) {
	plan := testPlan()
	plan.Agents["writer"] = pipelines.Agent{Use: "claude"}
	plan.Budget.Time = pipelines.Duration(time.Hour)
	run := plays(t, plan, freshRun(plan), Outcome{Status: metadata.Errored, Class: metadata.RateLimited, RetryAfter: 2 * time.Hour})
	d := Decide(On(plan, run))
	if show(d) != "fail api_error" || !strings.Contains(english(d.Why), "wait 2h0m0s") || !strings.Contains(english(d.Why), "1h0m0s of time left: start again after 2026-03-01 11:00 UTC") {
		t.Fatalf("decided %q: %s", show(d), english(d.Why))
	}
	run = play(t, plan, run, d, Outcome{})
	next := TakeUp(run, Start{At: run.UpdatedAt})
	legal(t, run, next)
	if d := Decide(On(plan, next)); show(d) != "plan execute writer" {
		t.Errorf("started again it decided %q: %s", show(d), english(d.Why))
	}
}

// A wait of our own that the time left does not reach for is a matter of the
// budget.
func TestNoTimeLeftToTryAgain(t *testing.T) {
	plan := testPlan()
	plan.Agents["writer"] = pipelines.Agent{Use: "claude"}
	plan.Budget.Time = pipelines.Duration(time.Hour)
	plan.Phases[0].Retry.Initial = pipelines.Duration(50 * time.Second)
	run := freshRun(plan)
	o := errored(metadata.Network)
	o.Duration = time.Hour - 10*time.Second
	run = plays(t, plan, run, o)
	if d := Decide(On(plan, run)); show(d) != "wait budget_exceeded" {
		t.Errorf("decided %q: %s", show(d), english(d.Why))
	}
}

// What there is to review is told as it is.
func TestWhyReview(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	check := func(want string) {
		t.Helper()
		if d := Decide(On(plan, run)); d.Do != DoReview || english(d.Why) != want {
			t.Errorf("decided %q: %q, want %q", show(d), english(d.Why), want)
		}
	}
	run = plays(t, plan, run, wrotten("p1"))
	check("the work has not been reviewed yet")
	run = plays(t, plan, run, judged(false, blocker("F1")), wrotten("p2"))
	check("the work has changed since the last review")
	run = plays(t, plan, run, judged(true))
	r := goneBack(t, plan, run, "plan", metadata.Review, "look closer")
	run = r.Run
	check("taken back: look closer")
}

// toRevise takes a fresh run to the first revise of plan.
func toRevise(t *testing.T, plan *pipelines.Pipeline) metadata.Run {
	return plays(t, plan, freshRun(plan), wrotten("p1"), judged(false, blocker("F1")))
}

func TestErrorsInAResumedSessionRunOut(t *testing.T) {
	for _, class := range []metadata.Class{metadata.StepTimeout, metadata.RateLimited, metadata.Network, metadata.Auth, metadata.Crash} {
		plan := testPlan()
		plan.Agents["writer"] = pipelines.Agent{Use: "claude"} // nobody to fall back to
		run := toRevise(t, plan)
		for n := 0; run.Status == metadata.Running; n++ {
			if n > 10 {
				t.Fatalf("%s is tried again for ever", class)
			}
			d := Decide(On(plan, run))
			run = play(t, plan, run, d, map[bool]Outcome{true: {}, false: errored(class)}[d.Final()])
		}
		testenv.Is(t, string(class)+": the run is", run.Status, metadata.Failed)
	}
}

func TestABudgetCutTwiceCanGoOn(t *testing.T) {
	plan := testPlan()
	plan.Budget.USD = 1
	run := freshRun(plan)
	cut := Outcome{Status: metadata.Unsuccessful, Code: metadata.BudgetExceeded, Why: "the budget was used up during the call", Usage: metadata.Usage{USD: 2}}
	for range 3 {
		run = plays(t, plan, run, cut, Outcome{})
		if run.Stop == nil || run.Stop.Code != metadata.BudgetExceeded {
			t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
		}
		run = TakeUp(run, Start{At: run.UpdatedAt, More: Allowance{USD: 1}})
		if d := Decide(On(plan, run)); d.Do != DoExecute || !d.Again {
			t.Fatalf("with a new allowance decided %q", show(d))
		}
	}
}

func TestAnAgentThatWasReplacedIsNotAsked(t *testing.T) {
	plan := testPlan()
	run := plays(t, plan, freshRun(plan), without(metadata.Cut, metadata.RunCancelled, "told to stop"))
	run = TakeUp(run, Start{At: run.UpdatedAt})
	plan.Agents = map[string]pipelines.Agent{"rehearsal": {Use: "rehearsal"}}
	for i := range plan.Phases {
		plan.Phases[i].Execute.Agent, plan.Phases[i].Review.Agent, plan.Phases[i].Revise.Agent = "rehearsal", "rehearsal", "rehearsal"
	}
	testenv.Is(t, "for the new agent, with a fresh session, it decided", show(Decide(On(plan, run))), "plan execute rehearsal")
}

func TestOnlyItsOwnConfirmedSessionIsResumed(t *testing.T) {
	plan := testPlan()
	run := toRevise(t, plan)
	run.Attempts[0].Confirmed = false
	if d := Decide(On(plan, run)); d.Resume != 0 {
		t.Errorf("decided %q, but the session was never confirmed", show(d))
	}
	run.Attempts[0].Confirmed, run.Attempts[0].Agent = true, "second"
	if d := Decide(On(plan, run)); d.Resume != 0 {
		t.Errorf("decided %q, but the session is another agent's", show(d))
	}
}
