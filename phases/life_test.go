package phases

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

var t0 = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func step(agent string) pipelines.Step {
	return pipelines.Step{Agent: agent, Timeout: pipelines.Duration(time.Minute), Idle: pipelines.Duration(time.Minute)}
}

func testPlan() *pipelines.Pipeline {
	retry := pipelines.Retry{Max: 2, Initial: pipelines.Duration(time.Second), Factor: 2, Cap: pipelines.Duration(time.Minute)}
	phase := func(i int, name string) pipelines.Phase {
		return pipelines.Phase{
			Name: name, Goal: "do " + name, Folder: fmt.Sprintf("%02d_%s", i, name), Writes: name + ".md",
			Access: pipelines.AccessArtifacts, Gates: []string{"It is right."}, Revisions: 3, Retry: retry,
			Execute: step("writer"), Review: step("reviewer"), Revise: step("writer"),
		}
	}
	plan := &pipelines.Pipeline{
		Name: "test", Language: "en",
		Agents: map[string]pipelines.Agent{"writer": {Use: "claude", Fallback: "second"}, "second": {Use: "codex"}, "reviewer": {Use: "codex"}},
		Phases: []pipelines.Phase{phase(0, "plan"), phase(1, "code"), phase(2, "tell")},
	}
	plan.Phases[1].Access = pipelines.AccessTree
	plan.Phases[1].Checks = []pipelines.Check{{Name: "unit", Run: "true"}}
	return plan
}

func freshRun(plan *pipelines.Pipeline) metadata.Run {
	return Fresh(plan, metadata.Run{
		IssueNumber: "7", IssueTitle: "T", BranchName: "reprise/issue-7", BaseCommit: strings.Repeat("a", 40),
		Language: "en", WorkflowVersion: "test", Pipeline: metadata.Pipeline{Name: "test", Digest: "sha256:" + strings.Repeat("0", 64), Definition: "sha256:" + strings.Repeat("0", 64), Source: "builtin:test"},
		Execution: metadata.Execution{ID: "run"},
	}, t0)
}

// tester is what *testing.T and *rapid.T have in common here.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// play carries out one decision with the outcome given, the way Engine does.
func play(t tester, plan *pipelines.Pipeline, run metadata.Run, d Decision, o Outcome) metadata.Run {
	t.Helper()
	at := run.UpdatedAt.Add(time.Second)
	if !d.Final() {
		before := run
		run = Begin(run, d, Beginning{At: at, Session: fmt.Sprintf("s%d", len(run.Attempts)+1), Base: strings.Repeat("b", 40)})
		legal(t, before, run)
	}
	if !d.Final() {
		o = stopRepeats(run, d, o)
	}
	o.At = at.Add(time.Second)
	if !d.Final() && d.Agent != "" {
		o.Session = run.Attempts[len(run.Attempts)-1].Session
	}
	next := Apply(plan, run, d, o)
	legal(t, run, next)
	return next
}

// legal holds every record and every change of it against package metadata.
func legal(t tester, old, next metadata.Run) {
	t.Helper()
	if err := next.Check(); err != nil {
		t.Fatalf("the record is not valid: %v", err)
	}
	if err := metadata.CheckNext(old, next); err != nil {
		t.Fatalf("the transition is not legal: %v", err)
	}
}

// Outcomes that scripts of tests name.
func wrotten(digest string) Outcome {
	return Outcome{Status: metadata.Succeeded, Written: &Written{Digest: digest, Files: []string{".reprise/issue-7/x.md"}}}
}

func verdict(pass bool, findings ...metadata.Finding) Outcome {
	v := metadata.Verdict{Verdict: metadata.Pass, Gates: []metadata.Gate{{Gate: "It is right.", Pass: pass}}, Findings: findings}
	if !pass {
		v.Verdict = metadata.Fail
	}
	return Outcome{Status: metadata.Succeeded, Verdict: &v, Work: fmt.Sprint(len(findings), findings)}
}

// breaking gives an outcome whose changes broke rules, and were taken back.
func breaking(o Outcome, rules ...metadata.Rule) Outcome {
	o.Broke = rules
	for _, r := range rules {
		o.Violations = append(o.Violations, metadata.Violation{Path: string(r) + ".txt", Rule: metadata.Said("broke " + string(r))})
	}
	return o
}

func blocker(id string) metadata.Finding {
	return metadata.Finding{ID: id, Severity: metadata.Blocker, Title: id, Status: metadata.NewFinding}
}

