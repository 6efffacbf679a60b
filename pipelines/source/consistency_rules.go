package source

import (
	"encoding/json"
	"maps"
	"slices"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
)

// rule checks that a rule speaks of phases and facts that there are.
func (c checks) rule(n *Node, r *pipelines.Rule, d *DraftPipeline) {
	all, spare := NamesOf(d.Phases), NamesOf(d.Spare)
	at := slices.Index(all, r.After)
	if r.After == "" {
		return // wrong already
	}
	if at < 0 {
		if i := slices.Index(spare, r.After); i >= 0 {
			c.facts(n, &d.Spare[i])
			c.then(n, r, d, all, all)
			return
		}
		c.Add(n, []any{"after"}, "no phase %q, %s", r.After, pipelines.MustBeOneOf(r.After, slices.Concat(all, spare)))
		return
	}
	c.facts(n, &d.Phases[at])
	c.then(n, r, d, all[:at+1], all[at+1:])
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

// facts checks that what a rule asks about can come out of its phase. The
// schema has already seen to the facts that every phase has.
func (c checks) facts(n *Node, p *DraftPhase) {
	when := n.Get("when")
	c.asks(when, when.Text(), p)
}

// asks checks what a condition, or a part of one, asks about one phase. Its text, if it is
// known, is held against the report.
func (c checks) asks(when *Node, text string, p *DraftPhase) {
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
		fields, open := reported(p)
		for _, name := range asked.Names {
			if !open && !slices.Contains(fields, name) {
				c.Add(when, []any{"report", name}, "%q has no such field in its report, %s", p.Name, pipelines.MustBeOneOf(name, fields))
			}
		}
		if text == "" {
			return
		}
		for _, x := range disjoint(text, p.Report) {
			c.Add(when, append([]any{"report"}, x.keys...), "can never be: got %s, expected %s", x.got, x.want)
		}
	}
}

// contradiction is a field of a report of which a rule asks what it never is.
type contradiction struct {
	keys      []any
	got, want string
}

// disjoint lists the fields for which no value is both what a rule asks for and
// what the report allows.
func disjoint(when, report string) []contradiction {
	ctx := NewContext()
	allowed, err := ReportValue(ctx, report)
	if err != nil {
		return nil // noted where the report stands
	}
	return disagree(ctx.CompileString(when).LookupPath(cue.ParsePath("report")), allowed, nil)
}

func disagree(asked, allowed cue.Value, keys []any) []contradiction {
	fields, err := asked.Fields(cue.Optional(true))
	if err != nil {
		return []contradiction{{keys, ShowValue(asked), NewShape(allowed).Words()}}
	}
	var found []contradiction
	for fields.Next() {
		field, at := fields.Value(), append(slices.Clip(keys), fields.Selector().Unquoted())
		there := allowed.LookupPath(cue.MakePath(cue.Str(fields.Selector().Unquoted()).Optional()))
		switch {
		case !there.Exists() || field.Unify(there).Validate() == nil:
		case field.IncompleteKind() == cue.StructKind && there.IncompleteKind() == cue.StructKind:
			found = append(found, disagree(field, there, at)...)
		default:
			found = append(found, contradiction{at, ShowValue(field), NewShape(there).Words()})
		}
	}
	return found
}

// reported lists the fields of the phase's report, and whether it takes others.
func reported(p *DraftPhase) (fields []string, open bool) {
	if p.ReportSchema == nil {
		return nil, false
	}
	var s struct {
		Properties map[string]json.RawMessage
		Additional any `json:"additionalProperties"`
	}
	if err := json.Unmarshal(p.ReportSchema, &s); err != nil {
		return nil, true
	}
	return slices.Sorted(maps.Keys(s.Properties)), s.Additional != false
}
