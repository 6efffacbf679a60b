package legacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
)

// now is when the tests import.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func clockTime(t *testing.T, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func TestImport(t *testing.T) {
	file := filepath.Join("testdata", "import", "done.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Import(data, "old.json", now)
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time { return clockTime(t, text) }
	const review = ".ai-workflow/issue-7/06_testing/review/result.md"
	latest, sentBack := at("2025-10-20T05:27:26.477Z"), "evaluation decided that implementation has to be done again."
	want := metadata.Run{
		IssueNumber: "7", IssueURL: "https://github.com/octo/hello/issues/7", IssueTitle: "Issue #7", Repository: "octo/hello",
		WorkflowVersion: "1.0.0", BranchName: "feature/issue-7", CurrentPhase: "evaluation",
		DesignDecisions: metadata.DesignDecisions{ImplementationStrategy: "EXTEND", TestCodeStrategy: "BOTH_TEST"},
		Cost:            metadata.Cost{InputTokens: 2130, OutputTokens: 151930, USD: 10.5},
		Phases: metadata.Phases{
			{
				Name: "evaluation", Status: metadata.PhasePending,
			},
			{
				Name: "implementation", Status: metadata.PhasePending,
				RollbackContext: &metadata.RollbackContext{TriggeredAt: latest, FromPhase: "evaluation", Reason: sentBack},
			},
			{
				Name: "planning", Status: metadata.PhaseCompleted, ReviewResult: "pass_with_suggestions",
				StartedAt: ptr(at("2025-10-17T10:36:31.014Z")), CompletedAt: ptr(at("2025-10-17T10:40:08.631Z")),
				OutputFiles: []string{".ai-workflow/issue-7/00_planning/output/planning.md"}, CompletedSteps: []metadata.Step{metadata.Execute, metadata.Review},
			},
			{
				Name: "test_scenario", Status: metadata.PhaseCompleted, RetryCount: 1,
				StartedAt: ptr(at("2025-10-17T10:51:19Z")), CompletedAt: ptr(at("2025-10-17T10:51:19Z")), CompletedSteps: []metadata.Step{metadata.Execute, metadata.Review},
			},
			{
				Name: "testing", Status: metadata.PhaseInProgress, CurrentStep: metadata.Revise, CompletedSteps: []metadata.Step{metadata.Execute, metadata.Review},
				StartedAt: ptr(at("2025-10-17T11:11:27.421Z")),
			},
		},
		RollbackHistory: []metadata.Rollback{
			{
				Timestamp: at("2025-10-17T10:50:00Z"), FromPhase: "testing", FromStep: metadata.Review, ToPhase: "test_scenario", ToStep: metadata.Revise,
				Reason: "The limits are missing.", TriggeredBy: metadata.Manual, ReviewResultPath: review,
			},
			{Timestamp: latest, FromPhase: "evaluation", ToPhase: "implementation", ToStep: metadata.Execute, Reason: sentBack, TriggeredBy: metadata.Automatic},
		},
		PRNumber:          8,
		GitHubIntegration: metadata.GitHubIntegration{ProgressCommentID: 3414898815, ProgressCommentURL: "https://github.com/octo/hello/issues/7#issuecomment-3414898815"},
		ExternalDocuments: map[string]string{"spec": "https://example.com/spec"},
		CreatedAt:         at("2025-10-17T10:36:25.164Z"), UpdatedAt: now,
	}
	if diff := cmp.Diff(want, got.Run); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	var dropped []string
	for _, d := range got.Dropped {
		if d.File != "old.json" || d.Line == 0 {
			t.Errorf("%s has no place", d)
		}
		dropped = append(dropped, d.Path)
	}
	wantDropped := []string{
		"target_repository.path", "phases.test_scenario.completed_at", "phases.test_scenario.current_step", "phases.test_scenario.rollback_context",
		"phases.implementation.completed_steps", "phases.evaluation.completed_steps",
		"pr_url", "external_documents.notes", "model_config", "resume_token",
	}
	if diff := cmp.Diff(wantDropped, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

// What is dropped, and what is wrong, is never repeated: it may be a secret.
func TestImportTellsNoSecret(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "import", "done.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Import(data, "old.json", now)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got.Dropped {
		if strings.Contains(d.Error(), "hunter2") {
			t.Errorf("tells a secret: %s", d)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	const phases = `"phases": {"planning": {"status": "completed"}}`
	for name, tt := range map[string]struct{ text, want string }{
		"cut off":     {`{"issue_number": "7", "phas`, "old.json:1:28: the file ends in the middle: it was cut off"},
		"no object":   {"[]", "old.json:1:1: a list does not fit here; an object is expected"},
		"nothing":     {"{}", "old.json:1:1: issue_number: is missing\nold.json:1:1: phases: are missing: this is not a record of a run"},
		"one of ours": {`{"schema": 1, "issue_number": 7, ` + phases + `}`, "old.json:1:2: schema: this is a record of reprise already: continue it with run"},
		"a wrong status": {
			"{\n\"issue_number\": \"7\",\n\"phases\": {\"planning\": {\"status\": \"fine\"}}}",
			`old.json:3:25: phases.planning.status: "fine" is not one of pending, in_progress, completed, failed, skipped`,
		},
		"a wrong rollback": {
			`{"issue_number": 7, ` + phases + `, "rollback_history": [{"to_phase": "nowhere"}]}`,
			`old.json:1:92: rollback_history[0].to_phase: there is no phase "nowhere"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Import([]byte(tt.text), "old.json", now)
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImportResolves holds single phases against what becomes of them.
func TestImportResolves(t *testing.T) {
	begun, done := "2025-10-17T10:00:00Z", "2025-10-17T11:00:00Z"
	for name, tt := range map[string]struct {
		phase string
		want  metadata.Phase
	}{
		"null is pending":      {`{"status": null, "retry_count": null}`, metadata.Phase{Status: metadata.PhasePending}},
		"skipped":              {`{"status": "skipped", "completed_at": "` + done + `"}`, metadata.Phase{Status: metadata.PhaseSkipped}},
		"in_progress":          {`{"status": "in_progress"}`, metadata.Phase{Status: metadata.PhaseInProgress, CurrentStep: metadata.Execute}},
		"after execute":        {`{"status": "in_progress", "completed_steps": ["execute"]}`, metadata.Phase{Status: metadata.PhaseInProgress, CurrentStep: metadata.Review, CompletedSteps: []metadata.Step{metadata.Execute}}},
		"after revise":         {`{"status": "in_progress", "completed_steps": ["execute", "review", "revise"]}`, metadata.Phase{Status: metadata.PhaseInProgress, CurrentStep: metadata.Review, CompletedSteps: []metadata.Step{metadata.Execute, metadata.Revise}}},
		"step is named":        {`{"status": "in_progress", "current_step": "review", "completed_at": "` + done + `"}`, metadata.Phase{Status: metadata.PhaseInProgress, CurrentStep: metadata.Review, CompletedSteps: nil}},
		"failed":               {`{"status": "failed", "completed_steps": ["execute", "review"], "review_result": "FAIL"}`, metadata.Phase{Status: metadata.PhaseFailed, CurrentStep: metadata.Revise, CompletedSteps: []metadata.Step{metadata.Execute, metadata.Review}, ReviewResult: "fail"}},
		"completed, failed":    {`{"status": "completed", "started_at": "` + begun + `", "completed_at": "` + done + `", "review_result": "fail"}`, metadata.Phase{Status: metadata.PhaseCompleted, StartedAt: ptr(clockTime(t, begun)), CompletedAt: ptr(clockTime(t, done)), CompletedSteps: []metadata.Step{metadata.Execute}}},
		"completed, no time":   {`{"status": "completed", "review_result": "PASS"}`, metadata.Phase{Status: metadata.PhaseCompleted, StartedAt: &now, CompletedAt: &now, CompletedSteps: []metadata.Step{metadata.Execute, metadata.Review}, ReviewResult: "pass"}},
		"ends before it began": {`{"status": "completed", "started_at": "` + done + `", "completed_at": "` + begun + `"}`, metadata.Phase{Status: metadata.PhaseCompleted, StartedAt: ptr(clockTime(t, begun)), CompletedAt: ptr(clockTime(t, begun)), CompletedSteps: []metadata.Step{metadata.Execute}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Import([]byte(`{"issue_number": 7, "phases": {"test_scenario": `+tt.phase+`}}`), "old.json", now)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Name = "test_scenario"
			if diff := cmp.Diff(metadata.Phases{tt.want}, got.Run.Phases); diff != "" {
				t.Errorf("phase (-want +got):\n%s", diff)
			}
		})
	}
}
