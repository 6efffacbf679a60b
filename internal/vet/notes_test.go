package vet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/pipelines"
)

// A model of a list that nobody knows a price of is named once, whatever its step;
// one that the list prices, the pipeline or an alias has is not.
func TestModelsWithoutAPrice(t *testing.T) {
	step := pipelines.Step{Models: []string{"haiku", "claude-sonnet-5-20260101", "gpt-5-mini", "mine-1", "claude-hiaku-4"}}
	plan := &pipelines.Pipeline{
		Name: "own", Prices: map[string]pipelines.Price{"mine-1": {Input: 1}},
		Phases: []pipelines.Phase{{Execute: step, Revise: step}},
	}
	want := []string{`pipeline own: models: no price is known for "claude-hiaku-4", so it counts as the dearest known one; if it is spelled right, say it under prices`}
	if diff := cmp.Diff(want, unpriced([]*pipelines.Pipeline{plan})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
