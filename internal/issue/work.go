package issue

import (
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// WhyNoWork says why no work is done on an issue, as the forge gave it or the
// error that it gave instead; the code is empty if work may be done.
func WhyNoWork(is github.Issue, err error) (metadata.Code, metadata.Reason) {
	switch {
	case github.IsKind(err, github.NotFound, github.Gone):
		return metadata.StaleEvent, exit.Why(err)
	case err != nil:
		return exit.ForgeReason(err), exit.Why(err)
	case is.State == "closed":
		return metadata.StaleEvent, metadata.Because("issue_closed")
	case is.Locked:
		return metadata.StaleEvent, metadata.Because("issue_locked")
	case is.IsPull:
		return metadata.NothingDone, metadata.Because("is_a_pull", "number", is.Number)
	}
	return "", ""
}
