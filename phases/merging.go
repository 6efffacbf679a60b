package phases

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// What pipelines say of when the base is merged; otherwise that is done before a run ends.
const (
	mergeBeforeCode = "before-code"
	mergeNever      = "never"
)

// Steps of decisions: people ask for a merge, it is made, or left to people.
const (
	stepAsked    = "update"
	stepMerged   = "merge"
	stepConflict = "conflict"
)

// mostTries is how often in a row agents resolve conflicts.
const mostTries = 2

// MergeDue reports whether the base is to be looked at before a decision is carried out.
func MergeDue(c Course, d Decision) bool {
	switch {
	case MergeRequested(c.Run):
		return true
	case c.Plan.Update == mergeNever:
		return false
	case c.Plan.Update == mergeBeforeCode:
		return d.Do == DoExecute && writes(c.Plan, d.Phase) && conflictMender(c) == "" && newest(c.Run, stepMerged, stepAsked, stepConflict).Step != stepConflict
	}
	return d.Do == DoFinish || d.Do == DoWait && d.Code == metadata.AwaitingCI
}

// MergeEnds reports whether a decision ends a run that has had conflicts of the base to mend,
// because no agent gets further.
func MergeEnds(run metadata.Run, d Decision) bool {
	return len(LastConflicts(run)) > 0 && (d.Do == DoFail || d.Code == metadata.Stuck)
}

// MergeRequested reports whether a person wants the base merged, and it was not since.
func MergeRequested(run metadata.Run) bool {
	return newest(run, stepMerged, stepAsked, stepConflict).Step == stepAsked
}

// newest is the newest decision of one of some steps; zero if there is none.
func newest(run metadata.Run, steps ...string) metadata.Decision {
	for _, d := range slices.Backward(run.Decisions) {
		if slices.Contains(steps, d.Step) {
			return d
		}
	}
	return metadata.Decision{}
}

// AskForMerge gives the record of a run that goes on so that the base is merged.
func AskForMerge(run metadata.Run, at time.Time) metadata.Run {
	next := run.Clone()
	next.Status, next.Stop = metadata.Running, nil
	return touch(next, at)
}

// MergeMade gives the record after a commit of the base was merged.
func MergeMade(c Course, m metadata.Merge, why metadata.Reason) metadata.Run {
	next := MergeNoted(c.Run, m, why)
	if next.CI != nil {
		next.CI.After = 0
	}
	if len(m.Conflicts) == 0 { // else that would be said of files with marks
		checkAgain(c.Plan, &next)
	}
	return next
}

// MergeNoted gives the record of a run whose branch has a commit of the base, as Made does, and asks nothing anew.
func MergeNoted(run metadata.Run, m metadata.Merge, why metadata.Reason) metadata.Run {
	next := run.Clone()
	m.Attempt = len(run.Attempts)
	if m.Commit != run.BaseCommit {
		next.Baseline = nil // that was of the earlier base
	}
	next.BaseCommit, next.Merges = m.Commit, append(next.Merges, m)
	note(&next, m.At, stepMerged, run.CurrentPhase, why)
	for i := range next.Phases {
		if rec := &next.Phases[i]; rec.Base != "" && rec.Upstream == "" {
			rec.Upstream = run.BaseCommit // what the base brings is no work of the phase
		}
	}
	next.Revision, next.UpdatedAt = run.Revision+1, m.At
	return next
}

// ConflictMended gives the record of a run in which the conflicts of the newest merge are mended, and in which checks
// of phases before the one that mended them have to run again; ok is false where that is not so.
func ConflictMended(c Course, at time.Time) (next metadata.Run, ok bool) {
	mender := conflictMender(c)
	rec := c.Run.Phase(mender)
	if rec == nil || rec.Status != metadata.PhaseCompleted || len(LastConflicts(c.Run)) == 0 || len(OpenConflicts(c.Run)) > 0 {
		return c.Run, false
	}
	next = MergeMade(c, metadata.Merge{At: at, Commit: c.Run.BaseCommit}, metadata.Because("base_mended", "paths", LastConflicts(c.Run)))
	return next, slices.ContainsFunc(next.Phases, func(p metadata.Phase) bool {
		return p.Name != mender && p.Status == metadata.PhaseInProgress && c.Run.Phase(p.Name).Status == metadata.PhaseCompleted
	})
}

// checkAgain has each check of code run again in the newest phase that has it.
func checkAgain(plan *pipelines.Pipeline, run *metadata.Run) {
	again := map[string]bool{}
	for i := range slices.Backward(run.Phases) {
		rec := &run.Phases[i]
		p := plan.Phase(rec.Name)
		if p == nil || rec.Status != metadata.PhaseCompleted || p.Access != pipelines.AccessTree || WholeOf(rec) != "" {
			continue
		}
		fresh := false
		for _, c := range p.Checks {
			fresh, again[c.Run] = fresh || !again[c.Run], true
		}
		if !fresh {
			continue
		}
		rec.Status, rec.CurrentStep, rec.CompletedAt, rec.Checks = metadata.PhaseInProgress, metadata.Review, nil, nil
		rec.RetryCount = max(0, min(rec.RetryCount, p.Revisions-1)) // what fails now is mended once at least
	}
}

