package engine

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// An issue is opened when the work of its phase stands: completed, and
// approved where that is asked for. Going back voids what was not opened.
func TestChildrenAreOpenedOnceTheirPhaseStands(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Approve = "write"
	plan.Phases[0].Report, plan.Phases[0].ReportSchema = "{...}", json.RawMessage(anyReport)
	s := newStage(t, plan)
	wants := []string{"A", "B", "C", "D", "E", "F", "G"}
	s.on("plan", metadata.Execute, func(ctx context.Context, task Task) (Result, error) {
		r, err := s.good(ctx, task)
		r.Structured = asksFor(t, wants...)
		return r, err
	})
	run := s.goOn(t.Context())
	if got := phases.ToOpen(plan, run); run.Status != metadata.Waiting || len(run.Children) != 7 || len(got) != 0 {
		t.Fatalf("the run is %s, asked for is %q, to be opened %q", run.Status, titles(run.Children), titles(got))
	}
	run, err := phases.Approve(plan, run, phases.Command{By: "ada", At: s.engine.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if got := titles(phases.ToOpen(plan, run)); got != "plan A, plan B, plan C, plan D, plan E" {
		t.Errorf("to be opened are %q", got)
	}
	for i, c := range phases.ToOpen(plan, run)[:2] {
		next := phases.Opened(run, c.ID, 20+i, "", s.engine.Now())
		legal(t, run, next)
		run = next
	}
	if got := titles(phases.ToOpen(plan, run)); got != "plan C, plan D, plan E" {
		t.Errorf("to be opened then are %q", got)
	}
	back, err := phases.PlanRollback(plan, run, phases.Rollback{To: "plan", Step: metadata.Execute, Reason: "think again", Trigger: metadata.Manual, At: s.engine.Now()})
	if err != nil {
		t.Fatal(err)
	}
	legal(t, run, back.Run)
	if got := titles(back.Run.Children); got != "plan A!, plan B!" {
		t.Errorf("after the rollback there are %q", got)
	}
	s.run, wants = back.Run, []string{"b", "H"}
	run = s.goOn(t.Context())
	if diff := cmp.Diff("plan A!, plan B!, plan H", titles(run.Children)); diff != "" {
		t.Errorf("asked for again (-want +got):\n%s", diff)
	}
}
