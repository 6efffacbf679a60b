package agents

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/phases/engine"
)

// TestFormatsAreDocumented holds the page about formats against the types that
// programs and files of people are read by.
func TestFormatsAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, tt := range []struct {
		part string
		of   reflect.Type
	}{
		{"The task of a program", reflect.TypeFor[engine.Task]()},
		{"The task of a program", reflect.TypeFor[answer]()},
	} {
		_, text, _ := strings.Cut(page, "\n## "+tt.part+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		for _, name := range jsonNames(tt.of, "") {
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("%s: the page does not name %s", tt.part, name)
			}
		}
	}
}

// jsonNames lists the fields of a type as JSON has them, those within others
// after a dot, and each that has some before them.
func jsonNames(of reflect.Type, at string) (names []string) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && !inner.Implements(reflect.TypeFor[json.Marshaler]()) { // else it has a form of its own
			names = append(names, jsonNames(inner, at+name+".")...)
		} else {
			names = append(names, at+name)
		}
	}
	return names
}
