package main

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
	want := []string{`pipeline own: allow_models: no price is known for "claude-hiaku-4", so it counts as the most expensive known one; if it is spelled correctly, give its price under prices`}
	if diff := cmp.Diff(want, unpriced([]*pipelines.Pipeline{plan})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What goes past the gate on this machine is named for each pipeline whose agents do.
func TestLoginsThatAreHeld(t *testing.T) {
	plans := []*pipelines.Pipeline{
		{Name: "one", Agents: map[string]pipelines.Agent{"a": {Use: "claude"}}},
		{Name: "other", Agents: map[string]pipelines.Agent{"a": {Use: "codex"}}},
	}
	env := []string{"HOME=" + t.TempDir(), "OPENAI_API_KEY=x", "CLAUDE_CODE_USE_BEDROCK=1"}
	want := []string{"pipeline one: claude holds its login itself (Amazon Bedrock), so the proxy neither counts nor limits what is asked with it; without that login, a key in ANTHROPIC_API_KEY stays outside"}
	if diff := cmp.Diff(want, holding(plans, env)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
