package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// How much is read of old records for a page at most: they are large, and there is one
// for each review.
const (
	mostVerdicts = 200                    // reviews, the newest
	mostRecords  = 64 << 20               // bytes of their records
	longReading  = 400 * time.Millisecond // for all of them
)

// verdictsOf gives what reviews have said, by the numbers of their attempts, from the
// records that their commits have: the newest record has the newest review of each phase
// alone. Those that cannot be read, or for which there is no time, are missing.
func verdictsOf(ctx context.Context, r *workspace.Recorded) map[int]metadata.Verdict {
	ctx, stop := context.WithTimeout(ctx, longReading)
	defer stop()
	all, read := map[int]metadata.Verdict{}, 0
	marked, err := r.Marked(ctx, workspace.AttemptTrailer)
	if err != nil {
		return all // the page is whole without them
	}
	commits := map[int]string{}
	for _, c := range marked {
		if n, err := strconv.Atoi(c.Trailer); err == nil { // what others write into a message is not ours
			commits[n] = c.Commit
		}
	}
	for _, a := range slices.Backward(r.Run.Attempts) {
		commit := commits[a.N]
		if a.Step != metadata.Review || a.Verdict == "" || commit == "" {
			continue
		}
		if len(all) == mostVerdicts || read > mostRecords || ctx.Err() != nil {
			break
		}
		data, err := r.Source.ReadFile(ctx, commit, phases.RecordFile(r.Run.IssueNumber))
		if err != nil {
			continue
		}
		read += len(data)
		if v := verdictIn(data, a.Phase); v != nil {
			all[a.N] = *v
		}
	}
	return all
}

// verdictIn gives the verdict that a record has of a phase. Only as much is read of the
// record as it takes: most of it stands behind the phases.
func verdictIn(record []byte, phase string) *metadata.Verdict {
	in := json.NewDecoder(bytes.NewReader(record))
	if _, err := in.Token(); err != nil {
		return nil
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil
		}
		if name != "phases" {
			var passed json.RawMessage
			if in.Decode(&passed) != nil {
				return nil
			}
			continue
		}
		var phases map[string]struct{ Verdict *metadata.Verdict }
		if in.Decode(&phases) != nil {
			return nil
		}
		return phases[phase].Verdict
	}
	return nil
}
