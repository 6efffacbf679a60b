package phases

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// A reason that is a review tells how much of it is open, whatever the record
// says; a check that fails and a file of tests with a blocker are named.
func TestDetailsOfARollback(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), wrotten("p1"))
	found := []metadata.Finding{blocker("F1"), blocker("F2"), blocker("F3"), {ID: "F4", Title: "x (y)", Severity: metadata.Suggestion, Status: metadata.StillOpen}}
	found[0].File, found[1].Status = "cmd/main_test.go", metadata.Fixed
	run = play(t, plan, run, Decide(plan, run), verdict(false, found...))
	rec := run.Phase("plan")
	rec.Checks = &metadata.Checks{Written: rec.Written, Results: []metadata.CheckResult{{Name: "unit", Run: "false", ExitCode: 1}, {Name: "lint", Run: "true", Pass: true}}}
	back := func(reason string) *metadata.RollbackDetails {
		r, err := Back(plan, run, Rewind{To: "plan", Step: metadata.Revise, Reason: reason, Trigger: metadata.Manual, At: run.UpdatedAt})
		if err != nil {
			t.Fatal(err)
		}
		return r.Run.Phase("plan").RollbackContext.Details
	}
	tests := []string{"cmd/main_test.go", "unit"}
	want := &metadata.RollbackDetails{BlockerCount: 2, SuggestionCount: 1, AffectedTests: tests}
	if diff := cmp.Diff(want, back("keep it")); diff != "" {
		t.Errorf("counted from the record (-want +got):\n%s", diff)
	}
	other := metadata.Phase{Name: "plan", Round: 1, Verdict: &metadata.Verdict{Verdict: metadata.Fail, Findings: []metadata.Finding{blocker("F1"), found[1]}}}
	for _, language := range prompts.Languages() {
		want := &metadata.RollbackDetails{BlockerCount: 1, AffectedTests: tests}
		if diff := cmp.Diff(want, back(reviewText(language, &other))); diff != "" {
			t.Errorf("%s: counted from the review (-want +got):\n%s", language, diff)
		}
	}
}

func TestTestFiles(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.go": true, "test_a.py": true, "src/a.test.ts": true, "spec/a.rb": true, "tests/x.c": true, "a-spec.js": true, "__tests__/a.js": true,
		"latest.go": false, "contest/a.go": false, "main.go": false, "": false, "inspect.py": false,
	} {
		if got := testFile.MatchString(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
