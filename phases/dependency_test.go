package phases

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

var at = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// waiting is the run of issue 7, whose plan waits for others.
func waitingDependency(report string, more ...metadata.Reason) metadata.Run {
	ask := metadata.All(append(more, metadata.Because("waits_for_issues", "issues", []string{"#3", "#4"}))...)
	return metadata.Run{
		IssueNumber: "7", Status: metadata.Waiting, CurrentPhase: "plan",
		Stop:   &metadata.Stop{Code: metadata.AwaitingPerson, Phase: "plan", Why: metadata.Because("approval_needed", "phase", "plan", "role", "maintain", "why", ask), At: at},
		Phases: []metadata.Phase{{Name: "plan", Status: metadata.PhaseCompleted, Approve: "maintain", Ask: ask, Report: json.RawMessage(report)}},
	}
}

func TestOf(t *testing.T) {
	for report, want := range map[string][]int{
		`{"depends_on": [3, "#4", "5", 3]}`:                      {3, 4, 5},
		`{"depends_on": [3, "the other"]}`:                       nil,
		`{"depends_on": [0]}`:                                    nil,
		`{"depends_on": [` + strings.Repeat("3, ", most) + `4]}`: nil,
		`{}`: nil,
	} {
		if phase, got := AwaitedBy(waitingDependency(report)); !slices.Equal(got, want) || len(want) > 0 && phase != "plan" {
			t.Errorf("%s: %s waits for %v, want %v", report, phase, got, want)
		}
	}
	run := waitingDependency(`{"depends_on": [3]}`)
	run.Phases[0].Ask = metadata.Because("approval_by_pipeline")
	if _, got := AwaitedBy(run); got != nil {
		t.Errorf("a run that waits for a person waits for %v", got)
	}
}

func TestLooked(t *testing.T) {
	run := waitingDependency(`{"depends_on": [3, 4]}`)
	three, four := AwaitedIssue{Number: 3, Title: "Parse\nit"}, AwaitedIssue{Number: 4}
	named, changed := LookedAtIssues(run, "plan", []AwaitedIssue{three, four}, at)
	if want := metadata.Because("waits_for_issues", "issues", []string{"#3 (Parse it)", "#4"}); !changed || named.Phases[0].Ask != want || named.Stop.Why.Value("why") != want || named.Status != metadata.Waiting {
		t.Errorf("the run is %s, %v", named.Status, named.Phases[0].Ask)
	}
	if _, changed := LookedAtIssues(named, "plan", []AwaitedIssue{three, four}, at); changed {
		t.Error("it changes though nothing is new")
	}
	three.Closed = true
	part, _ := LookedAtIssues(named, "plan", []AwaitedIssue{three, four}, at)
	if want := metadata.Because("waits_for_issues", "issues", []string{"#4"}); part.Phases[0].Ask != want {
		t.Errorf("one is closed, and it waits for %v", part.Phases[0].Ask)
	}
	four.Closed = true
	free, _ := LookedAtIssues(named, "plan", []AwaitedIssue{three, four}, at)
	if free.Status != metadata.Running || free.Stop != nil || free.Phases[0].Ask != "" || free.Phases[0].Approve != "" || free.Decisions[0].Why.Code() != "issues_closed" {
		t.Errorf("with both closed the run is %s, %+v", free.Status, free.Phases[0])
	}
	both, _ := LookedAtIssues(waitingDependency(`{"depends_on": [3]}`, metadata.Because("approval_by_rule")), "plan", []AwaitedIssue{three}, at)
	if both.Status != metadata.Waiting || both.Phases[0].Approve != "maintain" || both.Phases[0].Ask != metadata.Because("approval_by_rule") {
		t.Errorf("what else has to be approved is lost: %s, %+v", both.Status, both.Phases[0])
	}
}
