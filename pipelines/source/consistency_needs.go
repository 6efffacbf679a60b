package source

import (
	"slices"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
)

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
