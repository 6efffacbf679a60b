package view_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/pipelines"
)

// Texts stand as they were written, and hide nothing.
func TestSettings(t *testing.T) {
	plan := progresstest.SamplePlan("en")
	plan.Phases, plan.Agents, plan.Origins = slices.Clone(plan.Phases), maps.Clone(plan.Agents), map[string]string{"budget.usd": "config.cue", "language": pipelines.GivenForRun}
	plan.Phases[0].Goal = "One \U000E0001 \u202e ##[x] \x1b two\n\nthree\u2028four  \n\x7f"
	plan.Phases[0].Report = "{\n\t// Whether callers outside of the repository have to change.\n\tbreaking: bool\n}"
	plan.Phases[1].SkipIf = &pipelines.SkipIf{When: "import (\n\t\"list\"\n)\n\nissue: {\n\tlabels: list.MatchN(>0, \"internal\")\n\ttitle:  \"x\"\n}\ncost: usd: >1"}
	plan.Phases[1].Review.Turns = 9 // the proxy holds that of Codex, too
	writer := plan.Agents["writer"]
	writer.MCP = map[string]pipelines.ToolServer{"own": {Command: "book", Env: map[string]string{"KEY": "env:WORDS_KEY"}}}
	plan.Agents["writer"] = writer
	progresstest.Golden(t, "settings.yaml", view.Settings(plan))
}

// An outline tells what a phase does in two lines or a few.
func TestOutline(t *testing.T) {
	plan := progresstest.SamplePlan("en")
	plan.Phases = slices.Clone(plan.Phases)
	plan.Setup = []pipelines.Setup{{Check: pipelines.Check{Run: "npm ci"}}}
	plan.Phases[1].SkipIf, plan.Phases[1].Proves = &pipelines.SkipIf{When: "{\n\tlines: <3\n}"}, pipelines.ProvesFix
	plan.Phases[1].Checks = []pipelines.Check{{Name: "unit"}, {Name: "li\x1bnt"}}
	plan.Phases[0].Approve, plan.Phases[0].Approvers = "maintain", 2
	progresstest.Golden(t, "outline.txt", view.Outline(plan))
}
