package source

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// maxGoal is the most bytes a goal may have: longer ones crowd out the issue.
const maxGoal = 10_000

// Check finds what the schema cannot see: names that lead nowhere and plans
// that cannot be carried out.
func Check(m *MistakeList, n *Node, d *DraftPipeline) { checks{m}.whole(n, d) }

// CheckSettings finds the same in the settings of a repository.
func CheckSettings(m *MistakeList, n *Node, d *DraftPipeline) {
	c := checks{m}
	c.patterns(n, d)
	c.agents(n, d)
}

// checks note what they find.
type checks struct{ *MistakeList }

func (c checks) whole(n *Node, d *DraftPipeline) {
	c.patterns(n, d)
	c.agents(n, d)
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

// patterns checks what stands for titles and paths.
func (c checks) patterns(n *Node, d *DraftPipeline) {
	if _, err := regexp.Compile(d.Select.Title); err != nil {
		c.Add(n, []any{"select", "title"}, "%v", err)
	}
	c.hosts(n, d.Network, "network")
	c.twice(n, d.AllowModels, "allow_models")
	c.protects(n, d.Protect)
	c.pathPatterns(n, d.Secrets.Allow, "secrets", "allow")
	c.pathPatterns(n, d.Limits.Binary, "limits", "binary")
	var before []pipelines.Check
	for i, why := range pipelines.WrongHooks(d.Hooks) {
		c.Add(n, []any{"hooks", i}, "%s", why)
	}
	for i, s := range d.Setup {
		c.command(n, "setup", i, s.Check, before)
		c.pathPatterns(n, s.WhenChanged, "setup", i, "when_changed")
		c.hosts(n, s.Network, "setup", i, "network")
		before = append(before, s.Check)
	}
}

// pathPatterns checks a list of patterns, which is found by its keys.
func (c checks) pathPatterns(n *Node, patterns []string, keys ...any) {
	for i, p := range patterns {
		if why := pipelines.BadPattern(p); why != "" {
			c.Add(n, append(slices.Clip(keys), i), "%q %s", p, why)
		}
	}
}

// protects checks which paths are protected and opened.
func (c checks) protects(n *Node, a pipelines.ProtectionSettings) {
	keys := []any{"protect"}
	if at := n.Get("protect"); at != nil && at.Kind == ObjectNode {
		keys = append(keys, "paths")
	}
	c.pathPatterns(n, a.Paths, keys...)
	for i, p := range a.Open {
		if why := pipelines.WhyNotOpened(p, a.Paths); why != "" && p != "" {
			c.Add(n, []any{"protect", "open", i}, "%q %s", p, why)
		}
	}
}

// hosts checks the names of what may be reached.
func (c checks) hosts(n *Node, of *pipelines.Network, keys ...any) {
	for i, host := range ValueOr(of, pipelines.Network{}).Allow {
		if why := pipelines.BadHost(host); why != "" && host != "" {
			c.Add(n, append(slices.Clone(keys), "allow", i), "%q %s", host, why)
		}
	}
}

// twice notes what is in a list for the second time.
func (c checks) twice(n *Node, list []string, keys ...any) {
	for i, text := range list {
		if text != "" && slices.Contains(list[:i], text) {
			c.Add(n, append(slices.Clone(keys), i), "%q again", text)
		}
	}
}

func (c checks) agents(n *Node, d *DraftPipeline) {
	names := slices.Sorted(maps.Keys(d.Agents))
	for _, name := range names {
		agent, at := d.Agents[name], []any{"agents", name}
		for _, wrong := range pipelines.WrongTools(pipelines.ToolsAgent{Use: agent.Use, Command: agent.Command, Env: agent.Env, ToolSet: agent.ToolSet}) {
			c.Add(n, append(at, wrong.Keys...), "%s", wrong.Why)
		}
		if f := agent.Fallback; f != "" && !slices.Contains(names, f) && !c.Open {
			c.Add(n, append(at, "fallback"), "no agent %q, %s", f, pipelines.MustBeOneOf(f, names))
		}
	}
	c.fallbackLoops(n, d)
	c.agent(n, d, d.Defaults.Agent, "defaults", "agent")
	c.agent(n, d, d.Defaults.Reviewer, "defaults", "reviewer")
	if d.Writer() == "" && len(names) > 0 && !c.Open {
		c.Add(n, []any{"defaults", "agent"}, "missing, expected the agent that does the work, one of %s", strings.Join(names, ", "))
	}
}

// agent notes a name that is none of the agents.
func (c checks) agent(n *Node, d *DraftPipeline, name string, keys ...any) {
	if _, ok := d.Agents[name]; !ok && name != "" && !c.Open {
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

// command checks one command of a list, in which others come before it.
func (c checks) command(n *Node, list string, i int, check pipelines.Check, before []pipelines.Check) {
	if slices.ContainsFunc(before, func(o pipelines.Check) bool { return o.Name == check.Name && o.Name != "" }) {
		c.Add(n, []any{list, i, "name"}, "%q is already the name of another command in %s", check.Name, list)
	}
	for _, name := range slices.Sorted(maps.Keys(check.Env)) {
		if why := pipelines.WithheldFromChecks(name); why != "" {
			c.Add(n, []any{list, i, "env", name}, "%s", why)
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
	if size := len(p.Goal); size > maxGoal {
		c.Add(n, []any{"goal"}, "%d bytes, expected at most %d; put the rest into a file of the repository and name it here", size, maxGoal)
	}
	if why := pipelines.BadArtifact(p.Writes); why != "" {
		c.Add(n, []any{"writes"}, "%q %s", p.Writes, why)
	}
	if p.MustChange && p.Access != "" && p.Access != pipelines.AccessTree {
		c.Add(n, []any{"access"}, "got %q, expected \"tree\" as must_change is set", p.Access)
	}
	if len(p.Gates) > 0 && !p.Review {
		c.Add(n, []any{"gates"}, "gates are judged by a review, which review: false switches off; drop one of the two")
	}
	for i, g := range p.Gates {
		if g != "" && slices.Contains(p.Gates[:i], g) {
			c.Add(n, []any{"gates", i}, "the same gate again")
		}
	}
	for i, check := range p.Checks {
		c.command(n, "checks", i, check, p.Checks[:i])
		c.pathPatterns(n, check.Keep, "checks", i, "keep")
		c.pathPatterns(n, check.JUnit, "checks", i, "junit")
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
	c.hosts(n, p.Network, "network")
	c.twice(n, p.AllowModels, "allow_models")
	writer := cmp.Or(p.Steps.Execute.Agent, p.Agent, d.Writer())
	c.equipped(n, d, writer, p.DraftStep)
	c.equipped(n, d, writer, p.Steps.Execute, "steps", "execute")
	c.equipped(n, d, cmp.Or(p.Steps.Review.Agent, d.Reviewer(writer)), p.Steps.Review, "steps", "review")
	c.equipped(n, d, cmp.Or(p.Steps.Revise.Agent, p.Agent, writer), p.Steps.Revise, "steps", "revise")
	for name, step := range map[string]DraftStep{"execute": p.Steps.Execute, "review": p.Steps.Review, "revise": p.Steps.Revise} {
		c.agent(n, d, step.Agent, "steps", name, "agent")
		c.hosts(n, step.Network, "steps", name, "network")
		c.twice(n, step.AllowModels, "steps", name, "allow_models")
	}
}

// equipped checks the tools and the effort that a phase or a step names for the agent of
// that name.
func (c checks) equipped(n *Node, d *DraftPipeline, name string, s DraftStep, keys ...any) {
	agent, known := d.Agents[name]
	if !known {
		return
	}
	for _, wrong := range pipelines.WrongToolsFor(pipelines.ToolsAgent{Use: agent.Use, ToolSet: agent.ToolSet}, ValueOr(s.Tools, pipelines.ToolChoice{}), s.Effort) {
		c.Add(n, append(slices.Clone(keys), wrong.Keys...), "%s", wrong.Why)
	}
}

// presets checks that each preset leaves something to do.
func (c checks) presets(n *Node, d *DraftPipeline) {
	var names []string
	for _, p := range d.Phases {
		names = append(names, p.Name)
	}
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
