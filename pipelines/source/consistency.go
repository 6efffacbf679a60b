package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// checks find what the schema cannot see: names that lead nowhere and plans
// that cannot be carried out.
type checks struct {
	*checker
	d     *draft
	all   []pipelines.Phase // spare ones last
	nodes []*node           // theirs
	names []string          // of those that are not spare
}

// consistent checks a pipeline as a whole.
func (c checks) consistent(n *node) {
	d := c.d
	for i, p := range d.Open {
		if why := pipelines.WhyNotOpened(p, d.Protect); why != "" && p != "" {
			c.add(n, []any{"protect", "open", i}, "%q %s", p, why)
		}
	}
	agents := slices.Sorted(maps.Keys(d.Agents))
	for _, name := range agents {
		c.agent(n, d.Agents[name].Fallback, "agents", name, "fallback")
	}
	c.agent(n, d.Defaults.Agent, "defaults", "agent")
	c.agent(n, d.Defaults.Reviewer, "defaults", "reviewer")
	if d.writer() == "" && len(agents) > 0 {
		c.add(n, []any{"defaults", "agent"}, "missing, expected the agent that does the work, one of %s", strings.Join(agents, ", "))
	}
	if len(d.Phases) == 0 && !n.wrote("phases") {
		c.add(n, []any{"phases"}, "missing, expected a list of at least one phase")
	} else if len(d.Phases) == 0 && n.get("phases") != nil {
		c.add(n, []any{"phases"}, "no phases, expected at least one")
	}
	for i := range c.all {
		c.phase(i)
		c.needs(i)
	}
	for preset, phases := range d.Presets {
		if len(phases) == 0 {
			c.add(n, []any{"presets", preset}, "has no phases, so it cannot finish; name at least one")
		}
		for i, p := range phases {
			c.known(n, p, c.names, "no phase %q", "presets", preset, i)
		}
	}
	for phase := range d.Documents {
		c.known(n, phase, c.names, "no phase %q", "given", phase)
	}
	for i := range d.Rules {
		c.rule(n.get("rules").item(i), &d.Rules[i])
	}
}

// known notes a name that is none of the valid ones; what it says begins with format.
func (c checks) known(n *node, name string, valid []string, format string, keys ...any) {
	if name != "" && !slices.Contains(valid, name) { // an empty one is wrong already
		c.add(n, keys, format+", %s", name, pipelines.MustBeOneOf(name, valid))
	}
}

// agent notes a name that is none of the agents.
func (c checks) agent(n *node, name string, keys ...any) {
	c.known(n, name, slices.Collect(maps.Keys(c.d.Agents)), "no agent %q", keys...)
}

// phase checks one phase by itself.
func (c checks) phase(i int) {
	n, p := c.nodes[i], &c.all[i]
	if first := slices.Index(pipelines.NamesOf(c.all), p.Name); first < i && p.Name != "" {
		c.add(n, []any{"name"}, "%q is already the name of %s", p.Name, c.nodes[first].Path)
	}
	if p.MustChange && p.Access != pipelines.AccessTree {
		c.add(n, []any{"access"}, "got %q, expected \"tree\" as must_change is set", p.Access)
	}
	for i, check := range p.Checks {
		if p.Proves != "" && check.Name == pipelines.ProofCheck {
			c.add(n, []any{"checks", i, "name"}, "%q is what the check is called that proves adds; choose another name", check.Name)
		}
	}
	if len(p.Gates) > 0 && p.NoReview {
		c.add(n, []any{"gates"}, "gates are judged by a review, which review: false switches off; drop one of the two")
	}
	if asked := n.get("skip_if").get("when"); asked != nil {
		c.ask(asked, c.before(p.Name, asked))
		for _, pattern := range asked.get("tree").fieldNames() {
			if why := pipelines.BadPattern(pattern); why != "" {
				c.add(asked, []any{"tree", pattern}, "%q %s", pattern, why)
			}
		}
	}
	c.sees(n, p)
	steps := n.get("steps")
	for said, agent := range map[*node]string{n: p.Execute.Agent, steps.get("execute"): p.Execute.Agent, steps.get("review"): p.Review.Agent, steps.get("revise"): p.Revise.Agent} {
		c.equipped(said, agent)
	}
}

