package view

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

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
