package phases

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// mostName is the most bytes that the name of a phase or of a part may have.
const mostName = 64

// name is that of the part of a phase that does a task.
func name(phase, task string) string { return phase + "." + task }

// names reports whether the id of a task can stand in the name of a part, which
// becomes that of a folder.
func isPartName(phase, task string) bool {
	part := name(phase, task)
	return metadata.CheckID(task) == nil && metadata.CheckID(part) == nil && metadata.CheckNewPath(part) == nil && metadata.CheckBranch(part) == nil
}

// WholeOf gives the name of the phase of which a record is a part; "" if it is none.
func WholeOf(rec *metadata.Phase) string {
	if rec.Task == "" {
		return ""
	}
	return strings.TrimSuffix(rec.Name, "."+rec.Task)
}

// PhaseOf gives the name of the phase that a record is of: of its own, or of that of which it
// is a part.
func PhaseOf(rec *metadata.Phase) string {
	if whole := WholeOf(rec); whole != "" {
		return whole
	}
	return rec.Name
}

// PartGone reports whether a record is that of a part that does no task any more.
// The history names it.
func PartGone(rec *metadata.Phase) bool { return rec.Task == "" && strings.Contains(rec.Name, ".") }

// PartsOf gives those parts of a phase that were not left out, in their order. They
// point into run.
func PartsOf(run *metadata.Run, phase string) []*metadata.Phase {
	var out []*metadata.Phase
	for i := range run.Phases {
		if rec := &run.Phases[i]; WholeOf(rec) == phase && rec.Task != "" && rec.Status != metadata.PhaseSkipped {
			out = append(out, rec)
		}
	}
	return out
}

// PartsBegun reports whether a part of a phase has begun.
func PartsBegun(run *metadata.Run, phase string) bool {
	return slices.ContainsFunc(PartsOf(run, phase), func(rec *metadata.Phase) bool { return rec.Status != metadata.PhasePending })
}

// TaskOf gives the task that a part does; nil for a record that is none.
func TaskOf(run *metadata.Run, rec *metadata.Phase) *metadata.Task {
	for i := range run.Tasks {
		if rec.Task != "" && run.Tasks[i].ID == rec.Task {
			return &run.Tasks[i]
		}
	}
	return nil
}

// PartNeeds reports whether a part needs another one right before it.
func PartNeeds(run *metadata.Run, rec *metadata.Phase, other string) bool {
	t := TaskOf(run, rec)
	return t != nil && slices.ContainsFunc(t.Needs, func(id string) bool { return name(WholeOf(rec), id) == other })
}

// PartBeside reports whether two records are those of parts of the same phase.
func PartBeside(rec, other *metadata.Phase) bool {
	return rec.Task != "" && other != nil && other.Task != "" && WholeOf(rec) == WholeOf(other)
}

// FirstPart gives the part of a phase that began first, and has a commit that it started
// from; nil if none has begun.
func FirstPart(run *metadata.Run, phase string) *metadata.Phase {
	for _, a := range run.Attempts {
		if rec := run.Phase(a.Phase); rec != nil && WholeOf(rec) == phase && rec.Base != "" {
			return rec
		}
	}
	return nil
}
