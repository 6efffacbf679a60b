package source

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// needs checks that each phase only builds on what comes before it.
func (c checks) needs(n *Node, d *DraftPipeline) {
	names := NamesOf(d.Phases)
	g := graph{phases: d.Phases, index: map[string]int{}}
	for i, name := range slices.Backward(names) {
		g.index[name] = i // of two with the same name the first counts
	}
	for i, p := range d.Phases {
		for j, need := range p.Needs {
			at := []any{"phases", i, "needs", j}
			k, known := g.index[need]
			switch {
			case need == "" || slices.Contains(p.Needs[:j], need):
				// wrong already, or said twice, which does no harm
			case !known:
				c.Add(n, at, "no phase %q, %s", need, pipelines.MustBeOneOf(need, without(names, p.Name)))
			case k == i:
				c.Add(n, at, "%q needs itself", need)
			case k > i:
				c.laterNeed(n, &g, at, i, k)
			}
		}
	}
	places := insertions(d)
	for i, p := range d.Spare {
		for j, need := range p.Needs {
			at := []any{"spare", i, "needs", j}
			k, known := g.index[need]
			first, inserted := places[p.Name]
			switch {
			case need == "":
				// wrong already
			case !known:
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
func (c checks) earlier(asked *Node, p *DraftPhase, d *DraftPipeline) {
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
		c.asks(asked.Get(name), "", &all[slices.Index(NamesOf(all), name)])
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

// laterNeed notes that the phase at i needs one that comes later, at k: a
// cycle if that one in turn needs the first, else only a wrong order. Every
// cycle has at least one such need, so all of them are found here.
func (c checks) laterNeed(n *Node, g *graph, at []any, i, k int) {
	cycle := g.way(k, i, map[int]bool{})
	switch {
	case cycle == nil:
		first, second := g.phases[i].Name, g.phases[k].Name
		c.Add(n, at, "%q comes later, expected an earlier phase; move %q up or %q down", second, second, first)
	case !g.noted(cycle):
		names := []string{g.phases[i].Name}
		for _, w := range cycle {
			names = append(names, g.phases[w].Name)
		}
		c.Add(n, at, "a cycle: %s", strings.Join(names, " needs "))
		g.cycles = append(g.cycles, cycle)
	}
}

// graph is which phase needs which.
type graph struct {
	phases []DraftPhase
	index  map[string]int // of phases, by name
	cycles [][]int        // those noted so far
}

// noted tells whether a cycle goes over phases that are all in one noted before.
func (g *graph) noted(cycle []int) bool {
	return slices.ContainsFunc(g.cycles, func(old []int) bool {
		return !slices.ContainsFunc(cycle, func(i int) bool { return !slices.Contains(old, i) })
	})
}

// way returns the phases on a way of needs from one to another, both
// included, or nil; been has those that lead nowhere.
func (g *graph) way(from, to int, been map[int]bool) []int {
	if from == to {
		return []int{to}
	}
	been[from] = true
	for _, need := range g.phases[from].Needs {
		if next, ok := g.index[need]; ok && !been[next] {
			if rest := g.way(next, to, been); rest != nil {
				return append([]int{from}, rest...)
			}
		}
	}
	return nil
}
