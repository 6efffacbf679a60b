package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// schema is what CUE says of one value. What it writes as JSON is the part of JSON Schema that every agent
// understands: CUE's own generators write references, allOf and tuples, which agents refuse.
type schema struct {
	Type        any                `json:"type,omitempty"` // a string, or a list of them
	Description string             `json:"description,omitempty"`
	Enum        []json.RawMessage  `json:"enum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Minimum     json.RawMessage    `json:"minimum,omitempty"`
	Maximum     json.RawMessage    `json:"maximum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Additional  any                `json:"additionalProperties,omitempty"` // false, or a *schema
	AnyOf       []*schema          `json:"anyOf,omitempty"`

	value        cue.Value
	kind         cue.Kind
	alternatives []*schema
	patterns     []pattern
	open         bool   // an object may have fields that it does not name
	wrong        string // what is wrong with every value
	other        string // what is wrong with a field of another {name}
	see          string // ends what is wrong below
}

// pattern holds for all fields whose name it matches.
type pattern struct {
	name  cue.Value
	value *schema
}

// schemaOf describes the values that v allows, and perhaps a few more.
func schemaOf(v cue.Value) *schema {
	is := described(v)
	s := &schema{Description: description(v), value: v, kind: is.IncompleteKind(), Type: typeOf(is.IncompleteKind())}
	op, args := is.Expr()
	switch {
	case op == cue.OrOp:
		s.oneOf(args)
	case isAtom(is):
		if data, err := is.MarshalJSON(); err == nil {
			s.Enum = []json.RawMessage{data}
		}
	case s.kind == cue.StructKind:
		s.object(is)
	case s.kind == cue.ListKind:
		elem := is.LookupPath(cue.MakePath(cue.AnyIndex))
		if !elem.Exists() {
			elem = NewContext().CompileString("_")
		}
		s.Items = schemaOf(elem)
	default:
		s.bounds(is)
	}
	return s
}

// described looks through a name for what it stands for, and through a demand
// on a list, such as a least length, which no list meets yet, for the list.
func described(v cue.Value) cue.Value {
	v = cue.Dereference(v)
	if v.IncompleteKind() != cue.BottomKind {
		return v
	}
	if op, args := v.Expr(); op == cue.AndOp {
		for _, a := range args {
			if a = described(a); a.IncompleteKind() == cue.ListKind && a.LookupPath(cue.MakePath(cue.AnyIndex)).Exists() {
				return a
			}
		}
	}
	return v
}

// isAtom tells whether v is one single value that has no parts.
func isAtom(v cue.Value) bool {
	return v.IsConcrete() && v.IncompleteKind()&(cue.StructKind|cue.ListKind) == 0
}

// oneOf takes alternatives: a list of values if all are such, else one schema each.
func (s *schema) oneOf(args []cue.Value) {
	for _, a := range args {
		s.alternatives = append(s.alternatives, schemaOf(a))
	}
	for _, a := range s.alternatives {
		if len(a.Enum) != 1 {
			s.Type, s.Enum, s.AnyOf = nil, nil, s.alternatives
			return
		}
		if !slices.ContainsFunc(s.Enum, func(e json.RawMessage) bool { return string(e) == string(a.Enum[0]) }) {
			s.Enum = append(s.Enum, a.Enum[0])
		}
	}
}

func (s *schema) object(v cue.Value) {
	s.Properties, s.open = map[string]*schema{}, s.value.Allows(cue.AnyString)
	if !s.open {
		s.Additional = false
	}
	it, _ := v.Fields(cue.Optional(true), cue.Patterns(true)) // it is an object, and without an error
	for it.Next() {
		sel, child := it.Selector(), schemaOf(it.Value())
		if sel.ConstraintType() == cue.PatternConstraint {
			s.patterns = append(s.patterns, pattern{sel.Pattern(), child})
			s.Additional = s.patterns[0].value
			continue
		}
		s.Properties[sel.Unquoted()] = child
		// CUE would fill in an empty list by itself; only a default that
		// somebody wrote makes a field one to leave out.
		_, hasDefault := child.value.Default()
		if !it.IsOptional() && (!hasDefault || child.kind == cue.ListKind) {
			s.Required = append(s.Required, sel.Unquoted())
		}
	}
}

// bounds takes over what limits a string or a number.
func (s *schema) bounds(v cue.Value) {
	op, args := v.Expr()
	switch op {
	case cue.AndOp:
		for _, a := range args {
			s.bounds(a)
		}
	case cue.RegexMatchOp:
		// JSON Schema's dialect has no flags and no inline groups.
		if p, err := args[0].String(); err == nil && !strings.Contains(p, "(?") {
			s.Pattern = p
		}
	case cue.GreaterThanEqualOp:
		s.Minimum, _ = args[0].MarshalJSON()
	case cue.LessThanEqualOp:
		s.Maximum, _ = args[0].MarshalJSON()
	}
}

