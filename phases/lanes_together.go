package phases

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// TimeTogether gives how long agents and checks of a run have been at work, where what was
// done at the same time counts once, and how long all of it would have taken one after
// another. Both are 0 if nothing was done at the same time.
func TimeTogether(run metadata.Run) (took, alone time.Duration) {
	var all []metadata.Attempt
	for _, a := range run.Attempts {
		if a.EndedAt != nil && a.EndedAt.After(a.StartedAt) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	var until time.Time // somebody was at work up to then
	for _, a := range all {
		alone += a.EndedAt.Sub(a.StartedAt)
		if from := later(a.StartedAt, until); a.EndedAt.After(from) {
			took += a.EndedAt.Sub(from)
		}
		until = later(until, *a.EndedAt)
	}
	if took >= alone {
		return 0, 0
	}
	return took, alone
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
