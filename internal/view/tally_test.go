package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-ci/reprise/metadata"
)

var t0 = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func attempt(n int, step metadata.Step, ruling metadata.Ruling, failed ...string) metadata.Attempt {
	at := t0.Add(time.Duration(n) * time.Minute)
	agent := "writer"
	if step == metadata.Review {
		agent = "judge"
	}
	return metadata.Attempt{
		N: n, Phase: "design", Step: step, Agent: agent, Model: "m", Status: metadata.Succeeded, Verdict: ruling, FailedGates: failed,
		StartedAt: at, EndedAt: &at, DurationMS: 1000, Usage: metadata.Usage{InputTokens: 1, CachedTokens: 2, OutputTokens: 3, USD: 0.25},
	}
}

func TestOf(t *testing.T) {
	taken := t0.Add(10 * time.Minute)
	first := metadata.Run{
		IssueNumber: "7", Status: metadata.Completed, CreatedAt: t0, UpdatedAt: t0.Add(time.Hour), Cost: metadata.Cost{USD: 2},
		Phases: metadata.Phases{{Name: "design", Status: metadata.PhaseCompleted, Verdict: &metadata.Verdict{Gates: []metadata.Gate{{Gate: "Sound", Pass: true}, {Gate: "Short", Pass: true}}}}},
		Attempts: []metadata.Attempt{
			attempt(1, metadata.Execute, ""), attempt(2, metadata.Review, metadata.Fail, "Sound"), attempt(3, metadata.Revise, ""),
			attempt(4, metadata.Review, metadata.PassWithSuggestions), attempt(5, metadata.Check, metadata.Fail),
		},
		RollbackHistory: []metadata.Rollback{
			{Timestamp: t0, ToPhase: "design", Reason: "before any review", TriggeredBy: metadata.Manual},
			{Timestamp: taken, ToPhase: "design", Reason: "it is no REST", TriggeredBy: metadata.Manual, By: "ada"},
			{Timestamp: taken.Add(1), ToPhase: "design", Reason: "a comment says it", TriggeredBy: metadata.Manual},
			{Timestamp: taken.Add(2), ToPhase: "design", Reason: "a rule", TriggeredBy: metadata.Automatic},
		},
		Reviews: []metadata.PullReview{{At: taken.Add(1), By: "max", Phase: "design", Comments: []metadata.ReviewComment{{Finding: metadata.Finding{Problem: "off by one", File: "a.go"}}}}},
	}
	first.Attempts[0].Usage.Unknown = true
	blocked := attempt(1, metadata.Execute, "")
	blocked.Status = metadata.Blocked
	second := metadata.Run{
		IssueNumber: "8", Status: metadata.Failed, Stop: &metadata.Stop{Code: metadata.ReviewFailed, Phase: "design"}, Cost: metadata.Cost{USD: 1},
		Phases:          metadata.Phases{{Name: "design", Status: metadata.PhaseFailed}},
		Attempts:        []metadata.Attempt{blocked, attempt(2, metadata.Review, metadata.Fail, "Sound")},
		RollbackHistory: []metadata.Rollback{{Timestamp: taken, ToPhase: "design", Reason: "the review said so, too", TriggeredBy: metadata.Manual}},
	}
	got := TallyOf([]metadata.Run{first, second})
	want := Tally{
		Runs: 2, Statuses: map[string]int{"completed": 1, "failed": 1}, Dollars: Dollars{USD: 3, Unpriced: 1}, Stops: map[string]int{"review_failed": 1},
		Completed: Sum{Runs: 1, Dollars: Dollars{USD: 2, Unpriced: 1}, Seconds: 3600, Attempts: 4},
		Phases: []Phase{{
			Name: "design", Runs: 2, Failed: 1, Reviews: 3, Rejected: 2, Checks: 1, ChecksFail: 1, Unusable: 1, ByPeople: 4, ByItself: 1, Dollars: Dollars{1.75, 1}, Seconds: 7,
		}},
		Gates:     []Gate{{"design", "Sound", 3, 2}, {"design", "Short", 2, 0}},
		Reviewers: []Reviewer{{"judge", "m", 3, 2, 2}},
		Models:    []Model{{"m", 6, 36, Dollars{1.5, 1}}},
		Missed: []Missed{
			{Issue: "7", Phase: "design", At: taken.Add(1), By: "max", What: "off by one", File: "a.go", Attempt: 4, Agent: "judge", Model: "m"},
			{Issue: "7", Phase: "design", At: taken, By: "ada", What: "it is no REST", Attempt: 4, Agent: "judge", Model: "m"},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none := TallyOf(nil); none.Phases == nil || none.Missed == nil || none.Completed.USD != 0 {
		t.Errorf("of no runs: %+v", none)
	}
}

// Sums of dollars read as such in JSON, too: 0.3, and no noise behind it.
func TestSumsAreRounded(t *testing.T) {
	var runs []metadata.Run
	for n, usd := range []float64{0.1, 0.2} {
		a := attempt(n+1, metadata.Execute, "")
		a.Usage.USD = usd
		runs = append(runs, metadata.Run{Status: metadata.Completed, Cost: metadata.Cost{USD: usd}, Phases: metadata.Phases{{Name: "design"}}, Attempts: []metadata.Attempt{a}})
	}
	if got := TallyOf(runs); got.USD != 0.3 || got.Phases[0].USD != 0.3 || got.Models[0].USD != 0.3 || got.Completed.USD != 0.15 {
		t.Errorf("in all %v, of the phase %v, of the model %v, at the median %v", got.USD, got.Phases[0].USD, got.Models[0].USD, got.Completed.USD)
	}
}