// typeOf names the JSON types of a kind; nil is any.
func typeOf(k cue.Kind) any {
	var names []string
	for _, t := range []struct {
		kind cue.Kind
		name string
	}{
		{cue.StructKind, "object"},
		{cue.ListKind, "array"},
		{cue.StringKind | cue.BytesKind, "string"},
		{cue.FloatKind, "number"}, // which takes whole ones too
		{cue.IntKind, "integer"},
		{cue.BoolKind, "boolean"},
		{cue.NullKind, "null"},
	} {
		if k&t.kind != 0 && (t.kind != cue.IntKind || k&cue.FloatKind == 0) {
			names = append(names, t.name)
		}
	}
	switch {
	case len(names) == 1:
		return names[0]
	case k == cue.TopKind:
		return nil
	default:
		return names
	}
}

// description is the comment above a field.
func description(v cue.Value) string {
	var lines []string
	for _, group := range v.Doc() {
		lines = append(lines, strings.TrimSpace(group.Text()))
	}
	return strings.Join(lines, "\n")
}

// says gives an attribute of a field, such as @form(pattern): expect is what is expected, in words; named what its fields
// are called; constraint that the value is CUE itself; form a key of forms; as the field of an object that a value
// stands for which is none. "" if there is none.
func (s *schema) says(attribute string) string {
	a := s.value.Attribute(attribute)
	text, _ := a.String(0)
	return text
}

// field returns the schema of the field of that name, or nil if there may be none.
func (s *schema) field(name string) *schema {
	if f, ok := s.Properties[name]; ok {
		return f
	}
	for _, p := range s.patterns {
		if p.name.Unify(NewContext().Encode(name)).Err() == nil {
			return p.value
		}
	}
	if s.open {
		return schemaOf(NewContext().CompileString("_"))
	}
	return nil
}

// unknown says what is wrong with a field of that name.
func (s *schema) unknown(name string) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	switch {
	case s.other != "":
		return strings.ReplaceAll(s.other, "{name}", strconv.Quote(name)) + ", " + pipelines.MustBeOneOf(name, names)
	case s.says("named") != "":
		return "not a good name, expected " + s.says("named")
	case len(s.patterns) > 0:
		return "not a good name, expected one that matches " + fmt.Sprint(s.patterns[0].name)
	case len(names) == 0:
		return "unknown field, expected no fields"
	}
	for _, field := range names {
		if also := s.Properties[field].value.Attribute("also"); slices.Contains(strings.Split(also.Contents(), ","), name) {
			return fmt.Sprintf("unknown field, did you mean %q?", field) // as it is called elsewhere
		}
	}
	return "unknown field, " + pipelines.MustBeOneOf(name, names)
}

// words says what the schema expects.
func (s *schema) words() string {
	switch expect := s.says("expect"); {
	case expect != "":
		return expect
	case s.alternatives != nil:
		var words []string
		for _, a := range s.alternatives {
			words = append(words, a.words())
		}
		return "one of " + strings.Join(words, ", ")
	case isAtom(s.value):
		return fmt.Sprint(s.value)
	}
	kind := cmp.Or(kindWords[s.kind], s.kind.String())
	switch {
	case s.Pattern == `\S`:
		return kind + " that is not blank"
	case s.Pattern != "":
		return kind + " that matches " + s.Pattern
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("%s from %s to %s", kind, s.Minimum, s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf("%s of at least %s", kind, s.Minimum)
	case s.Maximum != nil:
		return fmt.Sprintf("%s of at most %s", kind, s.Maximum)
	}
	return kind
}

// alternative gives the one that an object or a list is held against, so that each mistake within it has its place: one
// that it fits, or else the first of its kind.
func (s *schema) alternative(v cue.Value, loose bool) *schema {
	of := s
	for _, a := range slices.Backward(s.alternatives) {
		if a.kind != v.IncompleteKind() || a.kind != cue.StructKind && a.kind != cue.ListKind {
			continue
		}
		if of = a; a.value.Unify(v).Validate(cue.Concrete(!loose)) == nil {
			break
		}
	}
	return of
}

// kindWords names the kinds of values.
var kindWords = map[cue.Kind]string{
	cue.StringKind: "text", cue.IntKind: "a whole number", cue.NumberKind: "a number", cue.FloatKind: "a number",
	cue.BoolKind: "true or false", cue.ListKind: "a list", cue.StructKind: "an object",
}

// meant adds the alternative that was probably meant.
func (s *schema) meant(v cue.Value) string {
	got, _ := v.String() // nothing is like "", which another value gives
	var valid []string
	for _, a := range s.alternatives {
		if word, err := a.value.String(); err == nil {
			valid = append(valid, word)
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
