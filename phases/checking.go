package phases

import (
	"slices"

	"github.com/reprise-ci/reprise/pipelines"
)

// KeptBeside gives the files beside the commit that the checks of a phase ask to keep. All
// of its checks find them, and so does its reviewer.
func KeptBeside(checks []pipelines.Check) (keep []string) {
	for _, c := range checks {
		keep = append(keep, c.Keep...)
	}
	return keep
}

// AllChecks gives all checks of a plan, each once.
func AllChecks(plan *pipelines.Pipeline) (all []pipelines.Check) {
	for _, p := range slices.Concat(plan.Phases, plan.Spare) {
		for _, c := range p.Checks {
			if !slices.ContainsFunc(all, func(o pipelines.Check) bool { return o.Name == c.Name && o.Run == c.Run }) {
				all = append(all, c)
			}
		}
	}
	return all
}
