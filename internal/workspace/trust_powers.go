package workspace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/pipelines"
)

// powers are the things that a pipeline lets programs do, in words for people.
type powers map[string]bool

func (p powers) add(format string, args ...any) { p[fmt.Sprintf(format, args...)] = true }

// Wider says what a pipeline lets programs do and a trusted one does not, or where it holds
// them back less; nothing if there is one of which neither is true. What it says is of the first.
func Wider(plan *pipelines.Pipeline, trusted []*pipelines.Pipeline) (first []string) {
	for i, t := range trusted {
		out := widerThan(plan, t)
		if len(out) == 0 {
			return nil
		}
		if i == 0 {
			first = out
		}
	}
	return first
}

func widerThan(plan, trusted *pipelines.Pipeline) []string {
	have := of(trusted)
	var out []string
	for _, what := range slices.Sorted(maps.Keys(of(plan))) {
		if !have[what] {
			out = append(out, what)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		choice := plan.Agents[name].Tools
		if !slices.ContainsFunc(slices.Collect(maps.Values(trusted.Agents)), func(a pipelines.Agent) bool { return choice.Within(a.Tools) }) {
			out = append(out, "an agent has more tools, by the choice "+said(choice))
		}
	}
	out = append(out, chosen(plan, trusted)...)
	for _, pattern := range trusted.Protect {
		if !slices.Contains(plan.Protect, pattern) {
			out = append(out, fmt.Sprintf("it does not protect %.100q", pattern))
		}
	}
	for _, ph := range trusted.Phases {
		if same := plan.Phase(ph.Name); ph.Approve != "" && same != nil && (same.Approve != ph.Approve || same.Approvers < ph.Approvers) {
			out = append(out, fmt.Sprintf("phase %.100q is not approved as it would be, by %s", ph.Name, ph.Approve))
		}
	}
	for _, limit := range []struct {
		name string
		of   func(*pipelines.Pipeline) float64
	}{
		{"usd", func(p *pipelines.Pipeline) float64 { return p.Budget.USD }},
		{"tokens", func(p *pipelines.Pipeline) float64 { return float64(p.Budget.Tokens) }},
		{"time", func(p *pipelines.Pipeline) float64 { return float64(p.Budget.Time) }},
		{"attempts", func(p *pipelines.Pipeline) float64 { return float64(p.Budget.Attempts) }},
		{"issue_usd", func(p *pipelines.Pipeline) float64 { return p.Budget.IssueUSD }},
		{"day_usd", func(p *pipelines.Pipeline) float64 { return p.Budget.DayUSD }},
		{"repo_day_usd", func(p *pipelines.Pipeline) float64 { return p.Budget.RepoDayUSD }},
	} {
		if has, most := limit.of(plan), limit.of(trusted); most > 0 && (has <= 0 || has > most) {
			out = append(out, "its budget for "+limit.name+" is larger, or there is none")
		}
	}
	return out
}

// chosen says which steps leave an agent more tools than in a trusted pipeline.
func chosen(plan, trusted *pipelines.Pipeline) (out []string) {
	for _, ph := range slices.Concat(plan.Phases, plan.Spare) {
		same := trusted.Phase(ph.Name)
		if same == nil {
			continue
		}
		for _, step := range []struct {
			name        string
			mine, other pipelines.Step
		}{{"execute", ph.Execute, same.Execute}, {"review", ph.Review, same.Review}, {"revise", ph.Revise, same.Revise}} {
			if !step.mine.Tools.Within(step.other.Tools) {
				out = append(out, fmt.Sprintf("%s of phase %.100q has more tools, by the choice %s", step.name, ph.Name, said(step.mine.Tools)))
			}
		}
	}
	return out
}

// of gives what a pipeline lets programs do. Which of the agents it names do what is no
// question: a person may have said so when the run began.
func of(plan *pipelines.Pipeline) powers {
	p := powers{}
	for _, a := range plan.Agents {
		who := "an agent"
		if len(a.Command) > 0 { // which may be a script of the branch: what another agent has is not for it
			who = "the agent " + said(a.Command)
			p.add("an agent is the program %s", said(a.Command))
		}
		for _, name := range a.Env {
			p.add("%s sees the variable %.100q", who, name)
		}
		for _, server := range a.MCP {
			p.add("%s has the server of tools %s", who, said(server))
		}
		for _, arg := range a.Args {
			p.add("%s is started with the argument %s", who, said(arg))
		}
	}
	for _, s := range plan.Setup {
		p.check("the setup", s.Check)
	}
	for _, h := range plan.Hooks {
		p.add("it has the hook %s", said(h))
	}
	for _, ph := range slices.Concat(plan.Phases, plan.Spare) {
		p.phase(ph)
	}
	for model, price := range plan.Prices {
		p.add("the model %.100q costs %s", model, said(price))
	}
	for _, pattern := range plan.Open {
		p.add("agents may ask to change %.100q", pattern)
	}
	for _, pattern := range plan.Secrets.Allow {
		p.add("what looks like a secret may stand in %.100q", pattern)
	}
	if plan.Sandbox != (pipelines.Sandbox{}) {
		p.add("the sandbox leaves to programs %s", said(plan.Sandbox))
	}
	return p
}

func (p powers) phase(ph pipelines.Phase) {
	p.add("phase %.100q may change %q", ph.Name, ph.Access)
	for name, step := range map[string]pipelines.Step{"execute": ph.Execute, "review": ph.Review, "revise": ph.Revise} {
		p.network(fmt.Sprintf("%s of phase %.100q", name, ph.Name), step.Network)
		p.add("%s of phase %.100q has access %q", name, ph.Name, cmp.Or(step.Access, "as usual"))
	}
	for _, c := range ph.Checks {
		p.check("a check", c)
	}
}

func (p powers) check(who string, c pipelines.Check) {
	p.add("%s runs %s", who, said(c.Run))
	p.network(fmt.Sprintf("%s, %s,", who, said(c.Run)), c.Network)
	for name, value := range c.Env {
		p.add("%s, %s, has the variable %s", who, said(c.Run), said(name+"="+value))
	}
}

func (p powers) network(who string, n pipelines.Network) {
	if !n.Closed {
		p.add("%s reaches the whole network", who)
		return
	}
	for _, host := range n.Allow {
		p.add("%s reaches %.100q", who, host)
	}
	if n.Listen {
		p.add("%s may have servers", who)
	}
}

// said is a value as JSON, in which no character can deceive whoever reads it. It is whole: what
// is cut off could be the same only in the part that is shown.
func said(v any) string {
	data, _ := json.Marshal(v) // texts, numbers and lists of them
	return fmt.Sprintf("%+q", data)
}
