package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// The reference of pipelines is made of the schema that they are held to.
func TestReference(t *testing.T) {
	schema := NewContext().CompileString(pipelines.Schema)
	r := &reference{t: t, sections: []string{"#Pipeline", "#Config"}}
	r.WriteString("# Every field of a pipeline\n\nA test makes this page from [schema.cue](../../pipelines/schema.cue); [Pipelines](../pipelines.md) explains the ideas.\n" +
		"`NAME` stands for a name that you choose, and `[]` for each item of a list. In YAML, JSON and TOML, CUE is written as text.\n")
	for i := 0; i < len(r.sections); i++ { // which grow
		v := schema.LookupPath(cue.ParsePath(r.sections[i]))
		fmt.Fprintf(r, "\n## %s\n\n%s\n\n| field | value | default | what it is |\n|---|---|---|---|\n",
			strings.TrimPrefix(r.sections[i], "#"), inCode(description(v)))
		for _, a := range append(schemaOf(v).alternatives, schemaOf(v)) {
			r.fields(a.value, "")
		}
	}
	testenv.Golden(t, referencePage, r.String())
}

const referencePage = "../../docs/reference/pipeline.md"

// reference is a page with a section for each definition that a field leads to.
type reference struct {
	t *testing.T
	strings.Builder
	sections []string
}

// initially is how the comment of a field says its default.
var initially = regexp.MustCompile(` ?Default: (.+?)\.( |$)`)

// fields writes a row for each field of an object, those that it must have first, and below
// it those of what it holds.
func (r *reference) fields(v cue.Value, at string) {
	if v.IncompleteKind() != cue.StructKind {
		return // nothing is in it
	}
	for _, required := range []bool{true, false} {
		it, err := v.Fields(cue.Optional(true), cue.Patterns(true))
		if err != nil {
			r.t.Fatal(err)
		}
		for it.Next() {
			name, initial := at+"NAME", ""
			if it.Selector().ConstraintType() != cue.PatternConstraint {
				name = at + it.Selector().Unquoted()
			}
			if required != (it.Selector().ConstraintType() == cue.RequiredConstraint) {
				continue
			}
			said := strings.Join(strings.Fields(description(it.Value())), " ")
			if m := initially.FindStringSubmatch(said); m != nil {
				initial, said = m[1], strings.TrimSpace(initially.ReplaceAllString(said, "$2"))
			}
			if required {
				initial = "required"
			}
			words, inner, below := r.value(it.Value())
			fmt.Fprintf(r, "| `%s` | %s | %s | %s |\n", name, inCode(words), inCode(initial), inCode(said))
			r.fields(inner, name+below+".")
		}
	}
}

// inCode puts what stands in quotes in code, where it means nothing to Markdown.
func inCode(text string) string {
	return regexp.MustCompile(`"[^"]*"`).ReplaceAllString(strings.Join(strings.Fields(text), " "), "`$0`")
}

// value says what may stand in a field. If that holds an object with no section of its own,
// inner is the object, and below what leads to it.
func (r *reference) value(v cue.Value) (words string, inner cue.Value, below string) {
	shape := schemaOf(v)
	_, name := v.ReferencePath()
	switch {
	case shape.says("constraint") == "report":
		return "CUE that describes fields", inner, ""
	case shape.says("constraint") != "":
		return "CUE about " + r.link(map[string]string{"when": "#Facts", "skip": "#Before"}[shape.says("constraint")]), inner, ""
	case name.String() != "" && shape.kind&cue.StructKind != 0 && len(shape.patterns) == 0:
		return strings.TrimPrefix(shape.says("expect")+": ", ": ") + r.link(name.String()), inner, ""
	case shape.says("expect") != "":
		return shape.says("expect"), inner, ""
	case shape.Items != nil:
		words, inner, below = r.value(shape.Items.value)
		return "list: " + words, inner, "[]" + below
	case shape.kind&(cue.StructKind|cue.ListKind) != 0 && shape.alternatives != nil:
		var all []string
		for _, a := range shape.alternatives {
			words, inner, below = r.value(a.value)
			all = append(all, words)
		}
		return strings.Join(all, ", or "), inner, below
	case shape.kind == cue.StructKind:
		return "object", v, ""
	}
	return shape.words(), inner, ""
}

// link leads to the section of a definition, which is written if anything leads to it.
func (r *reference) link(definition string) string {
	name := strings.Replace(strings.TrimPrefix(definition, "#"), "Replacement", "Phase", 1) // the same but for what it must have
	if !slices.Contains(r.sections, "#"+name) {
		r.sections = append(r.sections, "#"+name)
	}
	return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
}
