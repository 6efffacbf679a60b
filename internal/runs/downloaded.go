package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// downloaded shows transcripts from artifacts of jobs.
func (l logs) downloaded(r *workspace.Recorded) error {
	kept, err := foundIn(l.o.From)
	if err != nil {
		return err
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

// foundIn finds the transcripts in a folder into which artifacts of jobs were downloaded, the oldest first.
func foundIn(folder string) ([]agents.Kept, error) {
	kept, err := agents.FindKept(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("%s: there is no such folder", folder)
	}
	if err == nil && len(kept) == 0 {
		err = exit.Usagef("there is no transcript in %s, nor in folders in it: name the folder into which you have downloaded artifacts of jobs that ran with upload: true", folder)
	}
	return kept, err
}

// addDownloaded adds to the transcripts of a run, by the numbers of their attempts, those of
// its jobs that were downloaded into a folder.
func addDownloaded(all map[int][]agents.Entry, run metadata.Run, folder string) error {
	kept, err := foundIn(folder)
	if err != nil {
		return err
	}
	read, found := 0, false
	for _, k := range slices.Backward(kept) {
		n, known := numberOf(k, run.Attempts)
		found = found || known
		if _, twice := all[n]; !known || twice || read > mostOfTalk {
			continue
		}
		if all[n], err = agents.ReadTranscript(k.Dir, k.Attempt); err != nil {
			return fmt.Errorf("read the transcript of attempt %d in %s: %w", k.Attempt, k.Dir, err)
		}
		read += sizeOf(all[n])
	}
	if !found {
		return exit.Usagef("there are %d transcripts in %s, and none is of the run of issue %s", len(kept), folder, run.IssueNumber)
	}
	return nil
}

// numbered gives transcripts the numbers that their attempts have in a run.
func numbered(kept []agents.Kept, attempts []metadata.Attempt) []saved {
	all := make([]saved, 0, len(kept))
	for _, k := range kept {
		n, _ := numberOf(k, attempts)
		all = append(all, saved{k, n})
	}
	return all
}

// numberOf gives the number of the attempt whose transcript it is, and whether there is one;
// otherwise the number that the transcript had. Jobs that did parts at the same time have
// counted on from the same number, each for itself, and the record counts anew.
func numberOf(k agents.Kept, attempts []metadata.Attempt) (n int, known bool) {
	for _, a := range attempts {
		if a.Phase == k.Call.Phase && a.Step == k.Call.Step && !k.At.Before(a.StartedAt) && (a.EndedAt == nil || !k.At.After(*a.EndedAt)) {
			return a.N, true
		}
	}
	return k.Attempt, false
}
