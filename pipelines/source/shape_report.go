package source

import (
	"encoding/json"
	"errors"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	cuejson "cuelang.org/go/encoding/json"
)

// reportSchema gives the JSON Schema of a report from its CUE text; "null" if
// it has no fields.
func reportSchema(ctx *cue.Context, text string) (json.RawMessage, error) {
	v, err := reportValue(ctx, text)
	if err != nil {
		return nil, err
	}
	s := jsonSchema(v)
	if len(s.Properties) == 0 {
		s = nil
	}
	return json.Marshal(s)
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
	if found := outsized(expr, ""); len(found) > 0 {
		return cue.Value{}, errors.New(found[0].Message)
	}
	v := ctx.BuildExpr(expr)
	return v, v.Err()
}
