package view

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Opened gives the changes of protected paths that wait for a person.
func Opened(plan *pipelines.Pipeline, run metadata.Run) (all []metadata.Opened) {
	for _, rec := range run.Phases {
		if phase, _, _, ok := phases.ApprovalOf(plan, run, rec.Name); ok && phase == rec.Name {
			all = append(all, rec.Opened...)
		}
	}
	return all
}
