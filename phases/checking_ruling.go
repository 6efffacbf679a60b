package phases

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
func ChecksNothing(plan *pipelines.Pipeline) bool {
	return slices.ContainsFunc(plan.Phases, func(p pipelines.Phase) bool { return p.Access == pipelines.AccessTree }) &&
		!slices.ContainsFunc(plan.Phases, func(p pipelines.Phase) bool { return len(p.Checks) > 0 })
}

// WhyFailed says how the checks ended that hold the work up; "" if none does.
func WhyChecksFailed(checks []metadata.CheckResult) metadata.Reason {
	var wrong []metadata.Reason
	for _, c := range checks {
		if !c.Holds() {
			wrong = append(wrong, metadata.Because("check_exited", "check", c.Name, "code", c.ExitCode))
		}
	}
	return metadata.All(wrong...)
}

// HowEnded says of each check that did not simply pass how it ended, also of those that
// do not hold the work up; "" if all passed.
func HowChecksEnded(checks []metadata.CheckResult) metadata.Reason {
	var odd []metadata.Reason
	for _, c := range checks {
		switch {
		case c.FailsBefore:
			odd = append(odd, metadata.Because("check_exited_before", "check", c.Name, "code", c.ExitCode))
		case c.Flaky:
			odd = append(odd, metadata.Because("check_flaky", "check", c.Name))
		}
	}
	return metadata.All(WhyChecksFailed(checks), metadata.All(odd...))
}
