package checking

import (
	"regexp"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
)

// KnownBefore notes which of the checks fail as they did before anything was changed.
func KnownBefore(checks, before []metadata.CheckResult) {
	for i, c := range checks {
		checks[i].FailsBefore = !c.Pass && slices.ContainsFunc(before, func(b metadata.CheckResult) bool {
			return b.Name == c.Name && b.Run == c.Run && !b.Pass && sameFailure(c, b)
		})
	}
}

// sameFailure reports whether a check fails now as it did before: with no test that
// did not fail then or, where names are not known of both or there are more than
// are kept, with the same exit code and the same output but for figures.
func sameFailure(now, before metadata.CheckResult) bool {
	if now.ExitCode > 0 && before.ExitCode > 0 && len(now.FailedTests) > 0 && len(before.FailedTests) > 0 && len(now.FailedTests) < mostNames {
		return !slices.ContainsFunc(now.FailedTests, func(test string) bool { return !slices.Contains(before.FailedTests, test) })
	}
	return now.ExitCode == before.ExitCode && slices.Equal(now.FailedTests, before.FailedTests) && withoutFigures(now.Output) == withoutFigures(before.Output)
}

// mostNames is how many names of failed tests a result has at most.
const mostNames = 50

// figures are what differs from one run of the same tests to the next: times,
// addresses and sizes.
var figures = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(ns|µs|ms|s)?\b`)

func withoutFigures(text string) string { return figures.ReplaceAllString(text, "#") }
