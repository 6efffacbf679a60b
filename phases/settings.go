package phases

import (
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Assigned returns who does a step: the pipeline's agent, or the one that
// stands in for it while it is missing or has no valid key.
func Assigned(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, step metadata.Step) string {
	name := SettingsIn(plan, run, p, step).Agent
	for range plan.Agents {
		to := plan.Agents[name].Fallback
		if to == "" || !down(run, name) || down(run, to) {
			break
		}
		name = to
	}
	return name
}

// down reports whether the newest call of an agent in this allowance failed for
// a reason that the next call would meet, too.
func down(run metadata.Run, agent string) bool {
	for _, a := range slices.Backward(run.Attempts) {
		if a.N <= run.AllowanceFrom {
			return false
		}
		if a.Agent == agent && a.Status != metadata.Cut && a.Status != metadata.Started {
			return a.Status == metadata.Errored && (a.Class == metadata.Missing || a.Class == metadata.Auth)
		}
	}
	return false
}

// Settings returns how the pipeline wants a step of a phase done.
func Settings(p *pipelines.Phase, step metadata.Step) pipelines.Step {
	switch step {
	case metadata.Review:
		return p.Review
	case metadata.Revise:
		return p.Revise
	}
	return p.Execute
}

// SettingsIn returns how a run does a step of a phase: Settings with what rules
// have changed, such as the agent that writes, or the tier of all steps.
func SettingsIn(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, step metadata.Step) pipelines.Step {
	s := Settings(p, step)
	rec := run.Phase(p.Name)
	if rec == nil || rec.Use == nil {
		return s
	}
	if use := rec.Use.Agent; use != "" && step != metadata.Review && plan.Agents[use].Use != "" {
		s.Agent = use
	}
	if rec.Use.Tier != "" {
		s.Tier = rec.Use.Tier
	}
	if was := Settings(p, step); s.Agent != was.Agent || s.Tier != was.Tier {
		s.Model = plan.Agents[s.Agent].Models[s.Tier]
	}
	return s
}
