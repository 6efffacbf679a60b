package view

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
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

// Together says how long a run has taken, and how long it would have if nothing had been
// done at the same time. It is "" if nothing was, or if that saved less than a second.
func Together(c prompts.Catalogue, run metadata.Run) string {
	took, alone := phases.TimeTogether(run)
	if alone-took < time.Second {
		return ""
	}
	return c.Shown("at once", "took", c.Duration(took), "alone", c.Duration(alone))
}
