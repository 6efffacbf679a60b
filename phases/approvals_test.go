package phases

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// A person is one however the login is spelled, as GitHub takes capitals for small letters.
func TestApprovedByOnePersonInTwoSpellings(t *testing.T) {
	rec := metadata.Phase{Name: "design", Written: 1, Digest: "d"}
	run := metadata.Run{Phases: metadata.Phases{rec}}
	for _, by := range []string{"Ada", "ada", "ADA", "max", "Ada"} {
		run.Approvals = append(run.Approvals, metadata.Approval{Phase: "design", Attempt: 1, Digest: "d", By: by})
	}
	testenv.Same(t, "approved by", []string{"Ada", "max"}, approvedBy(run, &rec, ""))
}
