package workspace

import (
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// adjust has a plan work as an issue deserves that an agent has judged. Models that the
// pipeline names for a step stay.
func adjust(plan *pipelines.Pipeline, w source.Weight) {
	for _, p := range phasesOf(plan) {
		switch w {
		case source.Light:
			p.Revisions = min(p.Revisions, source.LightRevisions)
			for _, s := range []*pipelines.Step{&p.Execute, &p.Revise} {
				if s.Tier == "heavy" {
					retier(plan, p, s, "medium")
				}
			}
			retier(plan, p, &p.Review, p.Review.Tier) // it goes by who writes
		case source.Careful:
			if p.Revisions > 0 {
				p.Revisions += source.CarefulRevisions
			}
			retier(plan, p, &p.Review, "heavy")
		}
	}
}

// retier has a step done with the model of another tier, unless it names one itself.
func retier(plan *pipelines.Pipeline, p *pipelines.Phase, s *pipelines.Step, tier string) {
	if agent := plan.Agents[s.Agent]; s.Model == agent.Models[s.Tier] || s.Model == agent.Other(s.Tier) {
		s.Tier = tier
		give(plan, p, s, s.Agent)
	}
}
