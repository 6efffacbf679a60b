package rehearsal

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// A rehearsal proposes what the record says: back to an open blocker.
func TestRehearsalDiagnoses(t *testing.T) {
	finding := func(severity metadata.Severity, status metadata.FindingStatus) *metadata.Verdict {
		return &metadata.Verdict{Verdict: metadata.Fail, Findings: []metadata.Finding{{ID: "F1", Severity: severity, Status: status, Title: "No test", Solution: "Add one."}}}
	}
	const reason = "F1: No test. Add one."
	back := phases.Diagnosis{NeedsRollback: true, ToPhase: "build", ToStep: metadata.Revise, Reason: reason, Confidence: phases.HighConfidence, Analysis: reason}
	none := phases.Diagnosis{Confidence: phases.HighConfidence, Analysis: "The record holds nothing against the work."}
	for name, tt := range map[string]struct {
		design, build metadata.Phase
		want          phases.Diagnosis
	}{
		"nothing":    {metadata.Phase{}, metadata.Phase{Verdict: finding(metadata.Blocker, metadata.Fixed)}, none},
		"blocker":    {metadata.Phase{Verdict: finding(metadata.Suggestion, metadata.NewFinding)}, metadata.Phase{Verdict: finding(metadata.Blocker, metadata.StillOpen)}, back},
		"suggestion": {metadata.Phase{Verdict: finding(metadata.Suggestion, metadata.NewFinding)}, metadata.Phase{}, none},
		"skipped":    {metadata.Phase{}, metadata.Phase{Status: metadata.PhaseSkipped, Verdict: finding(metadata.Blocker, metadata.NewFinding)}, none},
	} {
		t.Run(name, func(t *testing.T) {
			tt.design.Name, tt.build.Name = "design", "build"
			r, err := Agent{}.Run(t.Context(), engine.Task{Phase: "build", Step: phases.Diagnose, Artifact: recordOf(t, tt.design, tt.build), Prompt: "look"})
			testenv.Must(t, err)
			var got phases.Diagnosis
			testenv.Must(t, json.Unmarshal(r.Structured, &got))
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("diagnosis (-want +got):\n%s", d)
			}
		})
	}
	if _, err := (Agent{}).Run(t.Context(), engine.Task{Step: phases.Diagnose, Artifact: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("it diagnosed a record that is not there")
	}
}

// recordOf writes a valid record with these two phases, and gives its path.
func recordOf(t *testing.T, given ...metadata.Phase) string {
	t.Helper()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	sum := "sha256:" + strings.Repeat("0", 64)
	run := phases.Fresh(phases.On(&pipelines.Pipeline{Name: "p", Phases: []pipelines.Phase{{Name: "design"}, {Name: "build"}}}, metadata.Run{
		IssueNumber: "7", IssueTitle: "T", BranchName: "reprise/issue-7", Language: "en",
		Pipeline: metadata.Pipeline{Name: "p", Digest: sum, Definition: sum}, Execution: metadata.Execution{ID: "r"},
	}), at)
	for i, p := range given {
		if p.Status == "" {
			p.Status = metadata.PhaseFailed
		}
		run.Phases[i] = p
	}
	for n := range 2 {
		run.Attempts = append(run.Attempts, metadata.Attempt{N: n + 1, Phase: "build", Step: metadata.Execute, Status: metadata.Succeeded, StartedAt: at, EndedAt: &at})
	}
	data, err := metadata.Format(run)
	testenv.Must(t, err)
	file := filepath.Join(t.TempDir(), metadata.File)
	testenv.Put(t, file, string(data))
	return file
}