// sees checks that who gets a document has a tool to read it with: prompts only name them.
func (c checks) sees(n *node, p *pipelines.Phase) {
	none := func(granted pipelines.Access, agent string) bool {
		return granted.AtMost(c.d.Agents[agent].Access) == pipelines.AccessNone
	}
	const blind = `with access "none" %s can read nothing that is not in its prompt, and %s: give it "read"`
	if !p.NoReview && none(p.Review.Access, p.Review.Agent) {
		c.add(n, nil, blind+", or switch the review off with review: false", p.Review.Agent, "a reviewer has to read the work")
	}
	if !none(p.Access, p.Execute.Agent) {
		return
	}
	if !p.NoReview {
		c.add(n, nil, blind+", or switch the review off with review: false", p.Execute.Agent, "has to read its document again to revise it")
	}
	if p.Needs == nil && n.Path != "phases[0]" || len(p.Needs) > 0 {
		c.add(n, nil, blind+", or say needs: []", p.Execute.Agent, "the documents of earlier phases have to be read")
	}
}

// equipped checks what a phase or a step says, if anything, of who does it: that there is this agent, and that the one that
// does it takes the tools and the effort.
func (c checks) equipped(said *node, agent string) {
	var s struct {
		Agent, Effort string
		Tools         pipelines.ToolChoice
	}
	_ = said.decode(&s) // what is right of it counts
	c.agent(said, s.Agent, "agent")
	if does, known := c.d.Agents[agent]; known {
		pipelines.WrongToolsFor(does, s.Tools, s.Effort, func(why string, keys ...any) { c.add(said, keys, "%s", why) })
	}
}

// needs checks that a phase only builds on what comes before it, and a spare one on what comes before it is inserted.
func (c checks) needs(i int) {
	n, p, spare := c.nodes[i], c.all[i], i >= len(c.names)
	rule, after := c.inserted(p.Name)
	for j, need := range p.Needs {
		at, k := []any{"needs", j}, slices.Index(c.names, need)
		switch {
		case need == "" || slices.Contains(p.Needs[:j], need):
			// wrong already, or said twice, which does no harm
		case k < 0:
			c.known(n, need, slices.DeleteFunc(slices.Clone(c.names), func(n string) bool { return n == p.Name }), "no phase %q", at...)
		case spare && rule >= 0 && k > after:
			c.add(n, at, "%q comes later: rules[%d] inserts %q after %q; insert it after %q, or take the need out",
				need, rule, p.Name, c.d.Rules[rule].After, need)
		case spare:
		case k == i:
			c.add(n, at, "%q needs itself", need)
		case k > i && slices.Contains(c.all[k].Needs, p.Name):
			c.add(n, at, "%q comes later and needs %q itself; take one of the two needs out", need, p.Name)
		case k > i:
			c.add(n, at, "%q comes later, expected an earlier phase; move %q up or %q down, or take the need out", need, need, p.Name)
		}
	}
}

// inserted gives the rule that inserts a spare phase first, or -1, and the index of the phase that it follows then. It
// may come after another spare one, but for those that come after it.
func (c checks) inserted(name string, later ...string) (rule, at int) {
	rule, at = -1, len(c.names)
	for i, r := range c.d.Rules {
		if r.Then.Insert != name || name == "" || slices.Contains(later, name) {
			continue
		}
		before, after := i, slices.Index(c.names, r.After)
		if after < 0 {
			before, after = c.inserted(r.After, append(later, name)...)
		}
		if before >= 0 && after < at {
			rule, at = i, after
		}
	}
	return rule, at
}

// before gives what skip_if of a phase can ask about: the phases that come before it.
func (c checks) before(phase string, when *node) *schema {
	s := c.definition("#Before")
	phases := s.Properties["phases"]
	each := phases.patterns[0].value
	phases.open, phases.patterns, phases.other = false, nil, fmt.Sprintf("no phase {name} before %q", phase)
	for i, p := range c.all {
		if at := slices.Index(c.names, phase); at < 0 || i < at || i >= len(c.names) {
			phases.Properties[p.Name] = each
			if when.get("phases").get(p.Name) != nil {
				phases.Properties[p.Name] = factsOf(each, p)
			}
		}
	}
	return s
}