func errored(c metadata.Class) Outcome {
	return Outcome{Status: metadata.Errored, Class: c, Code: codeOf(c), Why: metadata.Said(string(c))}
}

func checked(pass bool) Outcome {
	return Outcome{Status: metadata.Succeeded, Checks: []metadata.CheckResult{{Name: "unit", Run: "true", Pass: pass, ExitCode: map[bool]int{false: 1}[pass]}}}
}

// TestLife follows runs decision by decision. Each line is what Decide must
// say, then the outcome it gets.
func TestLife(t *testing.T) {
	type turn struct {
		want string // phase, what to do, and agent; or what ends it and the code
		gets Outcome
	}
	nothing := Outcome{Status: metadata.Unsuccessful, Code: metadata.NoProgress, Why: "x.md was not written"}
	tooMuch := Outcome{Status: metadata.Unsuccessful, Code: metadata.PatchTooLarge, Why: "101 changed files"}
	invalid := Outcome{Status: metadata.Blocked, Code: metadata.OutputInvalid, Why: "no verdict"}
	passes := []turn{
		{"code execute writer", wrotten("c1")},
		{"code check", checked(true)},
		{"code review reviewer", verdict(true)},
		{"tell execute writer", wrotten("t1")},
		{"tell review reviewer", verdict(true)},
		{"finish completed", Outcome{}},
	}
	planned := []turn{{"plan execute writer", wrotten("p1")}, {"plan review reviewer", verdict(true)}}
	tests := map[string][]turn{
		"straight through": slices.Concat(planned, passes),
		"one revise": slices.Concat([]turn{
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", verdict(true)},
		}, passes),
		"a failing check fails a passing review": slices.Concat(planned, []turn{
			{"code execute writer", wrotten("c1")},
			{"code check", checked(false)},
			{"code review reviewer", verdict(true)},
			{"code revise writer resume 3", wrotten("c2")},
			{"code check", checked(true)},
			{"code review reviewer", verdict(true)},
		}, passes[3:]),
		"revises run out": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", verdict(false, blocker("F2"))},
			{"plan revise writer resume 3", wrotten("p3")},
			{"plan review reviewer", verdict(false, blocker("F3"))},
			{"plan revise writer resume 5", wrotten("p4")},
			{"plan review reviewer", verdict(false, blocker("F4"))},
			{"fail review_failed", Outcome{}},
		},
		"the same findings twice": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"wait stuck", Outcome{}},
		},
		"nothing done, asked once more, done": slices.Concat([]turn{
			{"plan execute writer", nothing},
			{"plan execute writer resume 1 again", wrotten("p1")},
			{"plan review reviewer", verdict(true)},
		}, passes),
		"nothing done twice": {
			{"plan execute writer", nothing},
			{"plan execute writer resume 1 again", nothing},
			{"wait no_progress", Outcome{}},
		},
		"no verdict twice is never a pass": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", invalid},
			{"plan review reviewer resume 2 again", invalid},
			{"wait output_invalid", Outcome{}},
		},
		"a crash is tried again, then another agent takes over": slices.Concat([]turn{
			{"plan execute writer", errored(metadata.Crash)},
			{"plan execute writer after 1s", errored(metadata.Crash)},
			{"plan execute second", wrotten("p1")},
			{"plan review reviewer", verdict(true)},
		}, passes),
		"a wrong key goes to the other agent at once and stays there": {
			{"plan execute writer", errored(metadata.Auth)},
			{"plan execute second", wrotten("p1")},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"plan revise second resume 2", wrotten("p2")},
			{"plan review reviewer", verdict(true)},
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
		"a session that is gone is no crash": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"plan revise writer resume 1", errored(metadata.Crash)},
			{"plan revise writer", wrotten("p2")},
			{"plan review reviewer", verdict(true)},
			{"code execute writer", wrotten("c1")},
		},
		"a rule broken once is told, and no more": slices.Concat([]turn{
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleProtected)},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"plan revise writer resume 1", breaking(wrotten("p2"), metadata.RuleForm)},
			{"plan review reviewer", verdict(true)},
		}, passes),
		"the same rule broken by execute and by revise": {
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleForm, metadata.RuleProtected)},
			{"plan review reviewer", verdict(false, blocker("F1"))},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", verdict(false, blocker("F2"))},
			{"plan revise writer resume 3", breaking(wrotten("p3"), metadata.RuleProtected)},
			{"wait protected_path", Outcome{}},
		},
		"the same rule broken over a crash": {
			{"plan execute writer", breaking(nothing, metadata.RuleAccess)},
			{"plan execute writer resume 1 again", errored(metadata.Crash)},
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleAccess)},
			{"wait protected_path", Outcome{}},
		},
		"too much, then less": slices.Concat(planned, []turn{
			{"code execute writer", breaking(tooMuch, metadata.RuleSize)},
			{"code execute writer resume 3 again", wrotten("c1")},
		}, passes[1:]),
		"too much twice": slices.Concat(planned, []turn{
			{"code execute writer", breaking(tooMuch, metadata.RuleSize)},
			{"code execute writer resume 3 again", breaking(tooMuch, metadata.RuleSize)},
			{"wait patch_too_large", Outcome{}},
		}),
		"each phase has its own count": slices.Concat([]turn{
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleProtected)},
			{"plan review reviewer", verdict(true)},
			{"code execute writer", breaking(wrotten("c1"), metadata.RuleProtected)},
		}, passes[1:]),
		"what reviewers leave behind stops nothing": slices.Concat([]turn{
			{"plan execute writer", breaking(wrotten("p1"), metadata.RuleAccess)},
			{"plan review reviewer", breaking(verdict(false, blocker("F1")), metadata.RuleAccess)},
			{"plan revise writer resume 1", wrotten("p2")},
			{"plan review reviewer", breaking(verdict(true), metadata.RuleAccess)},
		}, passes),
		"a secret is worse than a rule": {
			{"plan execute writer", breaking(nothing, metadata.RuleProtected)},
			{"plan execute writer resume 1 again", breaking(Outcome{Status: metadata.Blocked, Code: metadata.SecretFound, Why: "x"}, metadata.RuleProtected)},
			{"wait secret_found", Outcome{}},
		},
		"interrupted": {
			{"plan execute writer", wrotten("p1")},
			{"plan review reviewer", Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Why: "told to stop"}},
		},
	}
	for name, turns := range tests {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			run := freshRun(plan)
			for i, turn := range turns {
				d := Decide(plan, run)
				if got := show(d); got != turn.want {
					t.Fatalf("turn %d: decided %q (%s), want %q", i+1, got, Say("en", d.Why), turn.want)
				}
				run = play(t, plan, run, d, turn.gets)
			}
		})
	}
}

