package workspace

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// A judgment of the issue changes who writes and who reviews by tiers, and how often a
// phase is revised. A model that the pipeline names stays, and writer and reviewer differ.
func TestWeigh(t *testing.T) {
	models := map[string]string{"heavy": "h", "medium": "m", "light": "l"}
	for weight, want := range map[source.Weight]string{
		"":             "h m h 3, m h m 3, own h own 0",
		source.Light:   "m h m 2, m h m 2, own h own 0",
		source.Careful: "h m h 5, m h m 5, own h own 0",
	} {
		step := func(tier, model string) pipelines.Step {
			return pipelines.Step{Agent: "a", Tier: tier, Model: model}
		}
		plan := &pipelines.Pipeline{Agents: map[string]pipelines.Agent{"a": {Use: "claude", Models: models}}, Phases: []pipelines.Phase{
			{Revisions: 3, Execute: step("heavy", "h"), Review: step("heavy", "m"), Revise: step("heavy", "h")},
			{Revisions: 3, Execute: step("medium", "m"), Review: step("medium", "h"), Revise: step("medium", "m")},
			{Revisions: 0, Execute: step("heavy", "own"), Review: step("heavy", "h"), Revise: step("heavy", "own")},
		}}
		adjust(plan, weight)
		got := ""
		for i, p := range plan.Phases {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%s %s %s %d", p.Execute.Model, p.Review.Model, p.Revise.Model, p.Revisions)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", weight, diff)
		}
	}
}
