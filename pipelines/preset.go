package pipelines

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Preset returns the pipeline cut down to the phases of one of its presets, in their usual order and in their usual
// folders. What a phase needs is cut down with them, and rules that speak of other phases are left out.
func Preset(p *Pipeline, name string) (*Pipeline, error) {
	keep, ok := p.Presets[name]
	if !ok {
		return nil, fmt.Errorf("pipeline %q has no preset %q, %s", p.Name, name, MustBeOneOf(name, slices.Sorted(maps.Keys(p.Presets))))
	}
	out := p.cut(keep)
	out.Preset = name
	return out, nil
}

// Part names some phases of a pipeline. The zero value names all of them.
type Part struct {
	From  string   `json:"from,omitempty"`  // the first
	Until string   `json:"until,omitempty"` // the last
	Only  string   `json:"only,omitempty"`  // this one
	Skip  []string `json:"skip,omitempty"`  // all but these

	NoSplit bool `json:"no_split,omitempty"` // no phase is done in parts
}

// phasesForm is how phases of a pipeline are named, for ReadPhases.
const phasesForm = "FROM..UNTIL,-LEFT_OUT"

// ReadPhases reads which phases are named: one, as design; some, as design..testing, design..
// or ..testing; and phases that are left out, as -report.
func ReadPhases(text string) (p Part, err error) {
	for i, item := range strings.Split(text, ",") {
		name, out := strings.CutPrefix(item, "-")
		from, until, some := strings.Cut(item, "..")
		switch {
		case out && name != "" && p.Only == "":
			p.Skip = append(p.Skip, name)
		case !out && i == 0 && some && from+until != "":
			p.From, p.Until = from, until
		case !out && i == 0 && !some && item != "":
			p.Only = item
		default:
			return Part{}, fmt.Errorf("%.80q: name one phase, or phases as %s", text, phasesForm)
		}
	}
	return p, nil
}

// Phases is what ReadPhases reads the same phases from; "" for all of them.
func (p Part) Phases() string {
	var items []string
	switch {
	case p.Only != "":
		items = append(items, p.Only)
	case p.From+p.Until != "":
		items = append(items, p.From+".."+p.Until)
	}
	for _, name := range p.Skip {
		items = append(items, "-"+name)
	}
	return strings.Join(items, ",")
}

// IsZero reports whether the part is all of a pipeline.
func (p Part) IsZero() bool { return p.From+p.Until+p.Only == "" && len(p.Skip) == 0 && !p.NoSplit }

// Cut returns the pipeline cut down to a part, as Preset does.
func Cut(p *Pipeline, part Part) (*Pipeline, error) {
	all := NamesOf(p.Phases)
	var wrong []error
	for _, name := range append([]string{part.From, part.Until, part.Only}, part.Skip...) {
		if name != "" && !slices.Contains(all, name) {
			wrong = append(wrong, fmt.Errorf("pipeline %q has no phase %q, %s", p.Name, name, MustBeOneOf(name, all)))
		}
	}
	keep := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		early := part.From != "" && slices.Index(all, name) < slices.Index(all, part.From)
		late := part.Until != "" && slices.Index(all, name) > slices.Index(all, part.Until)
		return early || late || part.Only != "" && name != part.Only || slices.Contains(part.Skip, name)
	})
	if len(wrong) == 0 && len(keep) == 0 {
		wrong = append(wrong, fmt.Errorf("no phase of pipeline %q is left: its phases are %s", p.Name, strings.Join(all, ", ")))
	}
	out := p.cut(keep)
	out.Part = part
	if part.NoSplit {
		out.Rules = slices.DeleteFunc(out.Rules, Rule.splits)
	}
	return out, errors.Join(wrong...)
}

// cut returns the pipeline with some of its phases.
func (p *Pipeline) cut(keep []string) *Pipeline {
	out, needs := *p, func(phase string) []string { return p.Phase(phase).Needs }
	out.Phases, out.Rules = nil, nil
	for _, ph := range p.Phases {
		if slices.Contains(keep, ph.Name) {
			ph.Needs = needsAmong(ph.Name, keep, needs)
			out.Phases = append(out.Phases, ph)
		}
	}
	out.Spare = slices.Clone(p.Spare)
	for i, ph := range out.Spare {
		keep = append(slices.Clip(keep), ph.Name)
		out.Spare[i].Needs = needsAmong(ph.Name, keep, needs)
	}
	for _, r := range p.Rules {
		if kept, ok := r.only(keep); ok {
			out.Rules = append(out.Rules, kept)
		}
	}
	return &out
}

// only returns the rule as far as it speaks of phases to keep.
func (r Rule) only(keep []string) (Rule, bool) {
	if !slices.Contains(keep, r.After) {
		return r, false
	}
	back, to := r.Then.Rollback, string(r.Then.Split)
	if back != nil && !slices.Contains(keep, back.To) || to != "" && !slices.Contains(keep, to) {
		return r, false
	}
	if r.Then.Drop != nil {
		r.Then.Drop = slices.DeleteFunc(slices.Clone(r.Then.Drop), func(name string) bool { return !slices.Contains(keep, name) })
		return r, len(r.Then.Drop) > 0
	}
	return r, true
}

// phaseSplit says how the parts of a phase are done. The zero value stands for the default.
type phaseSplit struct {
	// Review is "whole" if nothing but the whole is reviewed, once all parts are done. Else each part is, too.
	Review string `json:"review,omitempty"`
}

// PartPhase is the name of the phase that a rule splits; empty: none. An author may write true, which reads as Next.
type PartPhase string

// NextPhase stands for the next phase that may change the code.
const NextPhase PartPhase = "*"

// UnmarshalJSON reads either form.
func (p *PartPhase) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		*p = NextPhase
		return nil
	}
	return json.Unmarshal(data, (*string)(p))
}

// FoundParts reports whether a report, by its JSON Schema, can have tasks.
func FoundParts(report json.RawMessage) bool {
	type text struct{ Type any }
	var s struct {
		Properties struct {
			Tasks struct {
				Items struct {
					Properties struct{ ID, Title, Goal text }
				}
			}
		}
	}
	is := &s.Properties.Tasks.Items.Properties
	return json.Unmarshal(report, &s) == nil && is.ID.Type == "string" && is.Title.Type == "string" && is.Goal.Type == "string"
}

// usualJobs is how many phases or parts are at work at the same time if a pipeline that
// may have several does not say how many.
const usualJobs = 4

// TakeJobs has that many at work at the same time, unless the pipeline says how many. 0 is one.
func (p *Pipeline) TakeJobs() {
	if p.Jobs == 0 && (p.Parallel || slices.ContainsFunc(p.Rules, Rule.splits)) {
		p.Jobs = usualJobs
	}
}

// needsAmong gives those phases that one needs which are kept and, in place of each that is not,
// the kept ones that this one needs. Of gives what a phase needs right before it.
func needsAmong(phase string, keep []string, of func(phase string) []string) (out []string) {
	for _, need := range of(phase) {
		found := []string{need}
		if !slices.Contains(keep, need) {
			found = needsAmong(need, keep, of)
		}
		for _, name := range found {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// NamesOf are those of the phases, in their order.
func NamesOf(phases []Phase) (names []string) {
	for _, p := range phases {
		names = append(names, p.Name)
	}
	return names
}
