package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// shape is what a schema says about one value, looked up once and held against many values.
type shape struct {
	Value      cue.Value
	Kind       cue.Kind
	expect     string   // in words, where the schema has them
	also       []string // what people call such a field elsewhere
	Constraint string   // "report" or "when": the value is CUE itself
	named      string   // what its fields are called, in words, where the schema has them
	form       string   // a key of forms
	as         string   // the field of an object that a value stands for which is none
	Loose      bool     // values need not be concrete

	loaded   bool
	Fields   map[string]*shape
	names    []string // of fields, sorted
	Required []string
	patterns []pattern
	open     bool
	Elem     *shape
}

// pattern holds for all fields whose name it matches.
type pattern struct {
	name  cue.Value
	value *shape
}

// newShape gives the shape of what v describes.
func newShape(v cue.Value) *shape {
	return &shape{Value: v, Kind: described(v).IncompleteKind()}
}

// load reads the fields or the element of the schema.
func (s *shape) load() {
	if s.loaded {
		return
	}
	s.loaded = true
	switch s.Kind {
	case cue.ListKind:
		if elem := described(s.Value).LookupPath(cue.MakePath(cue.AnyIndex)); elem.Exists() {
			s.Elem = s.child(elem)
		}
	case cue.StructKind:
		s.loadFields()
	}
}

func (s *shape) loadFields() {
	s.Fields = map[string]*shape{}
	s.open = s.Value.Allows(cue.AnyString)
	it, _ := s.Value.Fields(cue.Optional(true), cue.Patterns(true)) // it is an object, and without an error
	for it.Next() {
		sel, child := it.Selector(), s.child(it.Value())
		if sel.ConstraintType() == cue.PatternConstraint {
			s.patterns = append(s.patterns, pattern{sel.Pattern(), child})
			continue
		}
		name := sel.Unquoted()
		s.Fields[name] = child
		s.names = append(s.names, name)
		// CUE would fill in an empty list by itself; only a default that
		// somebody wrote makes a field one to leave out.
		_, hasDefault := child.Value.Default()
		if !it.IsOptional() && (!hasDefault || child.Kind == cue.ListKind) {
			s.Required = append(s.Required, name)
		}
	}
	slices.Sort(s.names)
}

// child gives the shape of a value within this one.
func (s *shape) child(v cue.Value) *shape {
	c := newShape(v)
	c.Loose = s.Loose
	said := func(attribute string) string {
		a := v.Attribute(attribute)
		text, _ := a.String(0) // empty if there is none
		return text
	}
	c.expect, c.Constraint, c.named, c.form, c.as = said("expect"), said("constraint"), said("named"), said("form"), said("as")
	a := v.Attribute("also")
	for i := range a.NumArgs() {
		name, _ := a.String(i)
		c.also = append(c.also, name)
	}
	return c
}

// Field returns the shape of the field of that name, or nil if there may be
// none. The shape is that of anything where the schema is open.
func (s *shape) Field(name string) *shape {
	s.load()
	if f, ok := s.Fields[name]; ok {
		return f
	}
	for _, p := range s.patterns {
		if p.name.Unify(NewContext().Encode(name)).Err() == nil {
			return p.value
		}
	}
	if s.open {
		return s.child(NewContext().CompileString("_"))
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
		if slices.Contains(s.Fields[field].also, name) {
			return fmt.Sprintf("unknown field, did you mean %q?", field)
		}
	}
	return "unknown field, " + pipelines.MustBeOneOf(name, s.names)
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
	if s.Value.IsConcrete() && s.Kind&(cue.StructKind|cue.ListKind) == 0 {
		return fmt.Sprint(s.Value)
	}
	return cmp.Or(kindWords[s.Kind], s.Kind.String()) + s.boundWords()
}

// alternatives returns the parts of a disjunction, or nil.
func (s *shape) alternatives() []cue.Value {
	if op, args := cue.Dereference(s.Value).Expr(); op == cue.OrOp {
		return args
	}
	return nil
}

// forKind gives the alternative that is an object or a list where the value is one, so
// that each mistake within it has its place.
func (s *shape) forKind(kind cue.Kind) *shape {
	for _, a := range s.alternatives() {
		if part := s.child(a); (kind == cue.StructKind || kind == cue.ListKind) && part.Kind == kind {
			return part
		}
	}
	return s
}

// boundWords says what a text or a number has to be like.
func (s *shape) boundWords() string {
	var b Schema
	b.bounds(cue.Dereference(s.Value))
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

// kindWords names the kinds of values.
var kindWords = map[cue.Kind]string{
	cue.StringKind: "text", cue.IntKind: "a whole number", cue.NumberKind: "a number", cue.FloatKind: "a number",
	cue.BoolKind: "true or false", cue.ListKind: "a list", cue.StructKind: "an object",
}

// meant adds the alternative that was probably meant.
func (s *shape) meant(v cue.Value) string {
	got, err := v.String()
	if err != nil {
		return ""
	}
	var valid []string
	for _, a := range s.alternatives() {
		if alternative, err := a.String(); err == nil {
			valid = append(valid, alternative)
		}
	}
	if best := pipelines.Nearest(got, valid); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// showValue writes a value as somebody would recognize it.
func showValue(v cue.Value) string {
	if kind := v.IncompleteKind(); kind == cue.StructKind || kind == cue.ListKind {
		return kindWords[kind]
	}
	return text.Short(pipelines.OneLine(fmt.Sprint(v)), 60)
}

// In YAML, JSON and TOML every value is what it is: {risk: string} is the word
// "string" and no type. What describes values is written in CUE there, as text.

// fixedFile names the language of a file whose objects hold fixed values; "" if
// they may describe values.
func fixedFile(file string) string {
	return map[string]string{".yaml": "YAML", ".yml": "YAML", ".json": "JSON", ".toml": "TOML"}[path.Ext(file)]
}

// quotedType finds a field below the one of that name that can be nothing but the name of a type, which somebody has
// put in quotes.
func (s *Schema) quotedType(name string) (field, word string) {
	if len(s.Enum) == 1 && json.Unmarshal(s.Enum[0], &word) == nil && slices.Contains([]string{"string", "int", "number", "float", "bool", "bytes"}, word) {
		return name, word
	}
	if s.Items != nil {
		return s.Items.quotedType(name + "[]")
	}
	for _, inner := range slices.Sorted(maps.Keys(s.Properties)) {
		if field, word := s.Properties[inner].quotedType(strings.TrimPrefix(name+"."+inner, ".")); field != "" {
			return field, word
		}
	}
	return "", ""
}

// badRequest says why a report cannot ask for what its fields say, or "". What makes issues, or lets a run go on, is
// what it says or a mistake; other requests may be data.
func badRequest(report cue.Value) string {
	shape, asks := newShape(report), NewContext().CompileString(`#child: {title!: string, body?: string}, #go: "`+strings.Join(pipelines.GoOn(), `" | "`)+`"`)
	shape.load()
	var wrong []string
	if children := shape.Fields["children"]; children != nil {
		if children.load(); children.Elem == nil || asks.LookupPath(cue.ParsePath("#child")).Subsume(children.Elem.Value) != nil {
			wrong = append(wrong, "children asks for issues of their own, expected [...{title: string, body?: string}] and no other fields")
		}
	}
	if decision := shape.Fields["decision"]; decision != nil && decision.Value.Unify(asks.LookupPath(cue.ParsePath("#go"))).Err() != nil {
		wrong = append(wrong, `decision says whether the run goes on, expected text that can be "pass" or "pass_with_issues"; give the field another name if it means something else`)
	}
	return strings.Join(wrong, "; ")
}
