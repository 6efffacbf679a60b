package source

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cuelang.org/go/cue"

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

// needs checks that each phase only builds on what comes before it.
func (c checks) needs(n *Node, d *DraftPipeline) {
	names := NamesOf(d.Phases)
	for i, p := range d.Phases {
		for j, need := range p.Needs {
			at := []any{"phases", i, "needs", j}
			k := slices.Index(names, need)
			switch {
			case need == "" || slices.Contains(p.Needs[:j], need):
				// wrong already, or said twice, which does no harm
			case k < 0:
				c.Add(n, at, "no phase %q, %s", need, pipelines.MustBeOneOf(need, without(names, p.Name)))
			case k == i:
				c.Add(n, at, "%q needs itself", need)
			case k > i && slices.Contains(d.Phases[k].Needs, p.Name):
				c.Add(n, at, "%q comes later and needs %q itself; take one of the two needs out", need, p.Name)
			case k > i:
				c.Add(n, at, "%q comes later, expected an earlier phase; move %q up or %q down, or take the need out", need, need, p.Name)
			}
		}
	}
	places := insertions(d)
	for i, p := range d.Spare {
		for j, need := range p.Needs {
			at := []any{"spare", i, "needs", j}
			k := slices.Index(names, need)
			first, inserted := places[p.Name]
			switch {
			case need == "":
				// wrong already
			case k < 0:
				c.Add(n, at, "no phase %q, %s", need, pipelines.MustBeOneOf(need, names))
			case inserted && k > first.at:
				c.Add(n, at, "%q comes later: rules[%d] inserts %q after %q; insert it after %q, or take the need out",
					need, first.rule, p.Name, d.Rules[first.rule].After, need)
			}
		}
	}
}

// earlier checks that the phases which skip_if of p asks about come before it, and report
// what it asks of them.
func (c checks) earlier(when *Node, p *DraftPhase, d *DraftPipeline) {
	asked := when.Get("phases")
	if asked == nil {
		return
	}
	names := NamesOf(slices.Concat(d.Phases, d.Spare))
	if at := slices.Index(NamesOf(d.Phases), p.Name); at >= 0 {
		names = slices.Concat(names[:at], NamesOf(d.Spare))
	}
	for _, name := range asked.Names {
		if !slices.Contains(names, name) {
			c.Add(asked, []any{name}, "no phase %q before %q, %s", name, p.Name, pipelines.MustBeOneOf(name, names))
			continue
		}
		all := slices.Concat(d.Phases, d.Spare)
		c.asks(asked.Get(name), when.Text(), []cue.Selector{cue.Str("phases"), cue.Str(name)}, &all[slices.Index(NamesOf(all), name)])
	}
}

// insertion is where a spare phase comes in first.
type insertion struct {
	at   int // index of the phase that it follows, or of the one that its spare phase follows
	rule int // index of the rule that inserts it there
}

// insertions gives, by its name, where each spare phase comes in first. A rule
// may insert one after another spare phase; what no rule inserts has no place.
func insertions(d *DraftPipeline) map[string]insertion {
	phases, places := NamesOf(d.Phases), map[string]insertion{}
	for changed := true; changed; {
		changed = false
		for i, r := range d.Rules {
			at, placed := slices.Index(phases, r.After), true
			if at < 0 {
				var after insertion
				after, placed = places[r.After]
				at = after.at
			}
			now, has := places[r.Then.Insert]
			if name := r.Then.Insert; name != "" && placed && (!has || at < now.at) {
				places[name] = insertion{at, i}
				changed = true
			}
		}
	}
	return places
}

// rule checks that a rule speaks of phases and facts that there are. What every phase has, the schema has seen to.
func (c checks) rule(n *Node, r *pipelines.Rule, d *DraftPipeline) {
	phases, all := slices.Concat(d.Phases, d.Spare), NamesOf(d.Phases)
	at := slices.Index(NamesOf(phases), r.After)
	if at < 0 {
		if r.After != "" { // else it is wrong already
			c.Add(n, []any{"after"}, "no phase %q, %s", r.After, pipelines.MustBeOneOf(r.After, NamesOf(phases)))
		}
		return
	}
	c.asks(n.Get("when"), n.Get("when").Text(), nil, &phases[at])
	if at < len(all) {
		c.then(n, r, d, all[:at+1], all[at+1:])
	} else {
		c.then(n, r, d, all, all) // a spare phase may come anywhere
	}
}

