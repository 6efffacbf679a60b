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
	named, changed := LookedAtIssues(run, "plan", []AwaitedIssue{three, four}, nil, at)
	if want := metadata.Because("waits_for_issues", "issues", []string{"#3 (Parse it)", "#4"}); !changed || named.Phases[0].Ask != want || named.Stop.Why.Value("why") != want || named.Status != metadata.Waiting {
		t.Errorf("the run is %s, %v", named.Status, named.Phases[0].Ask)
	}
	if _, changed := LookedAtIssues(named, "plan", []AwaitedIssue{three, four}, nil, at); changed {
		t.Error("it changes though nothing is new")
	}
	three.Closed = true
	part, _ := LookedAtIssues(named, "plan", []AwaitedIssue{three, four}, nil, at)
	if want := metadata.Because("waits_for_issues", "issues", []string{"#4"}); part.Phases[0].Ask != want {
		t.Errorf("one is closed, and it waits for %v", part.Phases[0].Ask)
	}
	round, _ := LookedAtIssues(run, "plan", []AwaitedIssue{three, four}, []int{7, 4, 7}, at)
	if want := metadata.Because("waits_in_circle", "issues", []string{"#7", "#4", "#7"}); round.Phases[0].Ask != want || round.Status != metadata.Waiting {
		t.Errorf("in a circle it waits for %v", round.Phases[0].Ask)
	}
	four.Closed = true
	free, _ := LookedAtIssues(round, "plan", []AwaitedIssue{three, four}, nil, at)
	if free.Status != metadata.Running || free.Stop != nil || free.Phases[0].Ask != "" || free.Phases[0].Approve != "" || free.Decisions[0].Why.Code() != "issues_closed" {
		t.Errorf("with both closed the run is %s, %+v", free.Status, free.Phases[0])
	}
	both, _ := LookedAtIssues(waitingDependency(`{"depends_on": [3]}`, metadata.Because("approval_by_rule")), "plan", []AwaitedIssue{three}, nil, at)
	if both.Status != metadata.Waiting || both.Phases[0].Approve != "maintain" || both.Phases[0].Ask != metadata.Because("approval_by_rule") {
		t.Errorf("what else has to be approved is lost: %s, %+v", both.Status, both.Phases[0])
	}
}

func TestCircle(t *testing.T) {
	asked := 0
	of := func(n int) []int {
		asked++
		return map[int][]int{3: {4, 5}, 4: {3}, 5: {6, 7}, 8: {9}, 9: {8}}[n]
	}
	for _, tt := range []struct{ first, want []int }{
		{[]int{3}, []int{7, 3, 5, 7}},
		{[]int{7}, []int{7, 7}},
		{[]int{8}, nil},
		{nil, nil},
	} {
		if got := DependencyCircle(7, tt.first, of); !slices.Equal(got, tt.want) {
			t.Errorf("from %v: %v, want %v", tt.first, got, tt.want)
		}
	}
	asked = 0
	endless := func(n int) []int { asked++; return []int{2*n + 1, 2*n + 2} }
	if got := DependencyCircle(0, []int{1}, endless); got != nil || asked > most {
		t.Errorf("%v, after %d runs were asked", got, asked)
	}
}
