package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// What vet says of pipelines that have no mistakes: what their author may not have
// thought of.

// changeable says of each program of the repository that a pipeline starts as an
// agent what another agent could change of it: reprise protects that file, and
// not what the file loads.
func changeable(src *git.Source, plans []*pipelines.Pipeline) (notes []string) {
	if src == nil {
		return nil
	}
	for _, plan := range plans {
		for _, agent := range slices.Sorted(maps.Keys(plan.Agents)) {
			for _, file := range phases.Programs(plan.Agents[agent]) {
				dir := path.Dir(file)
				if info, err := os.Stat(filepath.Join(src.Dir, filepath.FromSlash(file))); err != nil || info.IsDir() || pipelines.MatchesPath(dir+"/x", plan.Protect) {
					continue
				}
				way := fmt.Sprintf("add protect: [%q]", dir+"/**")
				if dir == "." {
					way = "put it into a folder of its own, and protect that"
				}
				notes = append(notes, fmt.Sprintf("pipeline %s: no agent can change %s, which is the agent %s, but any can change what that file loads from the repository; to keep that, %s",
					text.Flat(plan.Name), text.Flat(file), text.Flat(agent), way))
			}
		}
	}
	return notes
}

// unpriced says which models of lists nobody knows a price of. Such a name may be
// misspelled, and then the model that is meant is refused.
func unpriced(plans []*pipelines.Pipeline) (notes []string) {
	for _, plan := range plans {
		said := map[string]bool{}
		for _, step := range workspace.StepsOf(plan) {
			for _, model := range step.Models {
				if said[model] || agents.PriceKnown(plan, model) {
					continue
				}
				said[model] = true
				notes = append(notes, fmt.Sprintf("pipeline %s: allow_models: no price is known for %q, so it counts as the most expensive known one; if it is spelled correctly, give its price under prices",
					text.Flat(plan.Name), model))
			}
		}
	}
	return notes
}

// holding says which logins the programs of pipelines hold here.
func holding(plans []*pipelines.Pipeline, env []string) (notes []string) {
	for _, plan := range plans {
		for _, note := range doctor.Holding(plan.Agents, env) {
			notes = append(notes, fmt.Sprintf("pipeline %s: %s", text.Flat(plan.Name), note))
		}
	}
	return notes
}
