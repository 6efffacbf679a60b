package phases

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// against counts what stands against work, the weightiest first: tests it has lost, checks, gates and open blockers.
func against(v *metadata.Verdict, c *metadata.Checks) []int {
	lost, red := 0, 0
	if c != nil {
		for _, r := range c.Results {
			if !r.Holds() {
				lost, red = lost+max(1, len(r.FailedTests)), red+1
			}
		}
	}
	return []int{lost, red, len(v.FailedGates()), len(v.OpenBlockers())}
}

// keepBest notes that the work which was just judged is the best of its phase, if none before was better: the newest
// of equals. Commit has it. A part that is done beside others gets to the branch only once all is well with it.
func keepBest(rec *metadata.Phase, commit string) {
	if rec.Lane != nil || commit == "" {
		return
	}
	if b := rec.Best; b != nil && b.Written == rec.Written { // it is judged once more
		b.Checks, b.Verdict = rec.Checks, rec.Verdict
		return
	}
	if rec.Best == nil || slices.Compare(against(rec.Verdict, rec.Checks), against(rec.Best.Verdict, rec.Best.Checks)) <= 0 {
		rec.Best = &metadata.Best{
			Commit: commit, Written: rec.Written, Digest: rec.Digest, OutputFiles: rec.OutputFiles,
			Report: rec.Report, Diff: rec.Diff, Checks: rec.Checks, Verdict: rec.Verdict,
		}
	}
}

// stand takes a phase back to its best work, if that is not the newest. Lost are tests that the newest has broken. It
// does not go back to before a merge of the base. It reports whether it has gone back.
func stand(run *metadata.Run, rec *metadata.Phase, lost []string) bool {
	b := rec.Best
	if b == nil || b.Written == rec.Written || slices.ContainsFunc(run.Merges, func(m metadata.Merge) bool { return m.Attempt >= b.Written }) {
		return false
	}
	b.Over, b.Lost = rec.Written, lost
	rec.Written, rec.Digest, rec.OutputFiles, rec.Report, rec.Diff = b.Written, b.Digest, b.OutputFiles, b.Report, b.Diff
	rec.Checks, rec.Verdict, rec.ReviewResult = b.Checks, b.Verdict, ""
	if b.Verdict != nil {
		rec.ReviewResult = string(b.Verdict.Verdict)
	}
	return true
}

// whereItStands adds to the reason why a phase gets no further that it stands on earlier work, if it does.
func whereItStands(rec *metadata.Phase, why metadata.Reason) metadata.Reason {
	if b := rec.Best; b != nil && b.Written == rec.Written && b.Over > 0 {
		return metadata.All(why, metadata.Because("stands_on_best", "attempt", b.Written, "over", b.Over))
	}
	return why
}

// TookBack gives the best work of a phase if a step has taken the phase back to it; nil if not.
func TookBack(before, after *metadata.Phase) *metadata.Best {
	if before == nil || before.Best == nil || after.Written == before.Written || after.Written != before.Best.Written {
		return nil
	}
	return before.Best
}

// LostTests names the tests that pass in the best work of a phase and fail in its newest, whose checks have ended as
// now; a check whose tests are not known counts as one. Diff gives what the newest adds to the best, for a test that it
// adds or changes itself had nothing to lose.
func LostTests(best *metadata.Best, now []metadata.CheckResult, diff func() (string, error)) (lost []string, err error) {
	if best == nil || best.Checks == nil {
		return nil, nil
	}
	for _, c := range now {
		i := slices.IndexFunc(best.Checks.Results, func(b metadata.CheckResult) bool { return b.Name == c.Name && b.Run == c.Run })
		switch {
		case c.Holds() || i < 0:
		case len(c.FailedTests) > 0:
			was := best.Checks.Results[i].FailedTests
			lost = append(lost, slices.DeleteFunc(slices.Clone(c.FailedTests), func(t string) bool { return slices.Contains(was, t) })...)
		case best.Checks.Results[i].Pass:
			return []string{c.Name}, nil
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	text, err := diff()
	if err != nil {
		return nil, err
	}
	var added strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "+") {
			added.WriteString(line)
		}
	}
	return slices.DeleteFunc(lost, func(test string) bool {
		words := testWord().FindAllString(test, -1)
		return len(words) > 0 && strings.Contains(added.String(), words[len(words)-1])
	}), nil
}

// testWord matches the parts of a test's name, of which the last is its own.
var testWord = text.Pattern(`[^\s/:>.#()\[\]]+`)

// writersOf gives the attempts that have written the work of a phase.
func writersOf(run metadata.Run, phase string) (all []int) {
	for _, a := range run.Attempts {
		if a.Phase == phase && a.Status == metadata.Succeeded && (a.Step == metadata.Execute || a.Step == metadata.Revise) {
			all = append(all, a.N)
		}
	}
	return all
}

// StandOn has the phase that is gone back to stand on the work of an earlier attempt, as the record was then.
func (r *RollbackPlan) StandOn(then *metadata.Phase) {
	if rec := r.Run.Phase(r.Entry.ToPhase); then != nil && r.Entry.ToStep != metadata.Execute {
		rec.Written, rec.Digest, rec.OutputFiles, rec.Report, rec.Diff = then.Written, then.Digest, then.OutputFiles, then.Report, then.Diff
		rec.Checks, rec.Verdict = nil, nil // it is judged anew
	}
}
