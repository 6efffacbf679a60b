package phases

import (
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// How often a step is called in all, for each max of retry. The documents promise this.
func TestHowOftenAnErrorIsTriedAgain(t *testing.T) {
	allowed := []int{0, 1, 3, 20}
	as, once, never := []int{1, 2, 4, 21}, []int{1, 2, 2, 2}, []int{1, 1, 1, 1}
	tests := map[metadata.Class][]int{
		metadata.RateLimited: as, metadata.Network: as, metadata.Crash: as,
		metadata.StepTimeout: once, metadata.IdleTimeout: once,
		metadata.Disk: never, metadata.Auth: never, metadata.Missing: never, metadata.Refused: never, metadata.Session: never,
	}
	for class, want := range tests {
		var calls []int
		for _, most := range allowed {
			plan := testPlan()
			plan.Agents["writer"] = pipelines.Agent{Use: "claude"} // nobody to fall back to
			plan.Phases[0].Retry.Max = most
			run, n := freshRun(plan), 0
			for d := Decide(On(plan, run)); !d.Final() && n < 30; d = Decide(On(plan, run)) {
				run = play(t, plan, run, d, errored(class))
				n++
			}
			calls = append(calls, n)
		}
		if !slices.Equal(calls, want) {
			t.Errorf("%s: with a max of %v there are %v calls, want %v", class, allowed, calls, want)
		}
	}
}
