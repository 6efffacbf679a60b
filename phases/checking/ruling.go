package checking

import (
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// RulingOf is what checks say of the work: all have to pass.
func RulingOf(checks []metadata.CheckResult) metadata.Ruling {
	if slices.ContainsFunc(checks, func(c metadata.CheckResult) bool { return !c.Holds() }) {
		return metadata.Fail
	}
	return metadata.Pass
}

// RunsNothing says whether a plan changes code and has no check of it, so that
// nothing is known of the work but what agents say.
func RunsNothing(plan *pipelines.Pipeline) bool {
	return slices.ContainsFunc(plan.Phases, func(p pipelines.Phase) bool { return p.Access == pipelines.AccessTree }) &&
		!slices.ContainsFunc(plan.Phases, func(p pipelines.Phase) bool { return len(p.Checks) > 0 })
}

// WhyFailed says how the checks ended that did not pass; "" if they all did.
func WhyFailed(checks []metadata.CheckResult) metadata.Reason {
	var wrong []metadata.Reason
	for _, c := range checks {
		if !c.Holds() {
			wrong = append(wrong, metadata.Because("check_exited", "check", c.Name, "code", c.ExitCode))
		}
	}
	return metadata.All(wrong...)
}
