package pipelines

import (
	"slices"

	"github.com/reprise-ci/reprise/pipelines/parts"
)

// part gives the phase as one of its parts is done: in a folder of its own.
// Approved is the whole.
func (p *Phase) part(id string) *Phase {
	part := *p
	part.Name, part.Folder, part.Approve = p.Name+"."+id, p.Folder+"."+id, ""
	part.NoReview = p.NoReview || p.Split.Review == "whole"
	return &part
}

// splits gives the phase that a rule splits, or "".
func (a *author) splits(r Rule) parts.Phase {
	if r.Then.Split != parts.Next {
		return r.Then.Split
	}
	at := slices.Index(phaseNames(a.Phases), r.After)
	for _, p := range a.Phases[at+1:] {
		if p.Access == AccessTree || p.MustChange {
			return parts.Phase(p.Name)
		}
	}
	return ""
}
