package source

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// Check finds what the schema cannot see: names that lead nowhere and plans
// that cannot be carried out.
func Check(m *MistakeList, n *Node, d *DraftPipeline) {
	c := checks{m}
	for i, p := range d.Protect.Open {
		if why := pipelines.WhyNotOpened(p, d.Protect.Paths); why != "" && p != "" {
			c.Add(n, []any{"protect", "open", i}, "%q %s", p, why)
		}
	}
	names := slices.Sorted(maps.Keys(d.Agents))
	for _, name := range names {
		c.agent(n, d, d.Agents[name].Fallback, "agents", name, "fallback")
	}
	c.fallbackLoops(n, d)
	c.agent(n, d, d.Defaults.Agent, "defaults", "agent")
	c.agent(n, d, d.Defaults.Reviewer, "defaults", "reviewer")
	if d.Writer() == "" && len(names) > 0 {
		c.Add(n, []any{"defaults", "agent"}, "missing, expected the agent that does the work, one of %s", strings.Join(names, ", "))
	}
	if len(n.List("phases")) == 0 && !slices.Contains(n.Names, "phases") {
		c.Add(n, []any{"phases"}, "missing, expected a list of at least one phase")
	} else if len(d.Phases) == 0 && n.Get("phases") != nil {
		c.Add(n, []any{"phases"}, "no phases, expected at least one")
	}
	seen := map[string]string{}
	for i := range d.Phases {
		c.phase(n.Get("phases").Item(i), &d.Phases[i], d, seen)
	}
	for i := range d.Spare {
		c.phase(n.Get("spare").Item(i), &d.Spare[i], d, seen)
	}
	c.needs(n, d)
	c.presets(n, d)
	for _, u := range pipelines.UnfitDocuments(d.Given, NamesOf(d.Phases)) {
		c.Add(n, []any{"given", u.Phase}, "%s", u.Why)
	}
	for i := range d.Rules {
		c.rule(n.Get("rules").Item(i), &d.Rules[i], d)
	}
}

// checks note what they find.
type checks struct{ *MistakeList }

// agent notes a name that is none of the agents.
func (c checks) agent(n *Node, d *DraftPipeline, name string, keys ...any) {
	if _, ok := d.Agents[name]; !ok && name != "" {
		c.Add(n, keys, "no agent %q, %s", name, pipelines.MustBeOneOf(name, slices.Sorted(maps.Keys(d.Agents))))
	}
}

// fallbackLoops notes each loop once, at the agent of it that comes first.
func (c checks) fallbackLoops(n *Node, d *DraftPipeline) {
	for _, start := range slices.Sorted(maps.Keys(d.Agents)) {
		chain := []string{start}
		for next := d.Agents[start].Fallback; next != ""; next = d.Agents[next].Fallback {
			if next == start && start == slices.Min(chain) {
				c.Add(n, []any{"agents", start, "fallback"}, "a loop: %s", strings.Join(append(chain, start), " falls back on "))
			}
			if slices.Contains(chain, next) {
				break
			}
			chain = append(chain, next)
		}
	}
}

// phase checks one phase by itself; seen has the places of the names so far.
func (c checks) phase(n *Node, p *DraftPhase, d *DraftPipeline, seen map[string]string) {
	if first, ok := seen[p.Name]; ok {
		c.Add(n, []any{"name"}, "%q is already the name of %s", p.Name, first)
	} else if p.Name != "" {
		seen[p.Name] = n.Path
	}
	if p.MustChange && p.Access != "" && p.Access != pipelines.AccessTree {
		c.Add(n, []any{"access"}, "got %q, expected \"tree\" as must_change is set", p.Access)
	}
	for i, check := range p.Checks {
		if p.Proves != "" && check.Name == pipelines.ProofCheck {
			c.Add(n, []any{"checks", i, "name"}, "%q is what the check is called that proves adds; choose another name", check.Name)
		}
	}
	if len(p.Gates) > 0 && !p.Review {
		c.Add(n, []any{"gates"}, "gates are judged by a review, which review: false switches off; drop one of the two")
	}
	if asked := n.Get("skip_if").Get("when"); asked != nil {
		c.earlier(asked, p, d)
		for _, pattern := range asked.Get("tree").FieldNames() {
			if why := pipelines.BadPattern(pattern); why != "" {
				c.Add(asked, []any{"tree", pattern}, "%q %s", pattern, why)
			}
		}
	}
	c.agent(n, d, p.Agent, "agent")
	writer := cmp.Or(p.Steps.Execute.Agent, p.Agent, d.Writer())
	c.sees(n, p, d, writer, n.Path == "phases[0]")
	c.equipped(n, d, writer, p.DraftStep)
	c.equipped(n, d, writer, p.Steps.Execute, "steps", "execute")
	c.equipped(n, d, cmp.Or(p.Steps.Review.Agent, d.Reviewer(writer)), p.Steps.Review, "steps", "review")
	c.equipped(n, d, cmp.Or(p.Steps.Revise.Agent, p.Agent, writer), p.Steps.Revise, "steps", "revise")
	for name, step := range map[string]DraftStep{"execute": p.Steps.Execute, "review": p.Steps.Review, "revise": p.Steps.Revise} {
		c.agent(n, d, step.Agent, "steps", name, "agent")
	}
}

// sees checks that who gets a document has a tool to read it with: prompts only name them.
func (c checks) sees(n *Node, p *DraftPhase, d *DraftPipeline, writer string, first bool) {
	none := func(granted pipelines.Access, agent string) bool {
		return granted.AtMost(d.Agents[agent].Access) == pipelines.AccessNone
	}
	const blind = `with access "none" %s can read nothing that is not in its prompt, and %s: give it "read"`
	if reviewer := cmp.Or(p.Steps.Review.Agent, d.Reviewer(writer)); p.Review && none(cmp.Or(p.Steps.Review.Access, pipelines.AccessRead), reviewer) {
		c.Add(n, nil, blind+", or switch the review off with review: false", reviewer, "a reviewer has to read the work")
	}
	if !none(cmp.Or(p.Access, pipelines.AccessArtifacts), writer) {
		return
	}
	if p.Review {
		c.Add(n, nil, blind+", or switch the review off with review: false", writer, "has to read its document again to revise it")
	}
	if p.Needs == nil && !first || len(p.Needs) > 0 {
		c.Add(n, nil, blind+", or say needs: []", writer, "the documents of earlier phases have to be read")
	}
}

// equipped checks the tools and the effort that a phase or a step names for the agent of
// that name.
func (c checks) equipped(n *Node, d *DraftPipeline, name string, s DraftStep, keys ...any) {
	agent, known := d.Agents[name]
	if !known {
		return
	}
	for _, wrong := range pipelines.WrongToolsFor(agent, valueOr(s.Tools, pipelines.ToolChoice{}), s.Effort) {
		c.Add(n, append(slices.Clone(keys), wrong.Keys...), "%s", wrong.Why)
	}
}

// presets checks that each preset leaves something to do.
func (c checks) presets(n *Node, d *DraftPipeline) {
	names := NamesOf(d.Phases)
	for _, preset := range slices.Sorted(maps.Keys(d.Presets)) {
		phases := d.Presets[preset]
		if len(phases) == 0 {
			c.Add(n, []any{"presets", preset}, "has no phases, so it cannot finish; name at least one")
		}
		for i, p := range phases {
			if p != "" && !slices.Contains(names, p) {
				c.Add(n, []any{"presets", preset, i}, "no phase %q, %s", p, pipelines.MustBeOneOf(p, names))
			}
		}
	}
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}
