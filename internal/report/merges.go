package report

import (
	"slices"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// merged is a merge of the base into the branch of a run: a moment of all lanes.
type merged struct {
	mark
	When string
}

func mergesOf(w words, run metadata.Run) []merged {
	if len(run.Attempts) == 0 {
		return nil
	}
	attempts := slices.Clone(run.Attempts)
	slices.SortStableFunc(attempts, func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	a := axisOf(attempts)
	var all []merged
	for _, d := range run.Decisions {
		if d.Step == "merge" {
			all = append(all, merged{mark{a.at(a.when(attempts, d.At)), line(d.Why.In(w.Catalogue), 300)}, text.Clock(d.At)})
		}
	}
	return all
}
