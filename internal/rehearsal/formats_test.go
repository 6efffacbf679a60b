package rehearsal

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// The schema of stubs is itself the document of their format: it has what they are
// read by, and the page's example is one.
func TestFormatOfStubs(t *testing.T) {
	var inSchema, inStub []string
	for _, m := range regexp.MustCompile(`(?m)^\s+([a-z_]+)[?!]:`).FindAllStringSubmatch(stubsSchema, -1) {
		inSchema = append(inSchema, m[1])
	}
	var note func(of reflect.Type)
	note = func(of reflect.Type) {
		for f := range of.Fields() {
			inStub = append(inStub, f.Tag.Get("json"))
			if f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct {
				note(f.Type.Elem())
			}
		}
	}
	note(reflect.TypeFor[stub]())
	if got, want := strings.Join(inSchema, " "), strings.Join(inStub, " "); got != want {
		t.Errorf("stubs.cue has the fields\n%s\nand a stub\n%s", got, want)
	}
	page := testenv.Read(t, "../../docs/formats.md")
	_, example, _ := strings.Cut(page, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	file := t.TempDir() + "/stubs.yaml"
	testenv.Put(t, file, example)
	if s, err := ReadStubs(file); err != nil || len(s.calls) != 6 {
		t.Errorf("the example: %v, %v", s, err)
	}
}
