package progresstest

import (
	"slices"

	"github.com/reprise-ci/reprise/metadata"
)

// Split gives a phase of a play that has not begun two parts, of which the second
// needs the first and has a hostile title.
func Split(p *Play, phase string) {
	p.Run.Tasks = []metadata.Task{
		{ID: "t1", Phase: p.Plan.Phases[0].Name, Title: "Read it", Goal: "It is read."},
		{ID: "t2", Phase: p.Plan.Phases[0].Name, Title: "\"]; click p1 <b>", Goal: "It is shown.", Needs: []string{"t1"}},
	}
	at := slices.IndexFunc(p.Run.Phases, func(r metadata.Phase) bool { return r.Name == phase })
	p.Run.Phases = slices.Insert(p.Run.Phases, at,
		metadata.Phase{Name: phase + ".t1", Task: "t1", Status: metadata.PhasePending},
		metadata.Phase{Name: phase + ".t2", Task: "t2", Status: metadata.PhasePending},
	)
}