func show(d Decision) string {
	if d.Final() {
		return fmt.Sprintf("%s %s", d.Do, d.Code)
	}
	s := d.Phase + " " + string(d.Do)
	if d.Agent != "" {
		s += " " + d.Agent
	}
	if d.Resume > 0 {
		s += fmt.Sprintf(" resume %d", d.Resume)
	}
	if d.Again {
		s += " again"
	}
	if d.Delay > 0 {
		s += " after " + d.Delay.Round(time.Second).String()
	}
	return s
}

func TestBudgetStopsBeforeTheNextCall(t *testing.T) {
	plan := testPlan()
	plan.Budget = pipelines.Budget{USD: 1}
	run := freshRun(plan)
	o := wrotten("p1")
	o.Usage.USD = 1.5
	run = play(t, plan, run, Decide(plan, run), o)
	d := Decide(plan, run)
	if d.Do != DoWait || d.Code != metadata.BudgetExceeded {
		t.Fatalf("decided %q, want to wait for a budget", show(d))
	}
	run = play(t, plan, run, d, Outcome{})
	if same := TakeUp(run, Start{At: t0}); same.Status != metadata.Waiting {
		t.Errorf("started again without a new allowance the run is %s, want it to keep waiting", same.Status)
	}
	more := TakeUp(run, Start{At: run.UpdatedAt, More: Allowance{USD: 2}})
	if d := Decide(plan, more); show(d) != "plan review reviewer" {
		t.Errorf("with a new allowance decided %q, want the review", show(d))
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
		run = play(t, plan, run, Decide(plan, run), errored(metadata.RateLimited))
		d := Decide(plan, run)
		if d.Delay < 800*time.Millisecond || d.Delay > time.Second {
			t.Errorf("the wait is %v, want from four fifths of a second to a second", d.Delay)
		}
		if again := Decide(plan, run); again != d {
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
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), Outcome{Status: metadata.Errored, Class: metadata.RateLimited, RetryAfter: 2 * time.Hour})
	d := Decide(plan, run)
	if show(d) != "fail api_error" || !strings.Contains(Say("en", d.Why), "wait 2h0m0s") || !strings.Contains(Say("en", d.Why), "1h0m0s of time left: start again after 2026-03-01 11:00 UTC") {
		t.Fatalf("decided %q: %s", show(d), Say("en", d.Why))
	}
	run = play(t, plan, run, d, Outcome{})
	next := TakeUp(run, Start{At: run.UpdatedAt})
	legal(t, run, next)
	if d := Decide(plan, next); show(d) != "plan execute writer" {
		t.Errorf("started again it decided %q: %s", show(d), Say("en", d.Why))
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
	run = play(t, plan, run, Decide(plan, run), o)
	if d := Decide(plan, run); show(d) != "wait budget_exceeded" {
		t.Errorf("decided %q: %s", show(d), Say("en", d.Why))
	}
}

// What there is to review is told as it is.
func TestWhyReview(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	check := func(want string) {
		t.Helper()
		if d := Decide(plan, run); d.Do != DoReview || Say("en", d.Why) != want {
			t.Errorf("decided %q: %q, want %q", show(d), Say("en", d.Why), want)
		}
	}
	run = play(t, plan, run, Decide(plan, run), wrotten("p1"))
	check("the work has not been reviewed yet")
	run = play(t, plan, run, Decide(plan, run), verdict(false, blocker("F1")))
	run = play(t, plan, run, Decide(plan, run), wrotten("p2"))
	check("the work has changed since the last review")
	run = play(t, plan, run, Decide(plan, run), verdict(true))
	r, err := Back(plan, run, Rewind{To: "plan", Step: metadata.Review, Reason: "look closer", Trigger: metadata.Manual, At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	run = r.Run
	check("taken back: look closer")
}

func TestRetryGivesAFreshAllowance(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Revisions = 0
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), wrotten("p1"))
	run = play(t, plan, run, Decide(plan, run), verdict(false, blocker("F1")))
	run = play(t, plan, run, Decide(plan, run), Outcome{})
	if run.Status != metadata.Failed {
		t.Fatalf("the run is %s, want failed", run.Status)
	}
	if _, err := Retry(plan, run, "nope", Start{At: t0}); err == nil || !strings.Contains(err.Error(), "plan, code, tell") {
		t.Errorf("retry of an unknown phase: %v, want the valid names", err)
	}
	next, err := Retry(plan, run, "", Start{At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	legal(t, run, next)
	if d := Decide(plan, next); show(d) != "plan revise writer resume 1" {
		t.Errorf("after retry decided %q, want a revise", show(d))
	}
}

func TestTakeUpAfterAKill(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), wrotten("p1"))
	killed := Begin(run, Decide(plan, run), Beginning{At: run.UpdatedAt, Session: "s-open"})
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
	if d := Decide(plan, next); show(d) != "plan review reviewer resume 2" {
		t.Errorf("decided %q, want the review to go on in its session", show(d))
	}
}

func TestBack(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	for range 7 { // up to the end of tell's execute
		d := Decide(plan, run)
		o := map[Do]Outcome{DoExecute: wrotten(d.Phase), DoReview: verdict(true), DoCheck: checked(true)}[d.Do]
		run = play(t, plan, run, d, o)
	}
	for _, step := range []metadata.Step{metadata.Execute, metadata.Review, metadata.Revise} {
		t.Run(string(step), func(t *testing.T) {
			r, err := Back(plan, run, Rewind{To: "plan", Step: step, Reason: "keep the API", Trigger: metadata.Manual, At: run.UpdatedAt})
			if err != nil {
				t.Fatal(err)
			}
			legal(t, run, r.Run)
			rec := r.Run.Phase("plan")
			if rec.Status != metadata.PhaseInProgress || rec.CurrentStep != step || rec.CompletedAt != nil || rec.RetryCount != 0 || rec.Generation != 1 {
				t.Errorf("the target is %+v", rec)
			}
			for _, name := range []string{"code", "tell"} {
				rec := r.Run.Phase(name)
				want := metadata.Phase{Name: name, Status: metadata.PhasePending, Generation: rec.Generation, Base: strings.Repeat("b", 40)}
				if diff := cmp.Diff(want, *rec); diff != "" {
					t.Errorf("%s is not as if it had never begun:\n%s", name, diff)
				}
			}
			if d := Decide(plan, r.Run); string(d.Do) != string(step) || d.Phase != "plan" {
				t.Errorf("decided %q, want %s of plan", show(d), step)
			}
			e := r.Run.RollbackHistory[0]
			if e.FromPhase != "tell" || e.FromStep != metadata.Review || e.ToStep != step {
				t.Errorf("the history entry is %+v", e)
			}
			if got := rollbackOf(r.Run, rec); got == nil || got.Reason != "keep the API" {
				t.Errorf("the next prompt gets %+v, want the reason", got)
			}
		})
	}
}

func TestBackIsRefused(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), Outcome{Status: metadata.Unsuccessful, Code: metadata.NoProgress, Why: "nothing"})
	tests := []struct {
		rw   Rewind
		want string
	}{
		{Rewind{To: "desing", Step: metadata.Revise, Reason: "r"}, "plan, code, tell"},
		{Rewind{To: "plan", Step: "rewrite", Reason: "r"}, "execute, review, revise"},
		{Rewind{To: "plan", Step: metadata.Revise, Reason: "  \n"}, "needs a reason"},
		{Rewind{To: "code", Step: metadata.Revise, Reason: "r"}, "never started"},
		{Rewind{To: "plan", Step: metadata.Review, Reason: "r"}, "nothing that could be reviewed"},
		{Rewind{To: "plan", Step: metadata.Revise, Reason: "r", From: "x"}, "no phase \"x\""},
	}
	for _, test := range tests {
		if _, err := Back(plan, run, test.rw); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one with %q", test.rw, err, test.want)
		}
	}
	r, err := Back(plan, run, Rewind{To: "plan", Step: metadata.Revise, Reason: "r", At: t0})
	if err != nil {
		t.Fatal(err)
	}
	if d := Decide(plan, r.Run); d.Do != DoExecute {
		t.Errorf("with nothing written yet decided %q, want execute", show(d))
	}
}

