package phases

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// What checks printed stays in its block of code, whatever it is.
func TestChecksText(t *testing.T) {
	got := WrittenChecks("en", "code", []metadata.CheckResult{
		{Name: "unit", Run: "go test ./...", ExitCode: 1, Output: "\n  FAIL\n```\n# Not a heading\n"},
		{Name: "lint", Run: "go vet ./...", Pass: true},
	})
	want := "# Checks of code: fail\n\n## unit: exit code 1\n\n```\ngo test ./...\n```\n\nIt printed:\n\n````\n  FAIL\n```\n# Not a heading\n````\n" +
		"\n## lint: exit code 0\n\n```\ngo vet ./...\n```\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a record may name as its language, there are words for.
func TestLanguages(t *testing.T) {
	if diff := cmp.Diff(metadata.Languages(), prompts.Languages()); diff != "" {
		t.Errorf("languages of records and of words (-records +words):\n%s", diff)
	}
}

// A reason that is a review tells how much of it is open.
func TestCountOpen(t *testing.T) {
	rec := metadata.Phase{Name: "plan", Round: 1, Verdict: &metadata.Verdict{Verdict: metadata.Fail, Findings: []metadata.Finding{
		{ID: "F1", Title: "F1", Severity: metadata.Blocker, Status: metadata.NewFinding}, {ID: "F2", Title: "F2", Severity: metadata.Blocker, Status: metadata.NewFinding}, {ID: "F4", Title: "x (y)", Severity: metadata.Suggestion, Status: metadata.StillOpen},
	}}}
	rec.Verdict.Findings[1].Status = metadata.Fixed
	for _, language := range prompts.Languages() {
		got := CountOpen(WrittenReview(language, &rec))
		if diff := cmp.Diff(&metadata.RollbackDetails{BlockerCount: 1, SuggestionCount: 1}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", language, diff)
		}
	}
	if got := CountOpen("keep it (as it is)"); got != nil {
		t.Errorf("of a text that is no review: %+v", got)
	}
}
