package phases

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// PhasesBeside reports whether a phase or part may be done while others are at work, or was begun like that.
func PhasesBeside(plan *pipelines.Pipeline, rec *metadata.Phase) bool {
	return rec.Task != "" || plan.Parallel || rec.Lane != nil
}

// waitsForOthers reports whether a phase or part waits for one that is not done.
func waitsForOthers(c Course, rec *metadata.Phase, undone map[string]bool) bool {
	for name := range undone {
		if needs(c, rec, name) {
			return true
		}
	}
	return false
}

// needs reports whether a phase or part can only begin when an earlier one is done.
func needs(c Course, rec *metadata.Phase, earlier string) bool {
	other := c.Run.Phase(earlier)
	switch {
	case other == nil || partBeside(rec, other):
		return PartNeeds(&c.Run, rec, earlier)
	case !c.Plan.Parallel, WholeOf(other) == rec.Name:
		return true
	case WholeOf(other) != "":
		return false // the phase of which it is a part is not done either
	}
	// What a rule has put in says nothing of who needs it: it keeps its place.
	return c.Plan.IsSpare(cmp.Or(WholeOf(rec), rec.Name)) || c.Plan.IsSpare(earlier) || asks(c, rec.Name, earlier)
}

// asks reports whether the pipeline says that a phase needs an earlier one: itself, or through one that was left out.
func asks(c Course, phase, earlier string) bool {
	p := c.Plan.Phase(phase)
	return p == nil || slices.ContainsFunc(p.Needs, func(need string) bool {
		rec := c.Run.Phase(need)
		return need == earlier || rec != nil && rec.Status == metadata.PhaseSkipped && asks(c, need, earlier)
	})
}

// undoneBefore gives the names of the phases that one builds on: those before it and, in a
// pipeline with parallel: true, of these only the ones that it needs, and that they need.
func undoneBefore(c Course, phase string) map[string]bool {
	at := slices.IndexFunc(c.Run.Phases, func(p metadata.Phase) bool { return p.Name == phase })
	out := map[string]bool{}
	var add func(at int)
	add = func(at int) {
		for i := range at {
			if earlier := c.Run.Phases[i].Name; !out[earlier] && needs(c, &c.Run.Phases[at], earlier) {
				out[earlier] = true
				add(i)
			}
		}
	}
	add(max(at, 0))
	return out
}

// VisiblePhases gives the phases and parts before one whose artifacts its agents are told of: all that are done, but
// the parts of other phases, as the artifact of a whole names theirs.
func VisiblePhases(c Course, phase string) (out []*pipelines.Phase) {
	needed := undoneBefore(c, phase)
	for i := range c.Run.Phases {
		rec := &c.Run.Phases[i]
		if rec.Name == phase {
			break
		}
		whole := WholeOf(rec)
		if whole != "" && whole != phase && !strings.HasPrefix(phase, whole+".") || whole == "" && c.Plan.Parallel && !needed[rec.Name] {
			continue
		}
		if p := c.Plan.Phase(rec.Name); p != nil && rec.Status == metadata.PhaseCompleted {
			out = append(out, p)
		}
	}
	return out
}

// phasesNeeding gives the phases and parts that build on one, in the order of the record.
func phasesNeeding(c Course, target *metadata.Phase, codeToo bool) (out []*metadata.Phase) {
	for i := range c.Run.Phases {
		rec := &c.Run.Phases[i]
		if rec == target {
			continue
		}
		beside := c.Plan.Parallel || partBeside(rec, target)
		later := codeToo && beside && since(newestOrder(&c.Run, rec.Name), newestOrder(&c.Run, target.Name))
		if later || undoneBefore(c, rec.Name)[target.Name] {
			out = append(out, rec)
		}
	}
	return out
}

// newestOrder gives the newest attempt of a phase at its work, which is more than to run its checks
// again; nil if there is none.
func newestOrder(run *metadata.Run, phase string) *metadata.Attempt {
	for i := range slices.Backward(run.Attempts) {
		if a := &run.Attempts[i]; a.Phase == phase && a.Step != metadata.Check {
			return a
		}
	}
	return nil
}

// since reports whether an attempt is newer than another one.
func since(a, other *metadata.Attempt) bool {
	switch {
	case a == nil || other == nil:
		return a != nil
	case a.EndedAt == nil || other.EndedAt == nil:
		return a.N > other.N
	}
	return !a.EndedAt.Before(*other.EndedAt)
}

// independentParts gives how many of the tasks that a phase has found could be done at the same time: of none waits
// one for another, and no two may change the same file. Those with the fewest others in their way are chosen first.
func independentParts(run metadata.Run, found string) int {
	var tasks, chosen []metadata.Task
	for _, t := range run.Tasks {
		if t.Phase == found && len(tasks) < mostParts {
			tasks = append(tasks, t)
		}
	}
	waits := waiting(tasks)
	clashes := func(t metadata.Task, all []metadata.Task) (n int) {
		for _, other := range all {
			if waits[t.ID][other.ID] || waits[other.ID][t.ID] || partsOverlap(t.Files, other.Files) {
				n++
			}
		}
		return n
	}
	for _, t := range slices.SortedStableFunc(slices.Values(tasks), func(a, b metadata.Task) int { return clashes(a, tasks) - clashes(b, tasks) }) {
		if clashes(t, chosen) == 0 {
			chosen = append(chosen, t)
		}
	}
	return len(chosen)
}

// waiting gives for the id of each task those of the tasks that it waits for: the ones that it
// needs, and that they need.
func waiting(tasks []metadata.Task) map[string]map[string]bool {
	waits := map[string]map[string]bool{}
	for _, t := range ordered(tasks) {
		all := map[string]bool{}
		for _, need := range t.Needs {
			all[need] = true
			for further := range waits[need] {
				all[further] = true
			}
		}
		waits[t.ID] = all
	}
	return waits
}

// partsOverlap reports whether one list has a path of the other, or one above or below it. A list
// without paths stands for all there are.
func partsOverlap(a, b []string) bool {
	for _, p := range a {
		for _, q := range b {
			p, q := strings.TrimSuffix(p, "/")+"/", strings.TrimSuffix(q, "/")+"/"
			if strings.HasPrefix(p, q) || strings.HasPrefix(q, p) {
				return true
			}
		}
	}
	return len(a) == 0 || len(b) == 0
}

// InOrder compares moments of a run. Those of its decisions come as these were taken: a clock may have gone back since.
func InOrder(run metadata.Run) func(a, b time.Time) int {
	place := map[int64]int{}
	for i, d := range slices.Backward(run.Decisions) {
		place[d.At.UnixNano()] = i
	}
	return func(a, b time.Time) int {
		i, known := place[a.UnixNano()]
		if j, too := place[b.UnixNano()]; known && too {
			return cmp.Compare(i, j)
		}
		return a.Compare(b)
	}
}
