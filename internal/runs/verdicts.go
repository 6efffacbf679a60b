package runs

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// mostVerdicts is how many reviews are read for a page at most, the newest: each has a
// record of its own, which is large.
const mostVerdicts = 50

// verdictsOf gives what reviews have said, by the numbers of their attempts, from the records that their commits
// have: the newest record has the newest review of each phase alone. Those that cannot be read are missing.
func verdictsOf(ctx context.Context, r *workspace.Recorded) map[int]metadata.Verdict {
	all := map[int]metadata.Verdict{}
	marked, err := r.Marked(ctx, workspace.AttemptTrailer)
	if err != nil {
		return all // the page is whole without them
	}
	commits := map[string]string{}
	for _, c := range marked {
		commits[c.Trailer] = c.Commit
	}
	for _, a := range slices.Backward(r.Run.Attempts) {
		commit := commits[strconv.Itoa(a.N)]
		if a.Step != metadata.Review || a.Verdict == "" || commit == "" || len(all) == mostVerdicts {
			continue
		}
		var record struct {
			Phases map[string]struct{ Verdict *metadata.Verdict }
		}
		data, err := r.Source.ReadFile(ctx, commit, phases.RecordFile(r.Run.IssueNumber))
		if err == nil {
			err = json.Unmarshal(data, &record)
		}
		if v := record.Phases[a.Phase].Verdict; err == nil && v != nil {
			all[a.N] = *v
		}
	}
	return all
}