// TestAnyLifeEnds walks random outcomes, kills, rollbacks and retries, and
// holds the promises of the package after every move.
func TestAnyLifeEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := testPlan()
		for i := range plan.Phases {
			plan.Phases[i].Revisions = rapid.IntRange(0, 3).Draw(rt, "revisions")
			plan.Phases[i].NoReview = rapid.IntRange(0, 9).Draw(rt, "no review") == 0
			plan.Phases[i].ReviseAlways = rapid.Bool().Draw(rt, "revise always")
		}
		run := freshRun(plan)
		people := 6 // how often somebody steps in
		for moves := 0; ; moves++ {
			if moves > 2000 {
				rt.Fatalf("the run does not end: %s", show(Decide(plan, run)))
			}
			if run.Status == metadata.Completed {
				break
			}
			if run.Status != metadata.Running {
				if people == 0 {
					break
				}
				people--
				run = stepIn(rt, plan, run)
				continue
			}
			d := Decide(plan, run)
			promise(rt, plan, run, d)
			run = play(rt, plan, run, d, draw(rt, d, moves))
			for _, rec := range run.Phases {
				if rec.Status == metadata.PhaseCompleted {
					completedRightly(rt, plan, rec)
				}
			}
		}
	})
}

func completedRightly(rt *rapid.T, plan *pipelines.Pipeline, rec metadata.Phase) {
	p := plan.Phase(rec.Name)
	if !p.NoReview && (rec.Verdict == nil || rec.Verdict.Verdict == metadata.Fail) {
		rt.Fatalf("%s is completed without a passing verdict", rec.Name)
	}
	if len(p.Checks) > 0 && (rec.Checks == nil || rec.Checks.Written != rec.Written || checkFails(&rec)) {
		rt.Fatalf("%s is completed without passing checks", rec.Name)
	}
}

