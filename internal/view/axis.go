package view

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// Axis says where attempts are on a line of time. Those at work at the same time are as
// far apart as they were; where nobody was at work, time is short.
type Axis struct {
	Starts, Widths []time.Duration // of each attempt
	All            time.Duration
}

// AxisOf places attempts, which are in the order in which they began. Took says how long
// each lasted; none is narrower than least, and no pause longer than pause.
func AxisOf(attempts []metadata.Attempt, took func(metadata.Attempt) time.Duration, least, pause time.Duration) Axis {
	var a Axis
	var began, end time.Time // of what is at work at the same time
	var from time.Duration   // where that begins
	for i, one := range attempts {
		if i == 0 || !one.StartedAt.Before(end) {
			if i > 0 {
				a.All += min(one.StartedAt.Sub(end), pause)
			}
			began, from = one.StartedAt, a.All
		}
		start, width := from+one.StartedAt.Sub(began), max(took(one), least)
		a.Starts, a.Widths = append(a.Starts, start), append(a.Widths, width)
		a.All = max(a.All, start+width)
		if over := one.StartedAt.Add(took(one)); over.After(end) {
			end = over
		}
	}
	return a
}
