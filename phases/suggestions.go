package phases

import (
	"github.com/reprise-ci/reprise/metadata"
)

// hasNewSuggestions reports whether a review that passes has suggestions that the phase may still
// be revised for: once, and not in a circle, since nothing is wrong with the work.
func hasNewSuggestions(run *metadata.Run, rec *metadata.Phase) bool {
	return len(rec.Verdict.OpenSuggestions()) > 0 && !InCircle(rec.Recent) && !actedOnSuggestions(run, rec)
}

// actedOnSuggestions reports whether the work of a phase was revised for suggestions alone: after
// a review that passed, with no check that failed and no merge of parts in between. Where
// the rounds begin anew in a generation, so does the work: others have edited it, or it was left out.
func actedOnSuggestions(run *metadata.Run, rec *metadata.Phase) bool {
	acted, suggested, round := false, false, 0
	for _, a := range run.Attempts {
		if a.Phase != rec.Name || a.Generation != rec.Generation {
			continue
		}
		if a.Round < round {
			acted, suggested = false, false
		}
		round = a.Round
		switch done := a.Status == metadata.Succeeded; {
		case a.Step == metadata.Integrate, a.Step == metadata.Check && a.Verdict == metadata.Fail:
			suggested = false
		case a.Step == metadata.Review && done:
			suggested = a.Verdict == metadata.PassWithSuggestions
		case a.Step == metadata.Revise && done:
			acted, suggested = acted || suggested, false
		}
	}
	return acted
}
