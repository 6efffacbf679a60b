package source

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	cuejson "cuelang.org/go/encoding/json"
)

// Schema is the part of JSON Schema that every agent understands. CUE's own generators write
// references, allOf and tuples, which agents refuse.
type Schema struct {
	Type        any                `json:"type,omitempty"` // a string, or a list of them
	Description string             `json:"description,omitempty"`
	Enum        []json.RawMessage  `json:"enum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Minimum     json.RawMessage    `json:"minimum,omitempty"`
	Maximum     json.RawMessage    `json:"maximum,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	// Additional is false, or a *Schema.
	Additional any       `json:"additionalProperties,omitempty"`
	AnyOf      []*Schema `json:"anyOf,omitempty"`
}

// jsonSchema describes the values that v allows, and perhaps a few more.
func jsonSchema(v cue.Value) *Schema {
	s := &Schema{Description: description(v)}
	v = described(v)
	if op, args := v.Expr(); op == cue.OrOp {
		s.alternatives(args)
		return s
	}
	if isAtom(v) {
		s.alternatives([]cue.Value{v})
		return s
	}
	s.Type = typeOf(v.IncompleteKind())
	switch v.IncompleteKind() {
	case cue.StructKind:
		s.object(v)
	case cue.ListKind:
		s.Items = &Schema{}
		if elem := v.LookupPath(cue.MakePath(cue.AnyIndex)); elem.Exists() {
			s.Items = jsonSchema(elem)
		}
	default:
		s.bounds(v)
	}
	return s
}

// described looks through a name for what it stands for, and through a demand
// on a list, such as a least length, which no list meets yet, for the list.
func described(v cue.Value) cue.Value {
	v = cue.Dereference(v)
	if op, args := v.Expr(); op == cue.AndOp && v.IncompleteKind() == cue.BottomKind {
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

// alternatives are a list of values if all are such, else one schema each.
func (s *Schema) alternatives(args []cue.Value) {
	var kinds cue.Kind
	for _, a := range args {
		data, err := a.MarshalJSON()
		if err != nil || !isAtom(a) {
			s.Enum = nil
			break
		}
		kinds |= a.IncompleteKind()
		if !slices.ContainsFunc(s.Enum, func(e json.RawMessage) bool { return string(e) == string(data) }) {
			s.Enum = append(s.Enum, data)
		}
	}
	if s.Enum != nil {
		s.Type = typeOf(kinds)
		return
	}
	for _, a := range args {
		s.AnyOf = append(s.AnyOf, jsonSchema(a))
	}
}

func (s *Schema) object(v cue.Value) {
	shape := newShape(v)
	shape.load()
	s.Properties, s.Required = map[string]*Schema{}, shape.Required
	for name, field := range shape.Fields {
		s.Properties[name] = jsonSchema(field.Value)
	}
	switch {
	case len(shape.patterns) > 0:
		s.Additional = jsonSchema(shape.patterns[0].value.Value)
	case !shape.open:
		s.Additional = false
	}
}

// bounds takes over what limits a string or a number.
func (s *Schema) bounds(v cue.Value) {
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
		{cue.StringKind, "string"},
		{cue.BytesKind, "string"},
		{cue.FloatKind, "number"},
		{cue.IntKind, "integer"},
		{cue.BoolKind, "boolean"},
		{cue.NullKind, "null"},
	} {
		if k&t.kind != 0 && !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	if slices.Contains(names, "number") { // which takes whole ones too
		names = slices.DeleteFunc(names, func(n string) bool { return n == "integer" })
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

// SampleOf gives a small value that fits the JSON Schema of a report: every required
// property, the first word of an enum, no items, and one of a few texts.
func SampleOf(schema json.RawMessage) (json.RawMessage, error) {
	var s Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("the JSON Schema of the answer: %w", err)
	}
	return json.Marshal(s.sample())
}

// sample does it for one level of a schema, and all below.
func (s *Schema) sample() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	if len(s.AnyOf) > 0 {
		return s.AnyOf[0].sample()
	}
	kind := s.Type
	if all, several := kind.([]any); several {
		kind = all[0]
	}
	switch kind {
	case "object":
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = s.Properties[name].sample()
		}
		return out
	case "array":
		return []any{}
	case "string":
		fits := func(text string) bool {
			ok, err := regexp.MatchString(s.Pattern, text)
			return ok && err == nil
		}
		usual := []string{"rehearsal", "low", "a", "A", "1", "1.0.0", "2026-01-31", "a@example.com", "https://example.com/"}
		if i := slices.IndexFunc(usual, fits); i > 0 {
			return usual[i]
		}
		return usual[0] // where it does not fit, people say what does
	case "integer", "number":
		for _, limit := range []json.RawMessage{s.Minimum, s.Maximum} {
			if limit != nil {
				return limit
			}
		}
		return 0
	case "boolean":
		return false
	}
	return nil
}

// reportSchema gives the JSON Schema of a report from its CUE text, or says what is wrong with that.
func reportSchema(text string) (schema json.RawMessage, wrong string, err error) {
	v, err := reportValue(NewContext(), text)
	if err != nil {
		return nil, "", err
	}
	s := jsonSchema(v)
	if len(s.Properties) == 0 {
		return nil, "names no fields, expected at least one", nil
	}
	if field, word := s.quotedType(""); field != "" {
		return nil, fmt.Sprintf("%s can be nothing but the word %q; for any value of that type write it without quotes", field, word), nil
	}
	schema, err = json.Marshal(s)
	return schema, badRequest(v), err
}

// reportValue compiles the text of a report. As a definition it takes the
// fields it names and no others.
func reportValue(ctx *cue.Context, text string) (cue.Value, error) {
	tree, err := parser.ParseFile("report", text, parser.ParseComments)
	if err != nil {
		return cue.Value{}, err
	}
	body, out := &ast.StructLit{}, &ast.File{}
	for _, d := range tree.Decls {
		if imp, ok := d.(*ast.ImportDecl); ok {
			out.Decls = append(out.Decls, imp)
		} else {
			body.Elts = append(body.Elts, d)
		}
	}
	out.Decls = append(out.Decls, &ast.Field{Label: ast.NewIdent("#Report"), Value: body})
	v := ctx.BuildFile(out).LookupPath(cue.MakePath(cue.Def("#Report")))
	return v, v.Err()
}

// jsonValue reads JSON; whole numbers stay whole.
func jsonValue(ctx *cue.Context, data []byte) (cue.Value, error) {
	expr, err := cuejson.Extract("", data)
	if err != nil {
		return cue.Value{}, err
	}
	if found := outsized(expr); found != nil {
		return cue.Value{}, found
	}
	v := ctx.BuildExpr(expr)
	return v, v.Err()
}
