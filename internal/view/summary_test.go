package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// told is what a result says of one step: how it went, attempts, retries, checks, and the error.
func told(s SummaryStep) string {
	return fmt.Sprint(s.Status, " ", s.Attempts, " ", s.Retries, " ", len(s.Checks), " ", s.Error)
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
		want     string
	}{
		"a check that failed": {
			[]metadata.Attempt{done(metadata.Check, metadata.Succeeded, "", "check lint exited with 1")},
			&metadata.Checks{Results: []metadata.CheckResult{red, lint}},
			"failed 1 0 2 check unit exited with 3; check lint exited with 1",
		},
		"a check that passed after a revise": {
			[]metadata.Attempt{done(metadata.Check, metadata.Succeeded, "", "check unit exited with 3"), done(metadata.Check, metadata.Succeeded, "", "")},
			&metadata.Checks{Results: []metadata.CheckResult{green}},
			"success 2 0 1 ",
		},
		"a failed check of work that was taken back": {
			[]metadata.Attempt{done(metadata.Check, metadata.Succeeded, "", "check unit exited with 3")},
			nil,
			"failed 1 0 0 check unit exited with 3",
		},
		"a check that was interrupted": {
			[]metadata.Attempt{done(metadata.Check, metadata.Cut, metadata.RunCancelled, "interrupted")},
			nil,
			"failed 1 1 0 interrupted",
		},
		"checks of older work": {
			[]metadata.Attempt{done(metadata.Check, metadata.Started, "", "")},
			&metadata.Checks{Written: 1, Results: []metadata.CheckResult{red}},
			"running 1 0 0 ",
		},
		"a question": {
			[]metadata.Attempt{done(metadata.Execute, metadata.Blocked, metadata.AwaitingPerson, "it asks 1 question")},
			nil,
			"waiting 1 0 0 ",
		},
		"a question that was answered": {
			[]metadata.Attempt{done(metadata.Execute, metadata.Blocked, metadata.AwaitingPerson, "it asks 1 question"), done(metadata.Execute, metadata.Succeeded, "", "")},
			nil,
			"success 2 0 0 ",
		},
		"at work": {[]metadata.Attempt{done(metadata.Execute, metadata.Started, "", "")}, nil, "running 1 0 0 "},
		"a crash, and once more": {
			[]metadata.Attempt{done(metadata.Execute, metadata.Errored, metadata.AgentFailed, "gone"), done(metadata.Execute, metadata.Succeeded, "", "")},
			nil,
			"retried 2 1 0 ",
		},
		"a crash": {[]metadata.Attempt{done(metadata.Execute, metadata.Errored, metadata.AgentFailed, "gone")}, nil, "failed 1 1 0 gone"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := metadata.Phase{Name: "code", Status: metadata.PhaseInProgress, Checks: tt.checks}
			got := stepsOf(metadata.Run{Attempts: tt.attempts}, rec)
			if len(got) != 1 {
				t.Fatalf("there are %d steps", len(got))
			}
			if is := told(got[0]); is != tt.want {
				t.Errorf("it is %q, want %q", is, tt.want)
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

// What a run has none of is an empty list, and amounts are as people write them.
func TestSummaryForPrograms(t *testing.T) {
	plan := &pipelines.Pipeline{Phases: []pipelines.Phase{{Name: "code"}, {Name: "tell"}}}
	run := metadata.Run{
		Status: metadata.Running, CurrentPhase: "code", Cost: metadata.Cost{USD: 0.1 + 0.2},
		Phases: metadata.Phases{{Name: "code", Status: metadata.PhaseInProgress, CurrentStep: metadata.Execute}, {Name: "tell", Status: metadata.PhasePending}},
	}
	text := func() string {
		t.Helper()
		data, err := json.Marshal(Result(phases.On(plan, run)))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := text(); strings.Contains(got, "null") || !strings.Contains(got, `"total_cost_usd":0.3,`) || !strings.Contains(got, `"questions":[]`) {
		t.Errorf("%s", got)
	}
	if got := Result(phases.On(plan, metadata.Run{Status: metadata.Running})); got.Phases[1].Status != metadata.PhasePending {
		t.Errorf("a phase that only the plan knows is %+v", got.Phases[1])
	}
}
