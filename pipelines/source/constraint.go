package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	cuejson "cuelang.org/go/encoding/json"

	"github.com/reprise-ci/reprise/pipelines/mistake"
	"github.com/reprise-ci/reprise/pipelines/reading"
)

// constraint takes down CUE that describes values as text that stands by
// itself, which is how a frozen pipeline keeps it.
func (c *checker) constraint(v cue.Value, use string, n *node) *node {
	s, err := v.String()
	asText := err == nil
	if asText {
		v = reading.Context().CompileString(s, cue.Filename(use+" of "+path.Base(n.file)))
		if err := v.Validate(); err != nil {
			for _, e := range reading.Translate(err, "") {
				c.add(n, nil, "the text is not valid CUE: %s", e.Message)
			}
			return nil
		}
	}
	if err := v.Err(); err != nil {
		c.add(n, nil, "has to be clear before there are values: %s", reading.Translate(err, "")[0].Message)
		return nil
	}
	if v.IncompleteKind() != cue.StructKind {
		c.add(n, nil, "got %s, expected an object that describes fields, or such CUE as text", show(v))
		return nil
	}
	if language := fixed(n.file); !asText && use == "report" && language != "" {
		if it, err := v.Fields(); err == nil && it.Next() && path.Ext(n.file) == ".toml" {
			n.place = labelOf(it.Value(), n.place) // TOML's tables have no place of their own
		}
		c.add(n, nil, "got an object, which holds fixed values in %s; describe the fields in CUE, as one text: %s",
			language, meantByFixed(v))
		return nil
	}
	data, err := format.Node(v.Syntax(cue.Docs(true), cue.InlineImports(true)))
	text := strings.TrimSpace(string(data))
	switch {
	case err != nil:
	case use == "report":
		n.schema, err = reportSchema(reading.Context(), text)
	default:
		err = reading.Context().CompileString(text).Validate()
	}
	if err != nil {
		c.add(n, nil, "cannot stand without the rest of the file: %v; write it out here", err)
		return nil
	}
	if use == "report" && string(n.schema) == "null" {
		c.add(n, nil, "names no fields, expected at least one")
		return nil
	}
	if field, word := quotedType(n.schema); use == "report" && field != "" {
		c.add(n, nil, "%s can be nothing but the word %q; for any value of that type write it without quotes", field, word)
		return nil
	}
	if why := badRequest(n.schema); use == "report" && why != "" {
		c.add(n, nil, "%s", why)
		return nil
	}
	if facts := map[string]*shape{"when": c.facts, "skip": c.before}[use]; facts != nil {
		asked := c.walk(v, facts, &node{place: n.place, path: n.path})
		if asked == nil {
			return nil
		}
		n.names, n.fields = asked.names, asked.fields
	}
	n.kind = scalar
	n.scalar, _ = json.Marshal(text) // a string always has a JSON form
	return n
}

// reportSchema gives the JSON Schema of a report from its CUE text; "null" if
// it has no fields.
func reportSchema(ctx *cue.Context, text string) (json.RawMessage, error) {
	v, err := closedReport(ctx, text)
	if err != nil {
		return nil, err
	}
	s := jsonSchema(v)
	if len(s.Properties) == 0 {
		s = nil
	}
	return json.Marshal(s)
}

// closedReport compiles the text of a report. As a definition it takes the
// fields it names and no others.
func closedReport(ctx *cue.Context, text string) (cue.Value, error) {
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

// checkReport holds a JSON value against the text of a report.
func checkReport(report string, value []byte) error {
	ctx := reading.Context()
	schema, err := closedReport(ctx, report)
	if err != nil {
		return fmt.Errorf("the report's own definition: %w", err)
	}
	v, err := jsonValue(ctx, value)
	if err != nil {
		return Errors{{Message: "not valid JSON: " + mistake.OneLine(err.Error())}}
	}
	c := &checker{}
	c.walk(v, newShape(schema), &node{})
	if len(c.found) == 0 {
		// What fields demand of each other shows only in the whole.
		if err := schema.Unify(v).Validate(cue.Concrete(true)); err != nil {
			return reading.Translate(err, "").Sorted()
		}
	}
	return c.found.OrNil()
}

// matches tells whether the facts are among the values that the text describes.
func matches(when string, facts []byte) (bool, error) {
	ctx := reading.Context()
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

// jsonValue reads JSON; whole numbers stay whole.
func jsonValue(ctx *cue.Context, data []byte) (cue.Value, error) {
	expr, err := cuejson.Extract("", data)
	if err != nil {
		return cue.Value{}, err
	}
	if found := reading.Outsized(expr, ""); len(found) > 0 {
		return cue.Value{}, errors.New(found[0].Message)
	}
	v := ctx.BuildExpr(expr)
	return v, v.Err()
}
