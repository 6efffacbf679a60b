package phases

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// touch makes a record the next one. It has to be a copy of the one before.
func touch(run metadata.Run, at time.Time) metadata.Run {
	run.Revision++
	run.UpdatedAt = at
	return run
}

func phaseNames(run metadata.Run) []string {
	var out []string
	for _, p := range run.Phases {
		out = append(out, p.Name)
	}
	return out
}

func indexOf(list metadata.Phases, name string) int {
	return slices.IndexFunc(list, func(p metadata.Phase) bool { return p.Name == name })
}
