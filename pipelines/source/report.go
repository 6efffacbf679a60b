package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	cuejson "cuelang.org/go/encoding/json"

	"github.com/reprise-ci/reprise/pipelines"
)

// reportSchema gives the JSON Schema of a report from its CUE text, or says what is wrong with that.
func reportSchema(text string) (data json.RawMessage, wrong string, err error) {
	v, err := reportValue(NewContext(), text)
	if err != nil {
		return nil, "", err
	}
	s := schemaOf(v)
	if len(s.Properties) == 0 {
		return nil, "names no fields, expected at least one", nil
	}
	if field, word := s.quotedType(""); field != "" {
		return nil, fmt.Sprintf("%s can be nothing but the word %q; for any value of that type write it without quotes", field, word), nil
	}
	data, err = json.Marshal(s)
	return data, s.badRequest(), err
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

// checkReport holds a JSON value against the text of a report.
func checkReport(report string, value []byte) error {
	ctx := NewContext()
	v, err := reportValue(ctx, report)
	if err != nil {
		return fmt.Errorf("the report's own definition: %w", err)
	}
	given, err := jsonValue(ctx, value)
	if err != nil {
		return pipelines.Mistakes{{Message: "not valid JSON: " + pipelines.OneLine(err.Error())}}
	}
	c := &checker{}
	c.walk(given, schemaOf(v), &node{})
	if len(c.Found) == 0 {
		// What fields demand of each other shows only in the whole.
		c.Found = translate(v.Unify(given).Validate(cue.Concrete(true)), "")
	}
	return c.Found.OrNil()
}

// matches tells whether the facts are among the values that the text describes.
func matches(when string, facts []byte) (bool, error) {
	ctx := NewContext()
	w := ctx.CompileString(when, cue.Filename("when"))
	if err := w.Validate(); err != nil {
		return false, fmt.Errorf("when: %w", err)
	}
	f, err := jsonValue(ctx, facts)
	if err != nil {
		return false, fmt.Errorf("facts: %w", err)
	}
	return w.Subsume(f, cue.Final()) == nil, nil
}

// quotedType finds a field below the one of that name that can be nothing but the name of a type, which somebody has
// put in quotes.
func (s *schema) quotedType(name string) (field, word string) {
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
func (s *schema) badRequest() string {
	asks := NewContext().CompileString(`#child: {title!: string, body?: string}, #go: "` + strings.Join(pipelines.GoOn(), `" | "`) + `"`)
	var wrong []string
	if children := s.Properties["children"]; children != nil && (children.Items == nil || asks.LookupPath(cue.ParsePath("#child")).Subsume(children.Items.value) != nil) {
		wrong = append(wrong, "children asks for issues of their own, expected [...{title: string, body?: string}] and no other fields")
	}
	if decision := s.Properties["decision"]; decision != nil && decision.value.Unify(asks.LookupPath(cue.ParsePath("#go"))).Err() != nil {
		wrong = append(wrong, `decision says whether the run goes on, expected text that can be "pass" or "pass_with_issues"; give the field another name if it means something else`)
	}
	return strings.Join(wrong, "; ")
}

// SampleOf gives a small value that fits the JSON Schema of a report: every required
// property, the first word of an enum, no items, and one of a few texts.
func SampleOf(report json.RawMessage) (json.RawMessage, error) {
	var s schema
	if err := json.Unmarshal(report, &s); err != nil {
		return nil, fmt.Errorf("the JSON Schema of the answer: %w", err)
	}
	return json.Marshal(s.sample())
}

// sample does it for one level of a schema, and all below.
func (s *schema) sample() any {
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
		usual := []string{"rehearsal", "low", "a", "A", "1", "1.0.0", "2026-01-31", "a@example.com", "https://example.com/"}
		i := slices.IndexFunc(usual, func(text string) bool {
			ok, err := regexp.MatchString(s.Pattern, text)
			return ok && err == nil
		})
		return usual[max(i, 0)] // where it does not fit, people say what does
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
