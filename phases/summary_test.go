package phases

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// told is what a result says of one step, without what it used.
type told struct {
	Status   string
	Attempts int
	Retries  int
	Error    string
	Checks   int
}

func TestStepsOf(t *testing.T) {
	done := func(step metadata.Step, s metadata.AttemptStatus, code metadata.Code, why string) metadata.Attempt {
		return metadata.Attempt{Phase: "code", Step: step, Status: s, Code: code, Why: metadata.Said(why)}
	}
	red := metadata.CheckResult{Name: "unit", ExitCode: 3}
	lint := metadata.CheckResult{Name: "lint", ExitCode: 1}
	green := metadata.CheckResult{Name: "unit", Pass: true}
	for name, tt := range map[string]struct {
		attempts []metadata.Attempt
		checks   *metadata.Checks
		want     told
	}{
		"a check that failed": {
			[]metadata.Attempt{done(metadata.Check, metadata.Succeeded, "", "check lint exited with 1")},
			&metadata.Checks{Results: []metadata.CheckResult{red, lint}},
			told{"failed", 1, 0, "check unit exited with 3; check lint exited with 1", 2},
		},
		"a check that passed after a revise": {
			[]metadata.Attempt{done(metadata.Check, metadata.Succeeded, "", "check unit exited with 3"), done(metadata.Check, metadata.Succeeded, "", "")},
			&metadata.Checks{Results: []metadata.CheckResult{green}},
			told{"success", 2, 0, "", 1},
		},
		"a failed check of work that was taken back": {
			[]metadata.Attempt{done(metadata.Check, metadata.Succeeded, "", "check unit exited with 3")},
			nil,
			told{"failed", 1, 0, "check unit exited with 3", 0},
		},
		"a check that was interrupted": {
			[]metadata.Attempt{done(metadata.Check, metadata.Cut, metadata.RunCancelled, "interrupted")},
			nil,
			told{"failed", 1, 1, "interrupted", 0},
		},
		"checks of older work": {
			[]metadata.Attempt{done(metadata.Check, metadata.Started, "", "")},
			&metadata.Checks{Written: 1, Results: []metadata.CheckResult{red}},
			told{"running", 1, 0, "", 0},
		},
		"a question": {
			[]metadata.Attempt{done(metadata.Execute, metadata.Blocked, metadata.AwaitingPerson, "it asks 1 question")},
			nil,
			told{"waiting", 1, 0, "", 0},
		},
		"a question that was answered": {
			[]metadata.Attempt{done(metadata.Execute, metadata.Blocked, metadata.AwaitingPerson, "it asks 1 question"), done(metadata.Execute, metadata.Succeeded, "", "")},
			nil,
			told{"success", 2, 0, "", 0},
		},
		"at work": {[]metadata.Attempt{done(metadata.Execute, metadata.Started, "", "")}, nil, told{"running", 1, 0, "", 0}},
		"a crash, and once more": {
			[]metadata.Attempt{done(metadata.Execute, metadata.Errored, metadata.AgentFailed, "gone"), done(metadata.Execute, metadata.Succeeded, "", "")},
			nil,
			told{"retried", 2, 1, "", 0},
		},
		"a crash": {[]metadata.Attempt{done(metadata.Execute, metadata.Errored, metadata.AgentFailed, "gone")}, nil, told{"failed", 1, 1, "gone", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			rec := metadata.Phase{Name: "code", Status: metadata.PhaseInProgress, Checks: tt.checks}
			got := stepsOf(metadata.Run{Attempts: tt.attempts}, rec)
			if len(got) != 1 {
				t.Fatalf("there are %d steps", len(got))
			}
			is := told{got[0].Status, got[0].Attempts, got[0].Retries, got[0].Error, len(got[0].Checks)}
			if diff := cmp.Diff(tt.want, is); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A step that judges says what it found beside how it went: a review that was
// done is a success also where the work is not.
func TestVerdictOfSteps(t *testing.T) {
	at := func(step metadata.Step) metadata.Attempt {
		return metadata.Attempt{Phase: "code", Step: step, Status: metadata.Succeeded}
	}
	run := metadata.Run{Attempts: []metadata.Attempt{at(metadata.Execute), at(metadata.Check), at(metadata.Review)}}
	rec := metadata.Phase{
		Name: "code", Status: metadata.PhaseFailed, ReviewResult: "fail",
		Checks: &metadata.Checks{Results: []metadata.CheckResult{{Name: "unit", Pass: true}}},
	}
	var got []string
	for _, s := range stepsOf(run, rec) {
		got = append(got, string(s.Step)+" "+s.Status+" "+string(s.Verdict))
	}
	if diff := cmp.Diff([]string{"execute success ", "check success pass", "review success fail"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rec.Checks.Results[0].Pass = false
	if s := stepsOf(run, rec)[1]; s.Verdict != metadata.Fail || s.Status != "failed" {
		t.Errorf("a check that failed is %+v", s)
	}
	rec.Checks, rec.ReviewResult = nil, "" // the work was taken back
	for _, s := range stepsOf(run, rec) {
		if s.Verdict != "" {
			t.Errorf("%s has the verdict %s of work that is gone", s.Step, s.Verdict)
		}
	}
}

// What a run has none of is an empty list; amounts are as people write them; and
// no list or text grows with the history.
func TestSummaryForPrograms(t *testing.T) {
	plan := &pipelines.Pipeline{Phases: []pipelines.Phase{{Name: "code"}, {Name: "tell"}}}
	run := metadata.Run{
		Status: metadata.Running, CurrentPhase: "code", Cost: metadata.Cost{USD: 0.1 + 0.2},
		Phases: metadata.Phases{{Name: "code", Status: metadata.PhaseInProgress, CurrentStep: metadata.Execute}, {Name: "tell", Status: metadata.PhasePending}},
	}
	text := func() string {
		t.Helper()
		data, err := json.Marshal(Summarize(plan, run))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := text(); strings.Contains(got, "null") || !strings.Contains(got, `"total_cost_usd":0.3,`) || !strings.Contains(got, `"questions":[]`) {
		t.Errorf("%s", got)
	}
	long := strings.Repeat("長い", 100_000)
	verdict := &metadata.Verdict{Verdict: metadata.Fail}
	for range 1000 {
		verdict.Findings = append(verdict.Findings, metadata.Finding{Severity: metadata.Blocker, Title: long, Problem: long, Solution: long})
		verdict.Gates = append(verdict.Gates, metadata.Gate{Gate: "It holds", Why: long})
		run.RollbackHistory = append(run.RollbackHistory, metadata.Rollback{Reason: long})
		run.Tasks = append(run.Tasks, metadata.Task{Title: long})
	}
	run.Phases[0].Verdict = verdict
	if got := len(text()); got > 1<<20 {
		t.Errorf("the result has %d bytes", got)
	}
	if got := Summarize(plan, metadata.Run{Status: metadata.Running}); got.Phases[1].Status != metadata.PhasePending {
		t.Errorf("a phase that only the plan knows is %+v", got.Phases[1])
	}
}

// A run is where it stopped, what it works on, or what comes next.
func TestAt(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Approve = "write"
	run := freshRun(plan)
	at := func(when, want string) {
		t.Helper()
		if got := At(plan, run); got != want {
			t.Errorf("%s the run is at %q, want %q", when, got, want)
		}
	}
	at("at first", "plan")
	run = play(t, plan, run, Decide(plan, run), wrotten("p1"))
	run = play(t, plan, run, Decide(plan, run), verdict(true))
	run = play(t, plan, run, Decide(plan, run), Outcome{})
	at("while it waits", "plan")
	run, err := Approve(plan, run, Command{By: "ada", At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	at("after the approval", "code")
	if _, err = Approve(plan, run, Command{At: run.UpdatedAt}); err == nil || !strings.HasSuffix(err.Error(), "the run is running at code") {
		t.Errorf("a second approval: %v", err)
	}
	if _, err = Back(plan, run, Rewind{To: "tell", Step: metadata.Revise, Reason: "why"}); err == nil || !strings.HasSuffix(err.Error(), "the run is at code") {
		t.Errorf("a rollback to what has not begun: %v", err)
	}
	run = Begin(run, Decide(plan, run), Beginning{At: run.UpdatedAt})
	at("while it works", "code")
	if got := Summarize(plan, metadata.Run{Status: metadata.Completed, CurrentPhase: "tell"}).Phase; got != "tell" {
		t.Errorf("a completed run is at %q", got)
	}
}

// What was proposed can be carried out: where it was the reason to ask.
func TestProposed(t *testing.T) {
	plan := testPlan()
	plan.Phases[1].Report, plan.Phases[1].ReportSchema = "{...}", json.RawMessage(`{"properties":{"rollback":{}}}`)
	plan.Rules = []pipelines.Rule{{After: "code", Then: pipelines.Then{Rollback: &pipelines.RuleRollback{To: "code", Step: "execute", Reason: "too large"}}}}
	waiting := func(report, ask string) metadata.Run {
		run := freshRun(plan)
		for range 5 {
			d, o := Decide(plan, run), wrotten("w")
			if d.Do == DoReview {
				o = verdict(true)
			} else if d.Do == DoCheck {
				o = checked(true)
			}
			run = play(t, plan, run, d, o)
		}
		rec := run.Phase("code")
		rec.Report, rec.Approve, rec.Ask = json.RawMessage(report), "maintain", metadata.Said(ask)
		return run
	}
	for name, tt := range map[string]struct{ report, ask, want string }{
		"by a report":         {`{"rollback":{"phase":"plan","step":"revise","reason":"no paging"}}`, "it proposes, with low confidence: /rollback plan:revise no paging", "plan revise no paging"},
		"without a step":      {`{"rollback":{"phase":"plan","reason":"no paging\nat all"}}`, "it proposes, with low confidence: /rollback plan no paging", "plan revise no paging\nat all"},
		"by a rule":           {`{}`, "it went back by itself 3 times; once more would be: /rollback code:execute too large", "code execute too large"},
		"not what was asked":  {`{"rollback":{"phase":"plan","step":"revise","reason":"no paging"}}`, "rule 2 could not be evaluated", ""},
		"to no phase":         {`{"rollback":{"phase":"plam","step":"revise","reason":"no"}}`, `it asks for /rollback plam:revise no, but there is no phase "plam"`, ""},
		"to what comes later": {`{"rollback":{"phase":"tell","step":"revise","reason":"no"}}`, "it asks for /rollback tell:revise no, but it has never started", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if rw, ok := Proposed(plan, waiting(tt.report, tt.ask)); ok {
				got = strings.Join([]string{rw.To, string(rw.Step), rw.Reason}, " ")
			}
			if got != tt.want {
				t.Errorf("%q is proposed, want %q", got, tt.want)
			}
		})
	}
	if _, ok := Proposed(plan, freshRun(plan)); ok {
		t.Error("something is proposed about a run that waits for nothing")
	}
}

func TestRounded(t *testing.T) {
	for in, want := range map[float64]float64{0.1 + 0.2: 0.3, 0.12000000000000001: 0.12, -0.1 - 0.2: -0.3, 1e300: 1e300, 0.0000004: 0, 2.5: 2.5} {
		if got := Rounded(in); got != want {
			t.Errorf("%v becomes %v, want %v", in, got, want)
		}
	}
}

// The sentence says why, and what the program complained stands beside it.
func TestLastWords(t *testing.T) {
	ae := &AgentError{Agent: "own", Err: errors.New("it ended: second line"), Hint: "look", Stderr: "boom\nsecond line\n"}
	if got, want := agentWhy(ae), "own: it ended: second line; look"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	long := strings.Repeat("語", 900)
	for in, want := range map[string]string{
		"  boom\nsecond line\n": "boom\nsecond line",
		long + "\n" + long:      long,
		long + long:             "…" + strings.Repeat("語", mostStderr),
		"a\x00b\xff":            "ab\uFFFD",
	} {
		if got := lastWords(in); got != want {
			t.Errorf("%.20q becomes %.20q, want %.20q", in, got, want)
		}
	}
}