// promise holds a decision against what may come at all.
func promise(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run, d Decision) {
	if d != Decide(plan, run) {
		rt.Fatalf("Decide is not a function")
	}
	for _, r := range []metadata.Rule{metadata.RuleAccess, metadata.RuleProtected, metadata.RuleForm, metadata.RuleSize} {
		if n := broken(run, d.Phase, r); n > 2 || n == 2 && !d.Final() {
			rt.Fatalf("%s was broken %d times, and then %q is decided", r, n, show(d))
		} else if n == 2 && (d.Do != DoWait || d.Code != metadata.ProtectedPath && d.Code != metadata.PatchTooLarge) {
			rt.Fatalf("%s was broken twice, and then %q is decided", r, show(d))
		}
	}
	if d.Do != DoRevise {
		return
	}
	rec := run.Phase(d.Phase)
	if rec.RetryCount > plan.Phase(d.Phase).Revisions {
		rt.Fatalf("%s is revised more often than allowed", d.Phase)
	}
	back := rec.RollbackContext != nil
	reviewed := rec.Verdict != nil && (rec.Verdict.Verdict != metadata.Pass)
	if !back && !reviewed && !checkFails(rec) {
		rt.Fatalf("%s is revised without a review or a rollback before it", d.Phase)
	}
}

