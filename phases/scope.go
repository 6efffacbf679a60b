package phases

import (
	"encoding/json"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// PlansFiles reports whether a phase comes before the first one that changes code.
func PlansFiles(plan *pipelines.Pipeline, phase string) bool {
	for _, p := range plan.Phases {
		if p.Access == pipelines.AccessTree {
			return false
		}
		if p.Name == phase {
			return true
		}
	}
	return false
}

// Touches lists the files that a run says it will change: those that its tasks name, and
// the list "files" in what its phases have returned. It is sorted.
func PlannedFiles(run metadata.Run) []string {
	var all []string
	for _, t := range run.Tasks {
		all = append(all, t.Files...)
	}
	for _, p := range run.Phases {
		var said struct {
			Files json.RawMessage `json:"files"`
		}
		var files []string
		if json.Unmarshal(p.Report, &said) == nil && json.Unmarshal(said.Files, &files) == nil { // else it has no such list
			all = append(all, files...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
