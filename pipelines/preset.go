package pipelines

import (
	"fmt"
	"slices"
)

// Preset returns the pipeline cut down to the phases of one of its presets, in
// their usual order and in their usual folders. What a phase needs is cut down
// with them, and rules that speak of other phases are left out.
func Preset(p *Pipeline, name string) (*Pipeline, error) {
	keep, ok := p.Presets[name]
	if !ok {
		return nil, fmt.Errorf("pipeline %q has no preset %q, %s", p.Name, name, oneOf(name, sortedKeys(p.Presets)))
	}
	out := *p
	out.Preset = name
	out.Phases, out.Rules = nil, nil
	for _, ph := range p.Phases {
		if slices.Contains(keep, ph.Name) {
			ph.Needs = only(ph.Needs, keep)
			out.Phases = append(out.Phases, ph)
		}
	}
	out.Spare = slices.Clone(p.Spare)
	for i, ph := range out.Spare {
		keep = append(slices.Clip(keep), ph.Name)
		out.Spare[i].Needs = only(ph.Needs, keep)
	}
	for _, r := range p.Rules {
		if kept, ok := r.only(keep); ok {
			out.Rules = append(out.Rules, kept)
		}
	}
	return &out, nil
}

// only returns the rule as far as it speaks of phases to keep.
func (r Rule) only(keep []string) (Rule, bool) {
	if !slices.Contains(keep, r.After) {
		return r, false
	}
	if back := r.Then.Rollback; back != nil && !slices.Contains(keep, back.To) {
		return r, false
	}
	if r.Then.Drop != nil {
		r.Then.Drop = only(r.Then.Drop, keep)
		return r, r.Then.Drop != nil
	}
	return r, true
}

// only returns those names that are also in keep; nil if there is none.
func only(names, keep []string) []string {
	var out []string
	for _, n := range names {
		if slices.Contains(keep, n) {
			out = append(out, n)
		}
	}
	return out
}