// broken counts the writing steps that broke a rule since a person last gave
// the phase a fresh allowance.
func broken(run metadata.Run, phase string, rule metadata.Rule) int {
	n := 0
	for _, a := range run.Attempts {
		rec := run.Phase(phase)
		if rec != nil && a.Phase == phase && a.Generation == rec.Generation && a.N > run.AllowanceFrom && a.Step != metadata.Review &&
			slices.Contains(strings.Split(a.Broke, ","), string(rule)) {
			n++
		}
	}
	return n
}

func draw(rt *rapid.T, d Decision, n int) Outcome {
	if d.Final() {
		return Outcome{}
	}
	switch rapid.IntRange(0, 9).Draw(rt, "kind") {
	case 0:
		return errored(rapid.SampledFrom([]metadata.Class{metadata.Crash, metadata.Auth, metadata.RateLimited, metadata.Missing, metadata.Network, metadata.StepTimeout, metadata.IdleTimeout}).Draw(rt, "class"))
	case 1:
		return Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: "killed"}
	case 2:
		return Outcome{Status: metadata.Unsuccessful, Code: metadata.NoProgress, Why: "nothing"}
	}
	switch d.Do {
	case DoCheck:
		return checked(rapid.Bool().Draw(rt, "check passes"))
	case DoReview:
		o := verdict(rapid.Bool().Draw(rt, "gate passes"))
		if rapid.Bool().Draw(rt, "finding") {
			f := blocker(fmt.Sprintf("F%d", rapid.IntRange(1, 3).Draw(rt, "id")))
			f.Severity = rapid.SampledFrom([]metadata.Severity{metadata.Blocker, metadata.Suggestion}).Draw(rt, "severity")
			f.Status = rapid.SampledFrom([]metadata.FindingStatus{metadata.NewFinding, metadata.StillOpen, metadata.Fixed}).Draw(rt, "status")
			o.Verdict.Findings = append(o.Verdict.Findings, f)
		}
		o.Work = fmt.Sprint(n)
		return o
	}
	o := wrotten(fmt.Sprint("w", n))
	switch rapid.IntRange(0, 9).Draw(rt, "rule") {
	case 0:
		return breaking(o, metadata.RuleProtected)
	case 1:
		return breaking(o, metadata.RuleAccess, metadata.RuleForm)
	case 2:
		return breaking(Outcome{Status: metadata.Unsuccessful, Code: metadata.PatchTooLarge, Why: "too much"}, metadata.RuleSize)
	}
	return o
}

// stepIn is a person who starts the run again, retries, or takes it back.
func stepIn(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run) metadata.Run {
	switch rapid.IntRange(0, 2).Draw(rt, "person") {
	case 0:
		next := TakeUp(run, Start{At: run.UpdatedAt})
		legal(rt, run, next)
		return next
	case 1:
		if next, err := Retry(plan, run, "", Start{At: run.UpdatedAt}); err == nil {
			legal(rt, run, next)
			return next
		}
		return run
	}
	to := rapid.SampledFrom(names(run)).Draw(rt, "to")
	r, err := Back(plan, run, Rewind{To: to, Step: metadata.Revise, Reason: "why", Trigger: metadata.Manual, At: run.UpdatedAt})
	if err != nil {
		return run
	}
	legal(rt, run, r.Run)
	if len(r.Run.RollbackHistory) != len(run.RollbackHistory)+1 {
		rt.Fatalf("the history did not grow")
	}
	if d := Decide(plan, r.Run); d.Phase != to || rollbackOf(r.Run, r.Run.Phase(d.Phase)) == nil {
		rt.Fatalf("after a rollback to %s decided %q: the reason would not arrive", to, show(d))
	}
	return r.Run
}
