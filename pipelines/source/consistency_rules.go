package source

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
)

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
