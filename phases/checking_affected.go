package phases

import (
	"regexp"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
)

// testFile matches names that files of tests have in most languages.
var testFile = regexp.MustCompile(`(?i)(^|/)(tests?|specs?|__tests__)/|(^|[/_.-])(tests?|specs?)[_.-][^/]*$|[_.-](tests?|specs?)\.[^/]*$`)

// AffectedPhases names the checks that fail, and the files of tests that open
// blockers are about.
func AffectedPhases(v *metadata.Verdict, phases ...*metadata.Phase) []string {
	var out []string
	for _, rec := range phases {
		if rec == nil || !rec.ChecksFail() {
			continue
		}
		for _, c := range rec.Checks.Results {
			if out = append(out, c.FailedTests...); !c.Pass && len(c.FailedTests) == 0 {
				out = append(out, c.Name)
			}
		}
	}
	if v != nil {
		for _, f := range v.OpenBlockers() {
			if testFile.MatchString(f.File) {
				out = append(out, f.File)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