// then checks what a rule does: done are the phases it may go back to, ahead
// those it may drop.
func (c checks) then(n *Node, r *pipelines.Rule, d *DraftPipeline, done, ahead []string) {
	spare := NamesOf(d.Spare)
	then := n.Get("then")
	if then == nil {
		return
	}
	if len(then.Names) != 1 {
		c.Add(n, []any{"then"}, "got %s, expected exactly one of approve, drop, insert, rollback, skip, split, use", pipelines.ListedNames(then.Names))
	}
	c.split(n, r, d, ahead)
	if in := r.Then.Insert; in != "" && !slices.Contains(spare, in) {
		c.Add(n, []any{"then", "insert"}, "no spare phase %q, %s", in, pipelines.MustBeOneOf(in, spare))
	}
	for i, drop := range r.Then.Drop {
		if drop != "" && !slices.Contains(ahead, drop) {
			c.Add(n, []any{"then", "drop", i}, "no phase %q after %q, %s", drop, r.After, pipelines.MustBeOneOf(drop, ahead))
		}
		for _, p := range d.Phases {
			if slices.Contains(p.Needs, drop) && !slices.Contains(r.Then.Drop, p.Name) {
				c.Add(n, []any{"then", "drop", i}, "%q is needed by %q, which is not dropped with it", drop, p.Name)
			}
		}
	}
	if back := r.Then.Rollback; back != nil && back.To != "" && !slices.Contains(done, back.To) {
		c.Add(n, []any{"then", "rollback", "to"}, "no phase %q up to %q, %s", back.To, r.After, pipelines.MustBeOneOf(back.To, done))
	}
	if use := r.Then.Use; use != nil {
		c.agent(n, d, use.Agent, "then", "use", "agent")
		if use.Agent == "" && use.Tier == "" {
			c.Add(n, []any{"then", "use"}, "names nothing, expected agent, tier, or both")
		}
	}
}

// noTasks says that a phase cannot have found tasks, and how it could.
const noTasks = "%q reports no tasks; add tasks: [...{id: string, title: string, goal: string, files?: [...string], needs?: [...string]}] to its report"

// split checks a rule that splits a phase: ahead are those that it may split.
func (c checks) split(n *Node, r *pipelines.Rule, d *DraftPipeline, ahead []string) {
	to := string(d.Splits(*r))
	switch {
	case r.Then.Split == "":
		return
	case to == "":
		c.Add(n, []any{"then", "split"}, "no phase after %q may change the code; name the phase that is split", r.After)
	case slices.Contains(NamesOf(d.Spare), to):
		c.Add(n, []any{"then", "split"}, "%q is a spare phase, which cannot be split, %s", to, pipelines.MustBeOneOf(to, ahead))
	case !slices.Contains(ahead, to):
		c.Add(n, []any{"then", "split"}, "no phase %q after %q, %s", to, r.After, pipelines.MustBeOneOf(to, ahead))
	}
	for _, p := range slices.Concat(d.Phases, d.Spare) {
		if p.Name == r.After && !pipelines.FoundParts(p.ReportSchema) {
			c.Add(n, []any{"then", "split"}, noTasks, r.After)
		}
	}
}

// asks checks what a condition, or the part of one that keys lead to, asks about one phase.
func (c checks) asks(when *Node, text string, keys []cue.Selector, p *DraftPhase) {
	if asked := when.Get("checks"); asked != nil {
		var names []string
		for _, check := range p.Checks {
			names = append(names, check.Name)
		}
		for _, name := range asked.Names {
			if !slices.Contains(names, name) {
				c.Add(when, []any{"checks", name}, "%q has no such check, %s", p.Name, pipelines.MustBeOneOf(name, names))
			}
		}
	}
	if asked := when.Get("independent_tasks"); asked != nil && !pipelines.FoundParts(p.ReportSchema) {
		c.Add(when, []any{"independent_tasks"}, noTasks, p.Name)
	}
	if asked := when.Get("report"); asked != nil {
		c.report(asked, text, append(keys, cue.Str("report")), p)
	}
}

// report holds what a condition asks of a report against what that allows.
func (c checks) report(asked *Node, text string, keys []cue.Selector, p *DraftPhase) {
	if p.Report == "" {
		c.Add(asked, nil, "%q has no report", p.Name)
		return
	}
	ctx := NewContext()
	allowed, err := reportValue(ctx, p.Report)
	if err != nil {
		return // noted where the report stands
	}
	shape := newShape(allowed)
	shape.Loose = true
	held := &checker{}
	held.walk(ctx.CompileString(text).LookupPath(cue.MakePath(keys...)), shape, &Node{NodePlace: asked.NodePlace, Path: asked.Path})
	for _, m := range held.Found {
		at, keys := asked.down(m.Path), []any(nil)
		if deeper, is := strings.CutPrefix(m.Path, at.Path+"."); is {
			keys = []any{deeper}
		}
		c.Add(at, keys, "%s; see the report of %q", m.Message, p.Name)
	}
}
