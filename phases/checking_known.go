package phases

import (
	"cmp"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// KnownBefore notes which of the checks fail as they did before anything was changed.
func KnownBefore(checks, before []metadata.CheckResult) {
	for i, c := range checks {
		b := failedBefore(c, before)
		checks[i].FailsBefore = b != nil && difference(c, *b) == ""
	}
}

// UnknownBefore gives the commands whose checks fail and of which nothing is known from before.
func UnknownBefore(commands []pipelines.Check, checks, before []metadata.CheckResult) (unknown []pipelines.Check) {
	for _, c := range commands {
		of := func(r metadata.CheckResult) bool { return r.Name == c.Name && r.Run == c.Run }
		fails := func(r metadata.CheckResult) bool { return of(r) && !r.Pass }
		if slices.ContainsFunc(checks, fails) && !slices.ContainsFunc(before, of) {
			unknown = append(unknown, c)
		}
	}
	return unknown
}

// WhyOtherwise says how a check that failed before fails now in another way, which is what
// it is held against the work for; "" of one that does not.
func WhyOtherwise(c metadata.CheckResult, before []metadata.CheckResult) metadata.Reason {
	if b := failedBefore(c, before); b != nil && !c.FailsBefore {
		return difference(c, *b)
	}
	return ""
}

// failedBefore gives how a check that fails now failed before; nil if it did not.
func failedBefore(c metadata.CheckResult, before []metadata.CheckResult) *metadata.CheckResult {
	i := slices.IndexFunc(before, func(b metadata.CheckResult) bool { return b.Name == c.Name && b.Run == c.Run && !b.Pass })
	if c.Pass || i < 0 {
		return nil
	}
	return &before[i]
}

// difference says what in a failure is not as it was before; "" if it is the same one.
// With the same exit code, no test may fail now that did not fail then, no more may
// fail, and no fewer may have run: what was never run may fail as well. Where names are
// not known of both, or there are more than are kept, all has to be the same but for
// figures.
func difference(now, before metadata.CheckResult) metadata.Reason {
	added := 0
	for _, test := range now.FailedTests {
		if !slices.Contains(before.FailedTests, test) {
			added++
		}
	}
	switch named := len(now.FailedTests) > 0 && len(before.FailedTests) > 0; {
	case now.ExitCode != before.ExitCode:
		return metadata.Because("check_exit_differs", "code", before.ExitCode)
	case named && added > 0:
		return metadata.Because("check_fails_more", "n", added)
	case now.Failed > before.Failed:
		return metadata.Because("check_fails_more", "n", now.Failed-before.Failed)
	case now.Ran < before.Ran:
		return metadata.Because("check_runs_less", "n", now.Ran, "before", before.Ran)
	case named && len(now.FailedTests) < mostNames && now.ExitCode > 0:
		return ""
	case !slices.Equal(now.FailedTests, before.FailedTests) || cmp.Or(now.Like, now.Output) != cmp.Or(before.Like, before.Output):
		return metadata.Because("check_output_differs")
	}
	return ""
}

// mostNames is how many names of failed tests a result has at most.
const mostNames = 50
