package phases

import (
	"slices"

	"github.com/reprise-ci/reprise/metadata"
)

// CutOff reports whether the newest work of a phase is that of a call which ended at the limit of
// its turns, so that it is likely to be unfinished.
func CutOff(run metadata.Run, rec *metadata.Phase) bool {
	if rec.Written < 1 || rec.Written > len(run.Attempts) {
		return false
	}
	a := run.Attempts[rec.Written-1]
	return a.Phase == rec.Name && a.Status == metadata.Succeeded && slices.ContainsFunc(a.Why.Each(), func(r metadata.Reason) bool { return r.Code() == "limit_reached" })
}
