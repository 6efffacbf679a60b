package source

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines/mistake"
	"github.com/reprise-ci/reprise/pipelines/reading"
)

// shape is what a schema says about one value. It is looked up once and then
// held against as many values as there are: reading a schema's fields costs
// more than checking a value against one of them.
type shape struct {
	v          cue.Value
	kind       cue.Kind
	expect     string   // in words, where the schema has them
	also       []string // what people call such a field elsewhere
	constraint string   // "report" or "when": the value is CUE itself
	named      string   // what its fields are called, in words, where the schema has them
	loose      bool     // values need not be concrete

	loaded   bool
	fields   map[string]*shape
	names    []string // of fields, sorted
	required []string
	patterns []pattern
	open     bool
	elem     *shape
}

// pattern holds for all fields whose name it matches.
type pattern struct {
	name  cue.Value
	value *shape
}

func newShape(v cue.Value) *shape {
	return &shape{v: v, kind: described(v).IncompleteKind()}
}

// load reads the fields or the element of the schema.
func (s *shape) load() {
	if s.loaded {
		return
	}
	s.loaded = true
	switch s.kind {
	case cue.ListKind:
		if elem := described(s.v).LookupPath(cue.MakePath(cue.AnyIndex)); elem.Exists() {
			s.elem = s.child(elem)
		}
	case cue.StructKind:
		s.loadFields()
	}
}

func (s *shape) loadFields() {
	s.fields = map[string]*shape{}
	s.open = s.v.Allows(cue.AnyString)
	it, err := s.v.Fields(cue.Optional(true), cue.Patterns(true))
	if err != nil {
		return // the value has been validated, so this is a struct
	}
	for it.Next() {
		sel, child := it.Selector(), s.child(it.Value())
		if sel.ConstraintType() == cue.PatternConstraint {
			s.patterns = append(s.patterns, pattern{sel.Pattern(), child})
			continue
		}
		name := sel.Unquoted()
		s.fields[name] = child
		s.names = append(s.names, name)
		// CUE would fill in an empty list by itself; only a default that
		// somebody wrote makes a field one to leave out.
		_, hasDefault := child.v.Default()
		if !it.IsOptional() && (!hasDefault || child.kind == cue.ListKind) {
			s.required = append(s.required, name)
		}
	}
	slices.Sort(s.names)
}

func (s *shape) child(v cue.Value) *shape {
	c := newShape(v)
	c.loose = s.loose
	if a := v.Attribute("expect"); a.Err() == nil {
		c.expect, _ = a.String(0)
	}
	if a := v.Attribute("named"); a.Err() == nil {
		c.named, _ = a.String(0)
	}
	if a := v.Attribute("also"); a.Err() == nil {
		for i := range a.NumArgs() {
			name, _ := a.String(i)
			c.also = append(c.also, name)
		}
	}
	if a := v.Attribute("constraint"); a.Err() == nil {
		c.constraint, _ = a.String(0)
	}
	return c
}

// field returns the shape of the field of that name, or nil if there may be
// none. The shape is that of anything where the schema is open.
func (s *shape) field(name string) *shape {
	s.load()
	if f, ok := s.fields[name]; ok {
		return f
	}
	for _, p := range s.patterns {
		if p.name.Unify(reading.Context().Encode(name)).Err() == nil {
			return p.value
		}
	}
	if s.open {
		return s.child(reading.Context().CompileString("_"))
	}
	return nil
}

// unknown says what is wrong with a field of that name.
func (s *shape) unknown(name string) string {
	if s.named != "" {
		return "not a good name, expected " + s.named
	}
	if len(s.patterns) > 0 {
		return "not a good name, expected one that matches " + fmt.Sprint(s.patterns[0].name)
	}
	if len(s.names) == 0 {
		return "unknown field, expected no fields"
	}
	for _, field := range s.names {
		if slices.Contains(s.fields[field].also, name) {
			return fmt.Sprintf("unknown field, did you mean %q?", field)
		}
	}
	return "unknown field, " + mistake.OneOf(name, s.names)
}

// words says what the schema expects.
func (s *shape) words() string {
	if s.expect != "" {
		return s.expect
	}
	if all := s.alternatives(); all != nil {
		words := make([]string, len(all))
		for i, a := range all {
			words[i] = newShape(a).words()
		}
		return "one of " + strings.Join(words, ", ")
	}
	if s.v.IsConcrete() && s.kind&(cue.StructKind|cue.ListKind) == 0 {
		return fmt.Sprint(s.v)
	}
	return kindWords(s.kind) + s.boundWords()
}

// alternatives returns the parts of a disjunction, or nil.
func (s *shape) alternatives() []cue.Value {
	if op, args := cue.Dereference(s.v).Expr(); op == cue.OrOp {
		return args
	}
	return nil
}

// forKind gives the alternative that is an object or a list where the value is one, so
// that each mistake within it has its place.
func (s *shape) forKind(kind cue.Kind) *shape {
	for _, a := range s.alternatives() {
		if part := s.child(a); (kind == cue.StructKind || kind == cue.ListKind) && part.kind == kind {
			return part
		}
	}
	return s
}

// boundWords says what a text or a number has to be like.
func (s *shape) boundWords() string {
	var b schema
	b.bounds(cue.Dereference(s.v))
	switch {
	case b.Pattern == `\S`:
		return " that is not blank"
	case b.Pattern != "":
		return " that matches " + b.Pattern
	case b.Minimum != nil && b.Maximum != nil:
		return fmt.Sprintf(" from %s to %s", b.Minimum, b.Maximum)
	case b.Minimum != nil:
		return fmt.Sprintf(" of at least %s", b.Minimum)
	case b.Maximum != nil:
		return fmt.Sprintf(" of at most %s", b.Maximum)
	}
	return ""
}

// kindWords names a kind of value.
func kindWords(k cue.Kind) string {
	switch k {
	case cue.StringKind:
		return "text"
	case cue.IntKind:
		return "a whole number"
	case cue.NumberKind, cue.FloatKind:
		return "a number"
	case cue.BoolKind:
		return "true or false"
	case cue.ListKind:
		return "a list"
	case cue.StructKind:
		return "an object"
	}
	return k.String()
}