// factsOf narrows what can be asked about a phase to its own checks and report.
func factsOf(all *schema, p pipelines.Phase) *schema {
	s, checks := *all, *all.Properties["checks"]
	s.Properties, checks.Properties = maps.Clone(all.Properties), map[string]*schema{}
	for _, check := range p.Checks {
		checks.Properties[check.Name] = checks.patterns[0].value
	}
	checks.open, checks.patterns, checks.other = false, nil, fmt.Sprintf("%q has no such check", p.Name)
	s.Properties["checks"] = &checks
	if v, err := reportValue(NewContext(), p.Report); p.Report == "" {
		s.Properties["report"] = &schema{wrong: fmt.Sprintf("%q has no report", p.Name)}
	} else if err == nil { // else it is noted where the report stands
		report := schemaOf(v)
		report.see = fmt.Sprintf("; see the report of %q", p.Name)
		s.Properties["report"] = report
	}
	if tasks := s.Properties["independent_tasks"]; tasks != nil && !pipelines.FoundParts(p.ReportSchema) {
		s.Properties["independent_tasks"] = &schema{wrong: fmt.Sprintf(noTasks, p.Name)}
	}
	return &s
}

// rule checks that a rule speaks of phases and facts that there are. What every phase has, the schema has seen to.
func (c checks) rule(n *node, r *pipelines.Rule) {
	all := pipelines.NamesOf(c.all)
	c.known(n, r.After, all, "no phase %q", "after")
	at, then, when := slices.Index(all, r.After), n.get("then"), n.get("when")
	if at < 0 || r.After == "" {
		return
	}
	if when != nil {
		c.ask(when, factsOf(c.definition("#Facts"), c.all[at]))
	}
	if then == nil {
		return
	}
	if len(then.Fields) != 1 {
		c.add(n, []any{"then"}, "got %s, expected exactly one of approve, drop, insert, rollback, skip, split, use", cmp.Or(strings.Join(slices.Sorted(maps.Keys(then.Fields)), " and "), "nothing"))
	}
	done, ahead := c.names, c.names // a spare phase may come anywhere
	if at < len(c.names) {
		done, ahead = done[:at+1], ahead[at+1:]
	}
	if then.get("split") != nil {
		c.split(n, r, &c.all[at], ahead)
	}
	c.known(n, r.Then.Insert, all[len(c.names):], "no spare phase %q", "then", "insert")
	for i, drop := range r.Then.Drop {
		c.known(n, drop, ahead, fmt.Sprintf("no phase %%q after %q", r.After), "then", "drop", i)
		for _, p := range c.d.Phases {
			if slices.Contains(p.Needs, drop) && !slices.Contains(r.Then.Drop, p.Name) {
				c.add(n, []any{"then", "drop", i}, "%q is needed by %q, which is not dropped with it", drop, p.Name)
			}
		}
	}
	if back := r.Then.Rollback; back != nil {
		c.known(n, back.To, done, fmt.Sprintf("no phase %%q up to %q", r.After), "then", "rollback", "to")
	}
	if use := r.Then.Use; use != nil {
		c.agent(n, use.Agent, "then", "use", "agent")
		if use.Agent == "" && use.Tier == "" {
			c.add(n, []any{"then", "use"}, "names nothing, expected agent, tier, or both")
		}
	}
}

// noTasks says that a phase cannot have found tasks, and how it could.
const noTasks = "%q reports no tasks; add tasks: [...{id: string, title: string, goal: string, files?: [...string], needs?: [...string]}] to its report"

// split checks a rule that splits a phase after the one that finds the tasks: ahead are those that it may split.
func (c checks) split(n *node, r *pipelines.Rule, finds *pipelines.Phase, ahead []string) {
	to := string(r.Then.Split)
	switch {
	case to == "":
		c.add(n, []any{"then", "split"}, "no phase after %q may change the code; name the phase that is split", r.After)
	case slices.Contains(pipelines.NamesOf(c.d.Spare), to):
		c.add(n, []any{"then", "split"}, "%q is a spare phase, which cannot be split, %s", to, pipelines.MustBeOneOf(to, ahead))
	default:
		c.known(n, to, ahead, fmt.Sprintf("no phase %%q after %q", r.After), "then", "split")
	}
	if !pipelines.FoundParts(finds.ReportSchema) {
		c.add(n, []any{"then", "split"}, noTasks, r.After)
	}
}
