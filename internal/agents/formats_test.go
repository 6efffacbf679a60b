package agents

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/phases/engine"
)

// TestFormatsAreDocumented holds the page about formats against the types that
// programs and files of people are read by.
func TestFormatsAreDocumented(t *testing.T) {
	data := testenv.Read(t, "../../docs/formats.md")
	_, text, _ := strings.Cut(data, "\n## The task of a program\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for _, name := range append(jsonNames(reflect.TypeFor[engine.Task](), ""), jsonNames(reflect.TypeFor[answer](), "")...) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
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
