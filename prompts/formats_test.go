package prompts

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestFieldsAreDocumented holds the page about templates against what templates
// see: every field and function is named there, and no other field.
func TestFieldsAreDocumented(t *testing.T) {
	data := testenv.Read(t, "../docs/formats.md")
	_, text, _ := strings.Cut(data, "\n## Prompt templates\n")
	text, _, ok := strings.Cut(text, "\n## ")
	if !ok {
		t.Fatal("the page has no part about templates")
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	known := map[string]bool{}
	fieldsOf(reflect.TypeFor[view](), "", known)
	for field := range known {
		if !named[field] {
			t.Errorf("the page does not name the field %s", field)
		}
	}
	for name := range named {
		if strings.HasPrefix(name, ".") && name != ".github/reprise/prompts/" && !known[name] {
			t.Errorf("the page names %s, which is no field", name)
		}
	}
	for name := range functions() {
		if !named[name] {
			t.Errorf("the page does not name the function %s", name)
		}
	}
}

// fieldsOf notes the fields of a type as a template names them, and as
// optional what may be missing.
func fieldsOf(of reflect.Type, at string, known map[string]bool) {
	for f := range of.Fields() {
		name, inner := at+"."+f.Name, f.Type
		if f.Anonymous {
			fieldsOf(inner, at, known)
			continue
		}
		switch {
		case inner.Kind() == reflect.Pointer:
			known[name] = true
			inner = inner.Elem()
		case inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct:
			name, inner = name+"[]", inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			fieldsOf(inner, name, known)
		} else {
			known[name] = true
		}
	}
}
