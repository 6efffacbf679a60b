package runs

import (
	"errors"
	"io/fs"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/transcript"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// downloaded shows transcripts from artifacts of jobs.
func (l logs) downloaded(r *workspace.Recorded) error {
	kept, err := transcript.Find(l.o.From)
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Usagef("%s: there is no such folder", l.o.From)
	}
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return exit.Usagef("there is no transcript in %s, nor in folders in it: name the folder into which you have downloaded artifacts of jobs that ran with upload: true", l.o.From)
	}
	var attempts []metadata.Attempt
	if r != nil {
		attempts = r.Run.Attempts
	}
	all := l.chosen(numbered(kept, attempts))
	if len(all) == 0 {
		return exit.Usagef("there are %d transcripts in %s, and none that is asked for: --all shows them", len(kept), l.o.From)
	}
	return l.show(all)
}

// numbered gives transcripts the numbers that their attempts have in a run. Jobs that did
// parts at the same time have counted on from the same number, each for itself, and the
// record counts anew. One that is no attempt of it keeps the number that it had.
func numbered(kept []transcript.Kept, attempts []metadata.Attempt) []saved {
	all := make([]saved, 0, len(kept))
	for _, k := range kept {
		s := saved{k, k.Attempt}
		for _, a := range attempts {
			if a.Phase == k.Call.Phase && a.Step == k.Call.Step && during(a, k.At) {
				s.n = a.N
			}
		}
		all = append(all, s)
	}
	return all
}

// during reports whether an attempt was at work at a time.
func during(a metadata.Attempt, at time.Time) bool {
	return !at.Before(a.StartedAt) && (a.EndedAt == nil || !at.After(*a.EndedAt))
}