// OpenConflicts gives the paths at which the newest merge found conflicts that no phase was taken back for yet.
func OpenConflicts(run metadata.Run) []string {
	if newest(run, stepMerged, "rollback").Step != stepMerged {
		return nil
	}
	return LastConflicts(run)
}

// NewestMerge says what the newest merge has brought; nothing if there is none.
func NewestMerge(run metadata.Run) metadata.Reason { return newest(run, stepMerged).Why }

// MergedSince reports whether the base was merged after an attempt of a phase, its newest if that
// is 0: the code as it was then has nothing of what that brought.
func MergedSince(run metadata.Run, phase string, attempt int) bool {
	n := attempt
	for _, a := range run.Attempts {
		if a.Phase == phase && attempt == 0 {
			n = a.N
		}
	}
	return slices.ContainsFunc(run.Merges, func(m metadata.Merge) bool { return m.Attempt >= n })
}

// LastConflicts gives the paths at which the newest merge found conflicts.
func LastConflicts(run metadata.Run) []string {
	if len(run.Merges) == 0 {
		return nil
	}
	return run.Merges[len(run.Merges)-1].Conflicts
}

// WhyPersonMerges says why a person has to mend conflicts at some paths; nothing if an agent may.
func WhyPersonMerges(c Course, paths []string) metadata.Reason {
	for _, p := range paths {
		if pipelines.IsProtected(p, c.Plan.Protect) || metadata.CheckPath(p) != nil { // what agents do at such names is taken back
			return metadata.Because("conflict_protected", "path", Printable(p))
		}
	}
	tries, order := 0, InOrder(c.Run)
	for _, m := range c.Run.Merges {
		if len(m.Conflicts) > 0 && !slices.ContainsFunc(c.Run.Decisions, func(d metadata.Decision) bool { return d.By != "" && order(d.At, m.At) > 0 }) {
			tries++
		}
	}
	if tries >= mostTries {
		return metadata.Because("conflict_again", "n", tries)
	}
	if conflictMender(c) == "" {
		return metadata.Because("conflict_nobody")
	}
	return ""
}

// MergeFolder is where the versions lie that a conflict at the path of a number has, counted
// from 1 in the newest merge.
func MergeFolder(c Course, n int) string {
	return path.Join(PhaseFolder(c.Run, c.Plan.Phase(conflictMender(c))), "conflicts", fmt.Sprint(len(c.Run.Merges)), fmt.Sprint(n))
}

// ObsoleteConflict is where the versions of all conflicts lie, once nobody needs them any more; "" as
// long as somebody may, or where there were none.
func ObsoleteConflict(c Course) string {
	rec := c.Run.Phase(conflictMender(c))
	if rec == nil || rec.Status != metadata.PhaseCompleted || len(OpenConflicts(c.Run)) > 0 || !slices.ContainsFunc(c.Run.Merges, func(m metadata.Merge) bool { return len(m.Conflicts) > 0 }) {
		return ""
	}
	return path.Join(PhaseFolder(c.Run, c.Plan.Phase(rec.Name)), "conflicts")
}

// MendConflict takes a run back to Mender, for the conflicts of its newest merge.
func MendConflict(c Course, reason string, at time.Time) (RollbackPlan, error) {
	phase := conflictMender(c)
	back, err := PlanRollback(c, Rollback{To: phase, Step: metadata.Revise, Reason: reason, Trigger: metadata.Automatic, At: at})
	if err != nil {
		return back, err
	}
	rec := back.Run.Phase(phase)
	var results []metadata.CheckResult
	for i, p := range LastConflicts(c.Run) {
		results = append(results, metadata.CheckResult{
			Name: fmt.Sprintf("conflict %d", i+1), Run: "merge of the base", ExitCode: 1,
			Output: p + ": base, ours and theirs of this file, where each has it, lie in " + MergeFolder(c, i+1), // fenced, unlike the name
		})
	}
	rec.Checks = &metadata.Checks{Written: rec.Written, Results: results}
	return back, nil
}

// GiveUpMerge stops a run for a person. Whoever has it go on without a word about the base has it go on
// without the merge; else it would stop again at once.
func GiveUpMerge(c Course, why metadata.Reason, at time.Time) metadata.Run {
	next := Halt(c.Run, metadata.Conflicts, why, at)
	if mender := conflictMender(c); mender != "" { // else the run goes on where it was
		next.Stop.Phase = mender
	}
	note(&next, at, stepConflict, next.Stop.Phase, why)
	return next
}

// conflictMender is the phase that mends conflicts: the newest that may change the code and has
// done so; "" if none has.
func conflictMender(c Course) string {
	for i := range slices.Backward(c.Run.Phases) {
		if rec := &c.Run.Phases[i]; writes(c.Plan, rec.Name) && rec.Written > 0 && WholeOf(rec) == "" {
			return rec.Name
		}
	}
	return ""
}

func writes(plan *pipelines.Pipeline, phase string) bool {
	p := plan.Phase(phase)
	return p != nil && p.Access == pipelines.AccessTree
}
