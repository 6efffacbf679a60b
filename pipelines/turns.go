package pipelines

import "slices"

// HoldsTurns reports whether an agent keeps to a limit on turns. A program of
// the user's own is told the limit, and a rehearsal has one turn.
func (a Agent) HoldsTurns() bool { return a.Use != "codex" && a.Use != "gemini" }

// boundless gives the first of an agent and those that it falls back on that
// keeps to no limit on turns; "" if all do. Names that lead nowhere do.
func boundless(agents map[string]Agent, name string) string {
	for seen := []string{}; name != "" && !slices.Contains(seen, name); name = agents[name].Fallback {
		if a, ok := agents[name]; ok && !a.HoldsTurns() {
			return name
		}
		seen = append(seen, name)
	}
	return ""
}

// turns notes limits on turns for steps of agents that keep to none.
func (c *mistakes) turns(n *node, p *authorPhase, a *author) {
	done := a.phase(0, *p)
	steps := []struct {
		name     string
		own      authorStep
		resolved Step
	}{{"execute", p.Steps.Execute, done.Execute}, {"review", p.Steps.Review, done.Review}, {"revise", p.Steps.Revise, done.Revise}}
	for _, s := range steps {
		name := boundless(a.Agents, s.resolved.Agent)
		if s.resolved.Turns == 0 || name == "" || s.name == "review" && done.NoReview {
			continue
		}
		at, who := []any{"turns"}, "is done by"
		if s.own.Turns > 0 {
			at = []any{"steps", s.name, "turns"}
		}
		if name != s.resolved.Agent {
			who = "falls back on"
		}
		c.add(n, at, "%s %s %q, and %s keeps to no limit on turns; give the limit under steps, to steps of other agents alone, or take it out",
			s.name, who, name, a.Agents[name].Use)
	}
}

// turnsOf notes that a rule gives work with a limit on turns to an agent that
// keeps to none: any of the phases may follow.
func (c *mistakes) turnsOf(n *node, use *RuleUse, a *author, phases []authorPhase) {
	name := boundless(a.Agents, use.Agent)
	if name == "" {
		return
	}
	for _, p := range phases {
		if done := a.phase(0, p); done.Execute.Turns > 0 || done.Revise.Turns > 0 {
			c.add(n, []any{"then", "use", "agent"}, "%q would do %q, which has a limit on turns, and %s keeps to none", name, p.Name, a.Agents[name].Use)
			return
		}
	}
}

// Turns is a limit that the agent of a step does not keep to.
type Turns struct {
	Phase, Step string
	Agent       string // that keeps to none: the step's, or one it falls back on
	Turns       int
}

// Unheld lists the limits on turns of a pipeline that its agents do not keep
// to. A pipeline has none as it is loaded; changing its agents may bring some.
func (p *Pipeline) Unheld() []Turns {
	var out []Turns
	for _, ph := range slices.Concat(p.Phases, p.Spare) {
		for _, s := range []struct {
			name string
			Step
		}{{"execute", ph.Execute}, {"review", ph.Review}, {"revise", ph.Revise}} {
			name := boundless(p.Agents, s.Agent)
			if s.Turns > 0 && name != "" && !(s.name == "review" && ph.NoReview) {
				out = append(out, Turns{Phase: ph.Name, Step: s.name, Agent: name, Turns: s.Turns})
			}
		}
	}
	return out
}
