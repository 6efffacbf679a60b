package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestAnArtifactLeftBehindIsNoEvidence(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Report = `x: int`
	s := newStage(t, plan)
	calls := 0
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		if calls++; calls == 1 {
			return s.good(ctx, t) // writes, but returns no report
		}
		if calls == 2 {
			return Result{Structured: json.RawMessage(`{"bad": 1}`)}, nil
		}
		return Result{Structured: json.RawMessage(`{"x": 1}`)}, nil // lazy ever after
	})
	if run := s.goOn(t.Context()); run.Stop == nil || run.Stop.Code != metadata.OutputInvalid {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	next, err := phases.Retry(plan, s.run, "", phases.Start{At: s.run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	s.run = next
	if run := s.goOn(t.Context()); run.Stop == nil || run.Stop.Code != metadata.NoProgress {
		t.Errorf("a call that wrote nothing passed on the artifact of an earlier one: %s (%+v)", run.Status, run.Stop)
	}
}

func TestTheDocumentSurvivesItsReport(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Access, plan.Phases[0].Report = pipelines.AccessRead, `x: int`
	s := newStage(t, plan)
	calls := 0
	s.on("plan", metadata.Execute, func(_ context.Context, t Task) (Result, error) {
		if calls++; calls == 1 {
			return Result{Text: "# The plan\n\nDo it.\n\n```json\n{\"bad\": 1}\n```"}, nil
		}
		return Result{Text: "```json\n{\"x\": 1}\n```"}, nil
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	if got := s.tree.tip()[".reprise/issue-7/00_plan/plan.md"]; got != "# The plan\n\nDo it.\n" {
		t.Errorf("the artifact is %q", got)
	}
}

func TestOddFilesAreTakenBack(t *testing.T) {
	s := newStage(t, testPlan())
	odd := []string{"a\tb.md", `C:\temp\x.md`, "superseded", "review.md", "attempt-1.patch"}
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		for _, name := range odd {
			if err := os.WriteFile(filepath.Join(filepath.Dir(t.Artifact), name), []byte("x"), 0o644); err != nil {
				return Result{}, err
			}
		}
		return s.good(ctx, t)
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	for _, name := range odd {
		if s.tree.tip()[".reprise/issue-7/00_plan/"+name] == "x" {
			t.Errorf("%q was kept", name)
		}
	}
}

func TestManyViolationsAreCut(t *testing.T) {
	s := newStage(t, testPlan())
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		for i := range 500 {
			if err := os.WriteFile(filepath.Join(t.Dir, fmt.Sprintf("stray-%d.txt", i)), nil, 0o644); err != nil {
				return Result{}, err
			}
		}
		return s.good(ctx, t)
	})
	s.on("plan", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, t.Round > 0), ToolCalls: 1}, nil
	})
	s.goOn(t.Context())
	for _, task := range s.tasks {
		if n := strings.Count(task.Prompt, "stray-"); n > 50 {
			t.Errorf("%d violations in the prompt of %s", n, task.Step)
		}
	}
}
