package metadata

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
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
	lists := maps.Clone(closedLists)
	maps.DeleteFunc(lists, func(name string, _ []string) bool { return name == strings.ToLower(name) }) // of no type
	if diff := cmp.Diff(declared(t), lists); diff != "" {
		t.Errorf("constants and the lists that are checked (-constants +lists):\n%s", diff)
	}
	defs := definitions()
	for name, list := range lists {
		var words []string
		for _, quoted := range regexp.MustCompile(`"\w+"`).FindAllString(defs[name], -1) {
			words = append(words, strings.Trim(quoted, `"`))
		}
		if diff := cmp.Diff(list, words); diff != "" {
			t.Errorf("#%s (-Go +CUE):\n%s", name, diff)
		}
	}
}

// definitions gives the text of each definition in the CUE schema, by name.
func definitions() map[string]string {
	defs := map[string]string{}
	for _, part := range strings.Split(SchemaCUE, "\n#")[1:] {
		name, body, _ := strings.Cut(part, ":")
		defs[name] = body
	}
	return defs
}

func TestSchemaHasTheFieldsOfTheTypes(t *testing.T) {
	defs := definitions()
	field := regexp.MustCompile(`(?m)^\t(\w+)(\??):`)
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
		want, got := map[string]string{}, map[string]string{}
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
			got[m[1]] = m[2]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("#%s (-Go +CUE):\n%s", typ.Name(), diff)
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
