package source

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cuejson "cuelang.org/go/encoding/json"
	"cuelang.org/go/encoding/jsonschema"
	"cuelang.org/go/encoding/yaml"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// The schema for editors is made of the one that pipelines are held to.
func TestJSONSchema(t *testing.T) {
	pipeline := NewContext().CompileString(pipelines.Schema).LookupPath(cue.ParsePath("#Pipeline"))
	expr, err := jsonschema.Generate(pipeline, nil)
	testenv.Must(t, err)
	text, err := NewContext().BuildExpr(expr).MarshalJSON()
	testenv.Must(t, err)
	var schema map[string]any
	// Editors read regular expressions as JavaScript does, which has no such classes.
	plain := strings.NewReplacer("[:space:]", `\\s`, "[:cntrl:]", `\\x00-\\x1f\\x7f`, "#/$defs/", "#/definitions/").Replace(string(text))
	testenv.Must(t, json.Unmarshal([]byte(plain), &schema))
	got, err := json.MarshalIndent(forEditors(schema), "", "  ")
	testenv.Must(t, err)
	testenv.Golden(t, "../schema.json", string(got)+"\n")
}

// forEditors gives a schema the form that the editors of today understand. One object
// cannot be closed in two parts, so what a definition shares is put into it.
func forEditors(schema map[string]any) map[string]any {
	defs := schema["$defs"].(map[string]any)
	inOnePart(schema, defs)
	delete(defs, "Settings")
	delete(schema, "$defs")
	schema["definitions"] = defs
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "Pipeline of reprise"
	return schema
}

// inOnePart puts into each object that adds to a definition what that has.
func inOnePart(v any, defs map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			inOnePart(e, defs)
		}
	case map[string]any:
		for _, e := range v {
			inOnePart(e, defs)
		}
		said, _ := v["description"].(string)
		if m := initially.FindStringSubmatch(strings.Join(strings.Fields(said), " ")); m != nil && v["$ref"] == nil {
			var initial any
			if json.Unmarshal([]byte(m[1]), &initial) == nil {
				v["default"] = initial
			}
		}
		name, _ := v["$ref"].(string)
		own, adds := v["properties"].(map[string]any)
		if name == "" || !adds {
			return
		}
		shared := defs[strings.TrimPrefix(name, "#/definitions/")].(map[string]any)
		properties := maps.Clone(shared["properties"].(map[string]any))
		maps.Copy(properties, own)
		required := []any{}
		for _, d := range []map[string]any{shared, v} {
			if r, is := d["required"].([]any); is {
				required = append(required, r...)
			}
		}
		delete(v, "$ref")
		if v["properties"] = properties; len(required) > 0 {
			v["required"] = required
		}
	}
}

// What is a pipeline for reprise is one for an editor, and what is none is none.
func TestJSONSchemaMeansTheSame(t *testing.T) {
	expr, err := cuejson.Extract("schema.json", []byte(pipelines.JSONSchema))
	testenv.Must(t, err)
	ctx := NewContext()
	file, err := jsonschema.Extract(ctx.BuildExpr(expr), &jsonschema.Config{})
	testenv.Must(t, err)
	schema := ctx.BuildFile(file)
	fits := func(f *ast.File) error {
		return schema.Unify(ctx.BuildFile(f)).Validate(cue.Concrete(true))
	}
	examples, err := filepath.Glob("../../examples/pipelines/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	texts := map[string]string{}
	for _, name := range examples {
		data := testenv.Read(t, name)
		texts[data] = ""
		if !strings.HasPrefix(data, "# yaml-language-server: $schema=../../pipelines/schema.json\n") {
			t.Errorf("%s does not begin with the line that names its schema to editors", name)
		}
	}
	for text, wrong := range map[string]string{
		"phases: [{name: build, goal: Do it., access: tree, checks: [{name: unit, run: go test}], steps: {review: {turns: 3}}}]":                                             "",
		"phases: [{name: b, goal: g, access: tree, steps: {review: {access: read, turns: 3}}, checks: [{name: c, run: 'true'}]}]\nsetup: [{name: s, run: x, network: open}]": "",
		"phases: [{name: b, goal: g, steps: {review: {acces: read}}}]":                                                                                                       "acces",
		"phases: [{name: b, goal: g, steps: {revise: {access: read}}}]":                                                                                                      "access",
		"extends: full\nreplace: [{name: design, model: opus}]\ndrop: [report]":                                                                                              "",
		"rules: [{after: build, when: {diff: {lines: 3}}, then: {skip: review}}]":                                                                                            "",
		"phases: [{name: build}]":                            "goal",
		"phases: [{name: build, goal: Do it., acces: tree}]": "acces",
		"phases: [{name: Build, goal: Do it.}]":              "name",
		"fases: []":                                          "fases",
		"agents: {w: {use: gpt}}":                            "use",
		"phases: [{name: build, goal: Do it., model: --x}]":  "model",
	} {
		texts[text] = wrong
	}
	for text, wrong := range texts {
		f, err := yaml.Extract("x.yaml", text)
		testenv.Must(t, err)
		switch err := fits(f); {
		case wrong == "" && err != nil:
			t.Errorf("%s\nis refused: %v", text, err)
		case wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)):
			t.Errorf("%s\nis said to be wrong as follows, without %s: %v", text, wrong, err)
		}
	}
}
