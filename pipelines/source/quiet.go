package source

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
)

// Quiet changes a report of a phase as little as it takes that none of the rules
// after the phase fires because of what the report says: above all none that
// drops, inserts, splits or takes back. Where every report makes one fire, the fewest do.
// It is for a report that nobody meant, such as that of a rehearsal.
func (e Evaluator) Quiet(ctx context.Context, p *pipelines.Pipeline, phase string, report json.RawMessage) (json.RawMessage, error) {
	ask := quieting{Value: report}
	if ph := p.Phase(phase); ph != nil {
		ask.Report = ph.Report
	}
	for _, r := range p.Rules {
		if r.After == phase {
			ask.Rules = append(ask.Rules, quietRule{r.When, r.Then.Drop != nil || r.Then.Insert != "" || r.Then.Rollback != nil || r.Then.Split != ""})
		}
	}
	if len(ask.Rules) == 0 || ask.Report == "" {
		return report, nil
	}
	r, err := e.do(ctx, "the rules after "+phase, request{Quiet: &ask})
	return r.Quiet, err
}

// quieting is a report, what it may be, and the rules that see it.
type quieting struct {
	Report string          `json:"report"` // CUE text
	Value  json.RawMessage `json:"value"`
	Rules  []quietRule     `json:"rules"`
}

type quietRule struct {
	When  string `json:"when"`  // CUE text
	Turns bool   `json:"turns"` // it changes which phases follow
}

// maxTried is how many reports are tried.
const maxTried = 1000

// quiet answers what Evaluator.Quiet asks.
func quiet(ask quieting) (json.RawMessage, error) {
	ctx := NewContext()
	s := search{ctx: ctx, best: ask.Value, remaining: maxTried}
	var err error
	if s.report, err = ReportValue(ctx, ask.Report); err != nil {
		return nil, fmt.Errorf("the report's own definition: %w", err)
	}
	if err := json.Unmarshal(ask.Value, &s.value); err != nil {
		return nil, fmt.Errorf("the report: %w", err)
	}
	for _, r := range ask.Rules {
		w := ctx.CompileString(r.When, cue.Filename("when")).LookupPath(cue.ParsePath("report"))
		if w.Exists() && w.Err() == nil {
			s.whens, s.turns = append(s.whens, w), append(s.turns, r.Turns)
			s.gather(w, s.value, nil)
		}
	}
	if s.least, err = s.noise(ask.Value); err != nil {
		return nil, fmt.Errorf("the report: %w", err)
	}
	for n := 1; n <= len(s.leaves) && s.remaining > 0 && s.least != (noise{}); n++ {
		s.try(0, n)
	}
	return s.best, nil
}

// search looks for a report that makes the fewest rules fire.
type search struct {
	ctx       *cue.Context
	report    cue.Value
	whens     []cue.Value // what each rule asks of the report
	turns     []bool      // of each rule
	value     map[string]any
	leaves    []leaf
	best      json.RawMessage
	least     noise
	remaining int // reports to be tried
}

// leaf is a field that rules ask about, with what else it could be.
type leaf struct {
	in     map[string]any
	path   []string
	others []any
}

// noise is how many rules fire.
type noise struct{ turns, all int }

// gather finds the fields of value that a rule asks about.
func (s *search) gather(asked cue.Value, value map[string]any, path []string) {
	fields, err := asked.Fields(cue.Optional(true))
	if err != nil {
		return
	}
	for fields.Next() {
		name := fields.Selector().Unquoted()
		at := append(slices.Clip(path), name)
		switch now := value[name].(type) {
		case nil: // left out, or null: no rule fires on it by chance
		case map[string]any:
			s.gather(fields.Value(), now, at)
		default:
			s.leaf(value, at, s.others(at, fields.Value()))
		}
	}
}

// leaf adds what a field could be.
func (s *search) leaf(in map[string]any, path []string, others []any) {
	i := slices.IndexFunc(s.leaves, func(l leaf) bool { return slices.Equal(l.path, path) })
	if i < 0 {
		i, s.leaves = len(s.leaves), append(s.leaves, leaf{in: in, path: path})
	}
	l := &s.leaves[i]
	for _, other := range others {
		same := func(o any) bool { return reflect.DeepEqual(o, other) }
		if !same(in[path[len(path)-1]]) && !slices.ContainsFunc(l.others, same) {
			l.others = append(l.others, other)
		}
	}
}

// others are values that a field might have: those that its report lists, and
// some beside each that the rule names.
func (s *search) others(path []string, asked cue.Value) []any {
	v := s.report
	for _, name := range path {
		v = v.LookupPath(cue.MakePath(cue.Str(name).Optional()))
	}
	described := JSONSchema(v)
	var out []any
	for _, e := range described.Enum {
		var one any
		if json.Unmarshal(e, &one) == nil {
			out = append(out, one)
		}
	}
	switch described.Type {
	case "boolean":
		return []any{false, true}
	case "array":
		if item, err := json.Marshal(described.Items); err == nil {
			if one, err := SampleOf(item); err == nil {
				return []any{[]any{one}, []any{one, one}}
			}
		}
	}
	return append(append(out, beside(asked)...), "", "rehearsal")
}

// beside lists the numbers and texts in an expression, and what is next to
// the numbers: between them and beyond, every comparison comes to the same.
func beside(v cue.Value) []any {
	if op, args := v.Expr(); op != cue.NoOp {
		var out []any
		for _, a := range args {
			out = append(out, beside(a)...)
		}
		return out
	}
	if n, err := v.Float64(); err == nil {
		return []any{n, n + 1, n - 1, n + 0.5, n - 0.5}
	}
	if text, err := v.String(); err == nil {
		return []any{text, text + "x"}
	}
	return nil
}

// try gives n of the leaves from first on other values, in every way.
func (s *search) try(first, n int) {
	if n == 0 {
		s.compare()
		return
	}
	for i := first; i <= len(s.leaves)-n; i++ {
		l := s.leaves[i]
		name := l.path[len(l.path)-1]
		was := l.in[name]
		for _, other := range l.others {
			if s.remaining == 0 || s.least == (noise{}) {
				break
			}
			l.in[name] = other
			s.try(i+1, n-1)
		}
		l.in[name] = was
	}
}

// compare keeps the report as it is now if fewer rules fire on it than on any
// before, and the phase may give it.
func (s *search) compare() {
	s.remaining--
	data, err := json.Marshal(s.value)
	if err != nil {
		return // unreachable: it came from JSON
	}
	now, err := s.noise(data)
	if err != nil || cmp.Or(cmp.Compare(now.turns, s.least.turns), cmp.Compare(now.all, s.least.all)) >= 0 {
		return
	}
	if v, err := JSONValue(s.ctx, data); err == nil && s.report.Unify(v).Validate(cue.Concrete(true)) == nil {
		s.best, s.least = data, now
	}
}

// noise counts the rules that fire on a report.
func (s *search) noise(report json.RawMessage) (n noise, err error) {
	v, err := JSONValue(s.ctx, report)
	if err != nil {
		return n, err
	}
	for i, w := range s.whens {
		if w.Subsume(v, cue.Final()) != nil {
			continue
		}
		n.all++
		if s.turns[i] {
			n.turns++
		}
	}
	return n, nil
}
