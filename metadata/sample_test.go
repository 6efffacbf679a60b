package metadata

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// noon is when the sample run happens.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func ptr[T any](v T) *T { return &v }

// sample is a valid run that was rolled back once, is revising again and has
// stopped at its budget. Every field of every type is filled somewhere in it.
func sample() Run {
	commit := strings.Repeat("0123456789", 4)
	link := "https://github.com/octo/hello/issues/7"
	verdict := func(r Ruling, status FindingStatus) *Verdict {
		return &Verdict{
			Unbound: true,
			Verdict: r, Commit: commit,
			Gates: []Gate{{Gate: "The API stays REST", Pass: r != Fail, Why: "see design.md <line 12>"}},
			Findings: []Finding{{
				ID: "F1", Severity: Blocker, Title: "No paging", Problem: "lists are whole", Impact: "slow & large",
				Solution: "add a cursor", File: "api/list.go", Line: 12, Status: status, Proof: "go test ./api", Late: Because(LateProven, "run", "go test ./api"),
			}},
		}
	}
	return Run{
		Schema: Schema, Revision: 9,
		IssueNumber: "7", IssueURL: link, IssueTitle: "Say hello", Repository: "octo/hello",
		WorkflowVersion: "1.0.0", Language: "en", BranchName: "reprise/issue-7", BaseCommit: commit,
		CurrentPhase: "design", Status: Waiting,
		Stop:            &Stop{Code: BudgetExceeded, Why: "10 of 10 USD are spent", Phase: "design", Step: Revise, At: at(9)},
		DesignDecisions: DesignDecisions{ImplementationStrategy: "extend", TestStrategy: "unit", TestCodeStrategy: "new"},
		Cost:            Cost{InputTokens: 1000, OutputTokens: 200, CachedTokens: 5000, USD: 9.875},
		Phases: Phases{
			{
				Name: "planning", Status: PhaseCompleted, StartedAt: ptr(at(0)), CompletedAt: ptr(at(2)),
				ReviewResult: "pass", OutputFiles: []string{".reprise/issue-7/00_planning/planning.md"},
				CompletedSteps: []Step{Execute, Review}, Base: commit, Round: 1, Digest: "sha256:1", Written: 1,
				Verdict: verdict(Pass, Fixed), Report: json.RawMessage(`{"complexity":"high","files":[]}`),
			},
			{
				Name: "design", Status: PhaseInProgress, RetryCount: 1, StartedAt: ptr(at(3)), ReviewResult: "fail",
				OutputFiles: []string{".reprise/issue-7/02_design/design.md"}, CurrentStep: Revise,
				CompletedSteps: []Step{Execute, Review},
				RollbackContext: &RollbackContext{
					TriggeredAt: at(6), FromPhase: "testing", FromStep: Review, Earlier: []string{"the list has no order"}, Reason: "the API must stay REST\nsays the customer",
					ReviewResult: ".reprise/issue-7/06_testing/review.md", By: "alice", CommentURL: link + "#issuecomment-1",
					Details: &RollbackDetails{BlockerCount: 1, SuggestionCount: 2, AffectedTests: []string{"TestList"}},
				},
				Base: commit, Generation: 1, Round: 1, Digest: "sha256:2", Written: 4,
				Checks:  &Checks{Written: 4, Results: []CheckResult{{Name: "unit", Run: "go test ./...", ExitCode: 1, Output: "FAIL", DurationMS: 1500}}, OwnSetup: true},
				Verdict: verdict(Fail, NewFinding), Diff: &Diff{Files: 1, Lines: 12, Added: 10, Deleted: 2},
				Opened:     []Opened{{Path: "AGENTS.md", Before: "0f", Text: "Be kind.\n", Diff: "+Be kind.\n"}},
				Violations: []Violation{{Path: ".github/workflows/ci.yml", Rule: Because("protected")}}, Recent: []string{"a:b"},
				Approve: "maintain", Ask: All(Said("it is large"), Because("rule_saw", "rule", Because("rule", "n", 1, "does", Because("does_drop", "phases", []string{"build", "tell"})), "facts", []Reason{Because("fact", "name", "risk", "value", "high")})), Touched: 1, Accepted: "0b", Use: &Use{Agent: "second", Tier: "heavy"},
			},
			{Name: "testing", Status: PhasePending},
			{Name: "rollout.t1", Task: "t1", Status: PhasePending, AllowanceFrom: 1},
			{
				Name: "rollout.t2", Task: "t2", Status: PhaseInProgress, CurrentStep: Revise, StartedAt: ptr(at(7)),
				Best:     &Best{Commit: strings.Repeat("d", 40), Written: 2, Digest: "x", OutputFiles: []string{"a.md"}, Report: json.RawMessage(`7`), Diff: &Diff{1, 2, 1, 1}, Checks: &Checks{Written: 2, Results: []CheckResult{{Name: "n", Run: "r"}}}, Verdict: &Verdict{Verdict: Fail, Gates: []Gate{{"g", false, "w"}}, Findings: []Finding{{ID: "F1", Severity: Blocker, Title: "t", Status: NewFinding}}}, Over: 3, Lost: []string{"TestX"}},
				Upstream: strings.Repeat("c", 40), Lane: &Lane{Base: strings.Repeat("a", 40), Head: strings.Repeat("b", 40), Conflict: &Conflict{Parts: []string{"rollout.t1"}, Paths: []string{"main.go"}, Writer: 3, Anew: true, Person: true}},
			},
			{Name: "rollout", Status: PhaseSkipped, Dropped: "planning"},
		},
		RollbackHistory: []Rollback{{
			Timestamp: at(6), FromPhase: "testing", FromStep: Review, ToPhase: "design", ToStep: Revise,
			Reason: "the API must stay REST\nsays the customer", TriggeredBy: Manual, By: "alice",
			CommentURL: link + "#issuecomment-1", ReviewResultPath: ".reprise/issue-7/06_testing/review.md",
		}},
		Baseline: []CheckResult{{Name: "unit", Run: "go test ./...", ExitCode: 1, Output: "FAIL", DurationMS: 800, FailsBefore: true, FailedTests: []string{"TestA"}, Flaky: true, Ran: 3, Failed: 1, Like: "5891b5b522d5df08"}},
		Setup:    []CheckResult{{Name: "install", Run: "npm ci", Pass: true, DurationMS: 900}},
		PRNumber: 8, PRURL: "https://github.com/octo/hello/pull/8",
		GitHubIntegration: GitHubIntegration{ProgressCommentID: 5, NoticeCommentID: 12, NoticeFor: "waiting-1", LabelsOn: 8, ProgressCommentURL: link + "#issuecomment-5"},
		ExternalDocuments: map[string]string{"spec": "docs/spec.md", "api": "https://example.com/api"},
		Pipeline:          Pipeline{Name: "full", Digest: "sha256:" + strings.Repeat("0a", 32), Definition: "sha256:" + strings.Repeat("0b", 32), Source: "builtin:full"},
		Execution:         Execution{ID: "run-1", Attempt: 2, Push: true, Lease: &Lease{Owner: "job-3", Fence: 4, Expires: at(20)}, Told: []int{8, 9}},
		Cursor:            "IC_1", PullCursor: "IC_2",
		CI: &CI{After: 2, Commit: commit}, Unchecked: Because("ci_none"), BaseBranch: "main",
		Merges: []Merge{{At: at(8), Commit: commit, Conflicts: []string{"a.go"}, Attempt: 1}},
		Reviews: []PullReview{{
			ID: 80, At: at(6), By: "alice", URL: link + "#pullrequestreview-80", Phase: "design", Refused: Because("nobody"), Answered: true,
			Comments: []ReviewComment{{
				Thread: 81, Start: 10, Side: "RIGHT", Hunk: "@@ -1 +1 @@\n+all", Finding: Finding{
					ID: "R1", Severity: Blocker, Title: "No paging", Problem: "lists are whole", Impact: "slow", Solution: "it has a cursor", File: "api/list.go", Line: 12, Status: Fixed,
				},
			}},
		}},
		Issue: Issue{Title: "Say hello", Labels: []string{"reprise"}, Author: "alice", Digest: "sha256:3", Discussion: "sha256:4", Images: []Image{
			{URL: "https://github.com/user-attachments/assets/5", Digest: "sha256:5", Type: "png", Size: 67},
			{URL: "https://example.com/x.png", Why: Because("image_host", "host", "example.com")},
		}},
		Attempts: []Attempt{
			{
				N: 1, Phase: "planning", Step: Execute, Agent: "writer", Model: "opus", Session: "s-1", Confirmed: true, Status: Succeeded, FailedGates: []string{"Sound"}, Broke: "protected,size", Refused: "example.com:443 (2)",
				Usage:      Usage{InputTokens: 1000, OutputTokens: 200, CachedTokens: 5000, Turns: 3, USD: 9.875, Estimated: true, Unknown: true, ByGate: true},
				DurationMS: 60000, StartedAt: at(0), EndedAt: ptr(at(1)),
			},
			{N: 2, Phase: "planning", Step: Review, Agent: "reviewer", Status: Succeeded, Verdict: Pass, StartedAt: at(1), EndedAt: ptr(at(2))},
			{
				N: 3, Phase: "design", Step: Execute, Agent: "writer", Status: Errored, Code: AgentFailed, Class: RateLimited,
				Why: "429", Stderr: "too many", RetryAfter: 30, StartedAt: at(3), EndedAt: ptr(at(4)),
			},
			{N: 4, Phase: "design", Step: Revise, Generation: 1, Round: 1, Session: "s-2", Resumed: true, Status: Started, StartedAt: at(7)},
		},
		Decisions: []Decision{
			{At: at(0), Step: "execute", Phase: "planning", Why: "the phase has not begun", Attempt: 1},
			{At: at(6), Step: "rollback", Phase: "design", Why: Because("taken_back_to", "step", Revise, "reason", Said("the API must stay REST")), By: "ada", Command: "/rollback design the API must stay REST", Comment: 4711, Job: "actions/1"},
		},
		Tasks: []Task{
			{ID: "t1", Phase: "planning", Title: "The parser", Goal: "It reads both forms.", Files: []string{"parse.go"}},
			{ID: "t2", Phase: "planning", Title: "The page", Needs: []string{"t1"}},
		},
		Questions: []Question{
			{ID: "q1", Phase: "planning", Attempt: 1, Text: "REST or RPC?", Options: []string{"REST", "RPC"}, AskedAt: at(1), Answer: "REST", By: "alice", AnsweredAt: ptr(at(2))},
			{ID: "q2", Phase: "design", Generation: 1, Attempt: 4, Text: "How long?", AskedAt: at(8)},
		},
		Approvals: []Approval{{Phase: "planning", Generation: 1, Attempt: 1, Touched: 1, Digest: "0a", Role: "write", By: "alice", Comment: 4712, At: at(3)}},
		Children: []Child{
			{ID: "c1", Phase: "planning", Title: "Speak French", Body: "It only speaks English.", Number: 9, URL: "https://github.com/octo/hello/issues/9"},
			{ID: "c2", Phase: "design", Title: "Print in colour"},
		},
		Budget: Budget{
			USD: 10, Tokens: 5000000, Seconds: 7200, Attempts: 60, IssueUSD: 50, EarlierUSD: 1.5,
			Since: Spent{USD: 1.5, Tokens: 10, Seconds: 20, Attempts: 1},
		},
		AllowanceFrom: 2,
		CreatedAt:     noon, UpdatedAt: at(9),
	}
}

// long is a valid run that was rolled back n times.
func long(n int) Run {
	r := sample()
	entry := r.RollbackHistory[0]
	r.RollbackHistory = nil
	for i := range n {
		entry.Timestamp = at(i)
		entry.Reason = fmt.Sprintf("the API must stay REST, says customer %d", i)
		r.RollbackHistory = append(r.RollbackHistory, entry)
	}
	return r
}

func TestSampleFillsEveryField(t *testing.T) {
	filled, all := map[string]bool{}, map[string]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range v.NumField() {
				name := v.Type().Name() + "." + v.Type().Field(i).Name
				all[name] = true
				filled[name] = filled[name] || !v.Field(i).IsZero()
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(sample()))
	for name := range all {
		// A check that passed would have to be in a phase that passed, and
		// the sample's is in one that did not.
		if !filled[name] && name != "CheckResult.Pass" {
			t.Errorf("the sample leaves %s empty", name)
		}
	}
}
