package githubtest

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	cuejson "cuelang.org/go/encoding/json"
	"cuelang.org/go/encoding/jsonschema"
)

// schemas are GitHub's own descriptions of its answers.
type schemas struct{ all cue.Value }

func readSchemas(t *testing.T) schemas {
	t.Helper()
	data, err := os.ReadFile("testdata/api.github.com.json")
	if err != nil {
		t.Fatal(err)
	}
	expr, err := cuejson.Extract("api.github.com.json", data)
	if err != nil {
		t.Fatal(err)
	}
	ctx := cuecontext.New()
	file, err := jsonschema.Extract(ctx.BuildExpr(expr), &jsonschema.Config{DefaultVersion: jsonschema.VersionOpenAPI, Root: "#/components/schemas/"})
	if err != nil {
		t.Fatal(err)
	}
	v := ctx.BuildFile(file)
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return schemas{v}
}

// check says in what an answer is not what GitHub describes: wrong, missing,
// or of a name that GitHub does not know.
func (s schemas) check(t *testing.T, name string, answer map[string]any) []string {
	t.Helper()
	schema := s.all.LookupPath(cue.MakePath(cue.Hid("_#defs", "_"), cue.Str("/components/schemas/"+name)))
	if !schema.Exists() {
		t.Fatalf("there is no schema %s", name)
	}
	known := map[string]bool{}
	fields, err := schema.Fields(cue.All())
	if err != nil {
		t.Fatal(err)
	}
	for fields.Next() {
		known[fields.Selector().Unquoted()] = true
	}
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(answer)) {
		if !known[key] {
			wrong = append(wrong, key+": unknown")
		}
	}
	data, err := json.Marshal(answer) // whole numbers stay whole that way
	if err != nil {
		t.Fatal(err)
	}
	expr, err := cuejson.Extract("answer", data)
	if err != nil {
		t.Fatal(err)
	}
	err = schema.Unify(cuecontext.New().BuildExpr(expr)).Validate(cue.Concrete(true))
	for _, e := range errors.Errors(err) {
		wrong = append(wrong, e.Error())
	}
	return wrong
}

// The answers are what GitHub itself says that they are.
func TestAnswersAreGitHubs(t *testing.T) {
	api := readSchemas(t)
	s := New(t)
	s.AddIssue("acme/widget", Issue{Number: 7, Title: "T", Body: "B", Labels: []string{"bug", "p: 1"}})
	s.AddIssue("acme/widget", Issue{Number: 8, Title: "T", State: "closed", Locked: true})
	s.AddIssue("acme/widget", Issue{Number: 9, Title: "T", Pull: true})
	s.Permit("acme/widget", "ada", "maintain")
	for path, name := range map[string]string{
		"/repos/acme/widget/issues/7":                      "issue",
		"/repos/acme/widget/issues/8":                      "issue",
		"/repos/acme/widget/issues/9":                      "issue",
		"/repos/acme/widget/issues/404":                    "basic-error",
		"/nothing":                                         "basic-error",
		"/repos/acme/widget/collaborators/ada/permission":  "repository-collaborator-permission",
		"/repos/acme/widget/collaborators/none/permission": "repository-collaborator-permission",
	} {
		_, answer := get(t, s, path, "")
		for _, wrong := range api.check(t, name, answer) {
			t.Errorf("%s: %s", path, wrong)
		}
	}
}

// What differs from GitHub is noticed.
func TestSchemasNotice(t *testing.T) {
	api := readSchemas(t)
	s := New(t)
	s.AddIssue("acme/widget", Issue{Number: 7, Title: "T"})
	for _, tt := range []struct {
		name   string
		change func(map[string]any)
		want   string
	}{
		{"missing", func(v map[string]any) { delete(v, "events_url") }, "events_url"},
		{"wrong", func(v map[string]any) { v["number"] = "7" }, "number"},
		{"unknown", func(v map[string]any) { v["titel"] = "T" }, "titel: unknown"},
		{"missing below", func(v map[string]any) { delete(v["user"].(map[string]any), "login") }, "user"},
	} {
		_, answer := get(t, s, "/repos/acme/widget/issues/7", "")
		tt.change(answer)
		if wrong := strings.Join(api.check(t, "issue", answer), "\n"); !strings.Contains(wrong, tt.want) {
			t.Errorf("%s: noticed %q", tt.name, wrong)
		}
	}
}
