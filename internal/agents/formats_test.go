package agents

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
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
	// The schema of stubs is itself the document: it has what they are read by.
	var inSchema []string
	for _, m := range regexp.MustCompile(`(?m)^\s+([a-z_]+)[?!]:`).FindAllStringSubmatch(stubsSchema, -1) {
		inSchema = append(inSchema, m[1])
	}
	if got, want := strings.Join(inSchema, " "), strings.Join(leaves(jsonNames(reflect.TypeFor[stub](), "")), " "); got != want {
		t.Errorf("stubs.cue has the fields\n%s\nand a stub\n%s", got, want)
	}
	// And the page's example is one.
	_, example, _ := strings.Cut(page, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	file := t.TempDir() + "/stubs.yaml"
	if err := os.WriteFile(file, []byte(example), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadStubs(file); err != nil || len(s.calls) != 5 {
		t.Errorf("the example: %v, %v", s, err)
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

// leaves puts the names within others behind the name of what they are in.
func leaves(names []string) (out []string) {
	seen := ""
	for _, n := range names {
		parent, leaf, inner := strings.Cut(n, ".")
		if inner && parent != seen {
			out = append(out, parent)
			seen = parent
		}
		if !inner {
			leaf = parent
		}
		out = append(out, leaf)
	}
	return out
}
