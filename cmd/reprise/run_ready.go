package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// ready says what is missing before anything is spent.
func (w *workspace) ready(opts agents.Options) error {
	var missing []string
	for _, name := range w.needed() {
		missing = append(missing, w.missing(name, opts)...)
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	return fmt.Errorf("no agent can do this work:\n%s\nInstall one of them, or try without any: --agent %s", strings.Join(missing, "\n"), rehearsal)
}

// missing says why neither an agent nor those that stand in for it are there;
// nothing if one is.
func (w *workspace) missing(name string, opts agents.Options) []string {
	var why []string
	a := w.plan.Agents[name]
	for range w.plan.Agents { // vet has refused fallbacks that go in a circle
		err := agents.Probe(a.Use, a, w.repo.Tree(), opts)
		if err == nil {
			return nil
		}
		line := fmt.Sprintf("  %s: %v", name, err)
		var ae *phases.AgentError
		if errors.As(err, &ae) && ae.Hint != "" {
			line += "; " + ae.Hint
		}
		why = append(why, line)
		if a.Fallback == "" {
			break
		}
		name, a = a.Fallback, w.plan.Agents[a.Fallback]
	}
	return why
}

// needed lists the agents that the plan's steps name, each once.
func (w *workspace) needed() []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range w.plan.Phases {
		for _, s := range []metadata.Step{metadata.Execute, metadata.Review, metadata.Revise} {
			if s == metadata.Review && p.NoReview {
				continue
			}
			if name := phases.Settings(&p, s).Agent; !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}
