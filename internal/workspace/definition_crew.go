package workspace

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// ReplaceAgents makes one agent do all the work: one of the pipeline, by name or program, or one that reprise knows.
func ReplaceAgents(plan *pipelines.Pipeline, name string) error {
	with, ok := plan.Agents[name]
	if !ok {
		with = pipelines.Agent{Use: name}
		if _, err := agents.For(name, with, agents.Options{}); err != nil {
			return exit.Usagef("--agent %s: %w; pipeline %s names %s", name, err, plan.Name, strings.Join(slices.Sorted(maps.Keys(plan.Agents)), ", "))
		}
		if named := thatUses(plan, name); named != "" {
			with = plan.Agents[named]
			with.Access = ""
		}
	}
	with.Fallback = ""
	plan.Agents = map[string]pipelines.Agent{name: with}
	for _, p := range phasesOf(plan) {
		for _, s := range []*pipelines.Step{&p.Execute, &p.Review, &p.Revise} {
			give(plan, p, s, name)
		}
	}
	return nil
}

// install gives the work of agents that are not installed to those that stand in for them, else to others that are.
func install(plan *pipelines.Pipeline, installed []string) {
	there := func(name string) bool {
		use := plan.Agents[name].Use
		return use == "command" || use == agents.Rehearsal || slices.Contains(installed, use)
	}
	for _, p := range phasesOf(plan) {
		for _, s := range []*pipelines.Step{&p.Execute, &p.Revise, &p.Review} { // the last goes by the first
			to := s.Agent
			for range plan.Agents {
				if !there(to) && plan.Agents[to].Fallback != "" {
					to = plan.Agents[to].Fallback
				}
			}
			if !there(to) {
				to = cmp.Or(thatUses(plan, installed[0]), installed[0])
			}
			if _, known := plan.Agents[to]; !known {
				plan.Agents = maps.Clone(plan.Agents)
				plan.Agents[to] = pipelines.Agent{Use: to}
			}
			if to != s.Agent {
				give(plan, p, s, to)
			}
		}
	}
}

// give has an agent do a step with its model of the tier. A reviewer has another one than the writer, if there is one.
func give(plan *pipelines.Pipeline, p *pipelines.Phase, s *pipelines.Step, name string) {
	agent, writer := plan.Agents[name], plan.Agents[p.Execute.Agent]
	s.Agent, s.Model = name, agent.Models[s.Tier]
	if s == &p.Review && writer.Use == agent.Use && s.Model == p.Execute.Model {
		s.Model = cmp.Or(agent.Other(s.Tier), s.Model)
	}
}

// thatUses names the agent with this program, preferably one that may do all and has models; "" if there is none.
func thatUses(plan *pipelines.Pipeline, program string) (best string) {
	rank := func(name string) int {
		a, n := plan.Agents[name], 0
		if a.Access == "" {
			n += 2
		}
		if len(a.Models) > 0 {
			n++
		}
		return n
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		if plan.Agents[name].Use == program && (best == "" || rank(name) > rank(best)) {
			best = name
		}
	}
	return best
}

// phasesOf gives all phases of a plan, to be changed.
func phasesOf(plan *pipelines.Pipeline) []*pipelines.Phase {
	var out []*pipelines.Phase
	for _, list := range [][]pipelines.Phase{plan.Phases, plan.Spare} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

// adjust has a plan work as the weight deserves. Models that the pipeline names for a step stay.
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
