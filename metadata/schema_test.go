package metadata

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// declared gives the words of each type of constants in this package's source.
func declared(t *testing.T) map[string][]string {
	words := map[string][]string{}
	for _, name := range []string{"run.go", "verdict.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				kind, ok := value.Type.(*ast.Ident)
				if !ok {
					continue
				}
				word, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				words[kind.Name] = append(words[kind.Name], word)
			}
		}
	}
	return words
}

func TestWordsAreComplete(t *testing.T) {
	for name, words := range declared(t) {
		if diff := cmp.Diff(words, wordsOf(name)); diff != "" {
			t.Errorf("#%s (-Go +CUE):\n%s", name, diff)
		}
	}
}

// structs gives the text of each definition of an object in the CUE schema, by name.
func structs() map[string]string {
	defs := map[string]string{}
	for _, part := range strings.Split(SchemaCUE, "\n#")[1:] {
		name, body, _ := strings.Cut(part, ":")
		defs[name] = body
	}
	return defs
}

func TestSchemaHasTheFieldsOfTheTypes(t *testing.T) {
	defs := structs()
	field := regexp.MustCompile(`(?m)^\t(\w+)(\??): *(.*)$`)
	seen := map[reflect.Type]bool{}
	var visit func(typ reflect.Type)
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(typ.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[typ] || typ == reflect.TypeFor[time.Time]() {
			return
		}
		seen[typ] = true
		want, got, forms := map[string]string{}, map[string]string{}, map[string]string{}
		for i := range typ.NumField() {
			f := typ.Field(i)
			visit(f.Type)
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			if name == "" || !wellOmitted(f.Type.Kind(), option) {
				t.Errorf("%s.%s has the tag %q", typ.Name(), f.Name, f.Tag)
			}
			want[name] = ""
			if option != "" {
				want[name] = "?"
			}
		}
		for _, m := range field.FindAllStringSubmatch(defs[typ.Name()], -1) {
			got[m[1]], forms[m[1]] = m[2], m[3]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("#%s (-Go +CUE):\n%s", typ.Name(), diff)
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			for word := range strings.SplitSeq(f.Tag.Get("check"), ",") {
				form, known := map[string]string{"file": "#Path", "phase": "#ID", "": "", "-": "", "text": "", "optional": "", "attempt": "", "new": ""}[word]
				if _, is := definitions()[word]; !known {
					form, known = "#"+word, is
				}
				if !known || name != "-" && !strings.Contains(forms[name], form) {
					t.Errorf("%s.%s is %q, and in the schema %s", typ.Name(), name, word, forms[name])
				}
			}
		}
	}
	visit(reflect.TypeFor[Run]())
}

// wellOmitted reports whether an option leaves a field out exactly when it is
// its zero value: in a number or a bool, omitempty would never do so.
func wellOmitted(kind reflect.Kind, option string) bool {
	switch kind {
	case reflect.Int, reflect.Int64, reflect.Float64, reflect.Bool:
		return option != "omitempty"
	}
	return option == "" || option == "omitempty" || option == "omitzero"
}
