package split

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
func names(phase, task string) bool {
	part := name(phase, task)
	return metadata.CheckID(task) == nil && metadata.CheckID(part) == nil && metadata.CheckNewPath(part) == nil && metadata.CheckBranch(part) == nil
}

// Whole gives the name of the phase of which a record is a part; "" if it is none.
func Whole(rec *metadata.Phase) string {
	if rec.Task == "" {
		return ""
	}
	return strings.TrimSuffix(rec.Name, "."+rec.Task)
}

// Gone reports whether a record is that of a part that does no task any more.
// The history names it.
func Gone(rec *metadata.Phase) bool { return rec.Task == "" && strings.Contains(rec.Name, ".") }

// Parts gives those parts of a phase that were not left out, in their order. They
// point into run.
func Parts(run *metadata.Run, phase string) []*metadata.Phase {
	var out []*metadata.Phase
	for i := range run.Phases {
		if rec := &run.Phases[i]; Whole(rec) == phase && rec.Task != "" && rec.Status != metadata.PhaseSkipped {
			out = append(out, rec)
		}
	}
	return out
}

// Begun reports whether a part of a phase has begun.
func Begun(run *metadata.Run, phase string) bool {
	return slices.ContainsFunc(Parts(run, phase), func(rec *metadata.Phase) bool { return rec.Status != metadata.PhasePending })
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

// Needs reports whether a part needs another one right before it.
func Needs(run *metadata.Run, rec *metadata.Phase, other string) bool {
	t := TaskOf(run, rec)
	return t != nil && slices.ContainsFunc(t.Needs, func(id string) bool { return name(Whole(rec), id) == other })
}

// NeedsAny reports whether a part needs one of some phases right before it.
func NeedsAny(run *metadata.Run, rec *metadata.Phase, of map[string]bool) bool {
	for other := range of {
		if Needs(run, rec, other) {
			return true
		}
	}
	return false
}

// Beside reports whether two records are those of parts of the same phase.
func Beside(rec, other *metadata.Phase) bool {
	return rec.Task != "" && other != nil && other.Task != "" && Whole(rec) == Whole(other)
}

// Needing gives the parts that need a part, also those that need one of these. If
// the code is taken back to where the part ended, those that were worked on since
// are among them.
func Needing(run *metadata.Run, rec *metadata.Phase, codeToo bool) []*metadata.Phase {
	out := []*metadata.Phase{rec}
	for i := 0; i < len(out); i++ {
		for _, other := range Parts(run, Whole(rec)) {
			later := codeToo && newest(run, other.Name) > newest(run, rec.Name)
			if !slices.Contains(out, other) && (later || Needs(run, other, out[i].Name)) {
				out = append(out, other)
			}
		}
	}
	return out[1:]
}

// newest gives the number of the newest attempt of a phase; 0 if there is none.
func newest(run *metadata.Run, phase string) int {
	for _, a := range slices.Backward(run.Attempts) {
		if a.Phase == phase {
			return a.N
		}
	}
	return 0
}

// First gives the part of a phase that began first, and has a commit that it started
// from; nil if none has begun.
func First(run *metadata.Run, phase string) *metadata.Phase {
	for _, a := range run.Attempts {
		if rec := run.Phase(a.Phase); rec != nil && Whole(rec) == phase && rec.Base != "" {
			return rec
		}
	}
	return nil
}
