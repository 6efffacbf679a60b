package phases

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// PartsInto gives a phase that has not begun a part for each task that another phase
// has found, each behind those that it needs, and returns how many. A single task
// is no reason to split.
func PartsInto(run *metadata.Run, after, phase string) int {
	prune(run)
	var tasks []metadata.Task
	for _, t := range run.Tasks {
		if t.Phase == after && isPartName(phase, t.ID) {
			tasks = append(tasks, t)
		}
	}
	whole := run.Phase(phase)
	if whole == nil || whole.Status != metadata.PhasePending || len(tasks) < 2 {
		return 0
	}
	var parts metadata.Phases
	for _, t := range ordered(tasks) {
		part := metadata.Phase{Name: name(phase, t.ID), Task: t.ID, Status: metadata.PhasePending}
		if whole.Use != nil {
			same := *whole.Use
			part.Use = &same
		}
		switch was := run.Phase(part.Name); {
		case was != nil && was.Task != "":
			part = *was
		case was != nil:
			part.Generation, part.AllowanceFrom = was.Generation, was.AllowanceFrom
		}
		parts = append(parts, part)
	}
	there := func(p metadata.Phase) bool {
		return slices.ContainsFunc(parts, func(part metadata.Phase) bool { return part.Name == p.Name })
	}
	run.Phases = slices.DeleteFunc(run.Phases, there)
	at := slices.IndexFunc(run.Phases, func(p metadata.Phase) bool { return p.Name == phase })
	run.Phases = slices.Insert(run.Phases, at, parts...)
	return len(parts)
}

// ordered gives tasks so that each follows those that it needs, and else in the
// order in which they were found.
func ordered(tasks []metadata.Task) []metadata.Task {
	left, out := slices.Clone(tasks), []metadata.Task{}
	for len(left) > 0 {
		open := idsOf(left)
		i := slices.IndexFunc(left, func(t metadata.Task) bool {
			return !slices.ContainsFunc(t.Needs, func(id string) bool { return open[id] })
		})
		i = max(i, 0) // a record from before circles were refused may have one
		out, left = append(out, left[i]), slices.Delete(left, i, i+1)
	}
	return out
}

// UndoParts takes back that phases were split into the tasks that some phases have
// found. Whether they are split again is decided anew.
func UndoParts(run *metadata.Run, found func(phase string) bool) {
	undo(run, func(t *metadata.Task) bool { return t != nil && found(t.Phase) })
	prune(run)
}

// undo ends the parts that do certain tasks; nil stands for one that is not there
// any more.
func undo(run *metadata.Run, certain func(t *metadata.Task) bool) {
	for i := range run.Phases {
		if rec := &run.Phases[i]; rec.Task != "" && certain(TaskOf(run, rec)) {
			*rec = metadata.Phase{Name: rec.Name, Status: metadata.PhaseSkipped, Generation: rec.Generation, AllowanceFrom: rec.AllowanceFrom}
		}
	}
}

// prune takes out the parts that are gone and that the history does not name.
func prune(run *metadata.Run) {
	run.Phases = slices.DeleteFunc(run.Phases, func(rec metadata.Phase) bool { return PartGone(&rec) && !namedSplit(*run, rec.Name) })
}

// Named reports whether the history of a run speaks of a phase, or of a part of the
// same phase.
func NamesPart(run metadata.Run, rec *metadata.Phase) bool {
	whole := rec.Name
	if rec.Task != "" {
		whole = WholeOf(rec)
	}
	return slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool {
		return (p.Name == whole || OwnsPart(whole, &p)) && namedSplit(run, p.Name)
	})
}

// named reports whether the history of a run speaks of a phase.
func namedSplit(run metadata.Run, phase string) bool {
	return slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Phase == phase }) ||
		slices.ContainsFunc(run.RollbackHistory, func(r metadata.Rollback) bool { return r.ToPhase == phase || r.FromPhase == phase }) ||
		slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Phase == phase })
}

// OwnsPart reports whether a record is, or was, one of a part of a phase.
func OwnsPart(phase string, rec *metadata.Phase) bool { return strings.HasPrefix(rec.Name, phase+".") }
