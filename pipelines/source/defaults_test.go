package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/pipelines"
)

// A pipeline that writes a default as the comment of its field in schema.cue says it is the
// same as one that leaves the field out.
func TestDefaultsOfComments(t *testing.T) {
	// Those that a pipeline does not hold are filled in where they are read.
	read := []string{
		"jobs: 4", `keep: "14d"`, `file: "1GB"`, `disk: "4GB"`, `wait: "20m"`, "fixes: 2", `finish: "remove"`, `update: "before-ready"`, `review: "both"`,
	}
	literal := regexp.MustCompile(`Default:\s+("[^"]*"|[0-9]+|true|false)\.`)
	const phases = "\nphases: [{name: \"one\", goal: \"x\"}]"
	around := map[string]string{
		"#Pipeline": "%s" + phases, "#Budget": "budget: %s" + phases, "#Defaults": "defaults: %s" + phases,
		"#Retry": "defaults: retry: %s" + phases, "#Settings": "phases: [{name: \"one\", goal: \"x\"} & %s]",
	}
	tree, err := parser.ParseFile("schema.cue", pipelines.Schema, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	var walk func(n ast.Expr, place string)
	walk = func(n ast.Expr, place string) {
		object, is := n.(*ast.StructLit)
		if !is {
			return
		}
		for _, decl := range object.Elts {
			field, is := decl.(*ast.Field)
			if !is {
				continue
			}
			name, _, _ := ast.LabelName(field.Label)
			var said strings.Builder
			for _, group := range ast.Comments(field) {
				said.WriteString(group.Text())
			}
			if m := literal.FindStringSubmatch(said.String()); m != nil && !slices.Contains(read, name+": "+m[1]) {
				held++
				without, with := resolve(t, fmt.Sprintf(place, "{}")), resolve(t, fmt.Sprintf(place, fmt.Sprintf("{%s: %s}", name, m[1])))
				without.Origins, with.Origins = nil, nil
				if diff := cmp.Diff(without, with); diff != "" {
					t.Errorf("%s: the comment says %s (-left out +written):\n%s", name, m[1], diff)
				}
			}
			walk(field.Value, fmt.Sprintf(place, "{"+name+": %s}"))
		}
	}
	for _, decl := range tree.Decls {
		if field, is := decl.(*ast.Field); is {
			if name, _, _ := ast.LabelName(field.Label); around[name] != "" {
				walk(field.Value, around[name])
			}
		}
	}
	if held < 20 {
		t.Errorf("only %d defaults were held", held)
	}
}
