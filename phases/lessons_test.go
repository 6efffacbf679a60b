package phases

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// toRevise takes a fresh run to the first revise of plan.
func toRevise(t *testing.T, plan *pipelines.Pipeline) metadata.Run {
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), wrotten("p1"))
	return play(t, plan, run, Decide(plan, run), verdict(false, blocker("F1")))
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
			d := Decide(plan, run)
			run = play(t, plan, run, d, map[bool]Outcome{true: {}, false: errored(class)}[d.Final()])
		}
		if run.Status != metadata.Failed {
			t.Errorf("%s: the run is %s", class, run.Status)
		}
	}
}

func TestABudgetCutTwiceCanGoOn(t *testing.T) {
	plan := testPlan()
	plan.Budget.USD = 1
	run := freshRun(plan)
	cut := Outcome{Status: metadata.Unsuccessful, Code: metadata.BudgetExceeded, Why: "the budget was used up during the call", Usage: metadata.Usage{USD: 2}}
	for range 3 {
		run = play(t, plan, run, Decide(plan, run), cut)
		run = play(t, plan, run, Decide(plan, run), Outcome{})
		if run.Stop == nil || run.Stop.Code != metadata.BudgetExceeded {
			t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
		}
		run = TakeUp(run, Start{At: run.UpdatedAt, More: Allowance{USD: 1}})
		if d := Decide(plan, run); d.Do != DoExecute || !d.Again {
			t.Fatalf("with a new allowance decided %q", show(d))
		}
	}
}

func TestAnAgentThatWasReplacedIsNotAsked(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Why: "told to stop"})
	run = TakeUp(run, Start{At: run.UpdatedAt})
	plan.Agents = map[string]pipelines.Agent{"rehearsal": {Use: "rehearsal"}}
	for i := range plan.Phases {
		plan.Phases[i].Execute.Agent, plan.Phases[i].Review.Agent, plan.Phases[i].Revise.Agent = "rehearsal", "rehearsal", "rehearsal"
	}
	if d := Decide(plan, run); show(d) != "plan execute rehearsal" {
		t.Errorf("decided %q, want the new agent with a fresh session", show(d))
	}
}

func TestOnlyItsOwnConfirmedSessionIsResumed(t *testing.T) {
	plan := testPlan()
	run := toRevise(t, plan)
	run.Attempts[0].Confirmed = false
	if d := Decide(plan, run); d.Resume != 0 {
		t.Errorf("decided %q, but the session was never confirmed", show(d))
	}
	run.Attempts[0].Confirmed, run.Attempts[0].Agent = true, "second"
	if d := Decide(plan, run); d.Resume != 0 {
		t.Errorf("decided %q, but the session is another agent's", show(d))
	}
}

func TestRollbackToReviewNeedsAReviewAndWork(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].NoReview = true
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), wrotten("p1"))
	if _, err := Back(plan, run, Rewind{To: "plan", Step: metadata.Review, Reason: "r", At: t0}); err == nil || !strings.Contains(err.Error(), "has no review") {
		t.Errorf("rollback to a review that the phase does not have: %v", err)
	}
	plan.Phases[0].NoReview = false
	r, err := Back(plan, run, Rewind{To: "plan", Step: metadata.Execute, Reason: "r", At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Back(plan, r.Run, Rewind{To: "plan", Step: metadata.Review, Reason: "r", At: t0}); err == nil {
		t.Error("rollback to review was taken though nothing is written any more")
	}
}

func TestTheSameIDForAnotherFindingIsNoCircle(t *testing.T) {
	plan := testPlan()
	run := toRevise(t, plan)
	run = play(t, plan, run, Decide(plan, run), wrotten("p2"))
	other := blocker("F1")
	other.Problem = "something else"
	o := verdict(false, other)
	run = play(t, plan, run, Decide(plan, run), o)
	if d := Decide(plan, run); d.Do != DoRevise {
		t.Errorf("decided %q, want a revise", show(d))
	}
}

func TestFindingsPointIntoTheRepository(t *testing.T) {
	for _, file := range []string{".", "./", "/etc/passwd", "../x", "C:/x.go", "a\nb.go", `a\b.go`} {
		data := fmt.Sprintf(`{"verdict":"fail","gates":[],"findings":[{"id":"F1","severity":"blocker","title":"t","problem":"p","impact":"i","solution":"s","status":"new","file":%q,"line":3}]}`, file)
		v, wrong := ParseVerdict([]byte(data), nil)
		if len(wrong) > 0 || v.Findings[0].File != "" || v.Findings[0].Line != 0 {
			t.Errorf("%q: %+v, %q", file, v.Findings, wrong)
		}
	}
}

func TestAnArtifactLeftBehindIsNoEvidence(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Report = `x: int`
	s := newStage(t, plan)
	calls := 0
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		if calls++; calls == 1 {
			return s.good(ctx, t) // writes, but returns no report
		}
		if calls == 2 {
			return Result{Structured: json.RawMessage(`{"bad": 1}`)}, nil
		}
		return Result{Structured: json.RawMessage(`{"x": 1}`)}, nil // lazy ever after
	})
	if run := s.goOn(t.Context()); run.Stop == nil || run.Stop.Code != metadata.OutputInvalid {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	next, err := Retry(plan, s.run, "", Start{At: s.run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	s.run = next
	if run := s.goOn(t.Context()); run.Stop == nil || run.Stop.Code != metadata.NoProgress {
		t.Errorf("a call that wrote nothing passed on the artifact of an earlier one: %s (%+v)", run.Status, run.Stop)
	}
}

func TestTheDocumentSurvivesItsReport(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Access, plan.Phases[0].Report = pipelines.AccessRead, `x: int`
	s := newStage(t, plan)
	calls := 0
	s.on("plan", metadata.Execute, func(_ context.Context, t Task) (Result, error) {
		if calls++; calls == 1 {
			return Result{Text: "# The plan\n\nDo it.\n\n```json\n{\"bad\": 1}\n```"}, nil
		}
		return Result{Text: "```json\n{\"x\": 1}\n```"}, nil
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	if got := s.tree.tip()[".reprise/issue-7/00_plan/plan.md"]; got != "# The plan\n\nDo it.\n" {
		t.Errorf("the artifact is %q", got)
	}
}

func TestOddFilesAreTakenBack(t *testing.T) {
	s := newStage(t, testPlan())
	odd := []string{"a\tb.md", `C:\temp\x.md`, "superseded", "review.md", "attempt-1.patch"}
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		for _, name := range odd {
			if err := os.WriteFile(filepath.Join(filepath.Dir(t.Artifact), name), []byte("x"), 0o644); err != nil {
				return Result{}, err
			}
		}
		return s.good(ctx, t)
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	for _, name := range odd {
		if s.tree.tip()[".reprise/issue-7/00_plan/"+name] == "x" {
			t.Errorf("%q was kept", name)
		}
	}
}

func TestManyViolationsAreCut(t *testing.T) {
	s := newStage(t, testPlan())
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		for i := range 500 {
			if err := os.WriteFile(filepath.Join(t.Dir, fmt.Sprintf("stray-%d.txt", i)), nil, 0o644); err != nil {
				return Result{}, err
			}
		}
		return s.good(ctx, t)
	})
	s.on("plan", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, t.Round > 0)}, nil
	})
	s.goOn(t.Context())
	for _, task := range s.tasks {
		if n := strings.Count(task.Prompt, "stray-"); n > 50 {
			t.Errorf("%d violations in the prompt of %s", n, task.Step)
		}
	}
}
