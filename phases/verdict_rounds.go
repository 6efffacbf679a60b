package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// VerdictFingerprint is equal for two reviews that find the same.
func VerdictFingerprint(rec *metadata.Phase) string {
	var parts []string
	for _, f := range rec.Verdict.OpenBlockers() {
		parts = append(parts, "F "+f.ID+" "+f.Title+" "+f.Problem)
	}
	for _, g := range rec.Verdict.FailedGates() {
		parts = append(parts, "G "+g.Gate)
	}
	if rec.ChecksFail() {
		for _, c := range rec.Checks.Results {
			if !c.Pass {
				parts = append(parts, fmt.Sprintf("C %s %d %s", c.Name, c.ExitCode, c.Output))
			}
		}
	}
	slices.Sort(parts)
	return DigestOf([]byte(strings.Join(parts, "\n")))[:16]
}

// InCircle reports whether the newest round repeats an earlier one, in the work
// it judged or in what it found.
func InCircle(recent []string) bool {
	if len(recent) == 0 {
		return false
	}
	last := recent[len(recent)-1]
	work, found, _ := strings.Cut(last, ":")
	for _, r := range recent[:len(recent)-1] {
		w, f, _ := strings.Cut(r, ":")
		if w == work || f == found {
			return true
		}
	}
	return false
}
