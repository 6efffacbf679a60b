package view

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
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

// enoughRuns is how many runs have to be known before they say how long the next takes.
const enoughRuns = 3

// Remaining estimates how long a run that goes on still works: each phase as long as it
// took in the middle one of the earlier runs of the same pipeline that were completed,
// the one at hand less what it has taken. It is 0 if too few are known, or a phase that
// is to come is in none of them.
func Remaining(plan *pipelines.Pipeline, run metadata.Run, earlier []metadata.Run) time.Duration {
	took := map[string][]time.Duration{}
	known := 0
	for _, e := range earlier {
		if e.Pipeline.Name != run.Pipeline.Name || e.Status != metadata.Completed {
			continue
		}
		known++
		for _, r := range RowsOf(&pipelines.Pipeline{}, e) {
			if r.Rec.Status == metadata.PhaseCompleted {
				took[r.Rec.Name] = append(took[r.Rec.Name], r.Took)
			}
		}
	}
	if known < enoughRuns || run.Status != metadata.Running {
		return 0
	}
	var left time.Duration
	for _, r := range RowsOf(Whole(plan), run) {
		if r.Rec.Status == metadata.PhaseCompleted || r.Rec.Status == metadata.PhaseSkipped {
			continue
		}
		all := took[r.Rec.Name]
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		left += max(0, all[len(all)/2]-sofar(run, r.Rec))
	}
	return left
}

// sofar is how long a phase has taken since it was begun, or taken back, last.
func sofar(run metadata.Run, rec metadata.Phase) time.Duration {
	var took time.Duration
	for _, a := range run.Attempts {
		if a.Phase == rec.Name && a.Generation == rec.Generation {
			took += time.Duration(a.DurationMS) * time.Millisecond
		}
	}
	return took
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
