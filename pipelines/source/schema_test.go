package source

import (
	"encoding/json"
	"testing"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func of(t *testing.T, text string) cue.Value {
	t.Helper()
	v := NewContext().CompileString(text)
	testenv.Must(t, v.Err())
	return v.LookupPath(cue.ParsePath("#x"))
}

func TestFields(t *testing.T) {
	s := schemaOf(of(t, `#x: {name: string, goal?: string @also(aim), {[=~"^x-"]: int}}`))
	if len(s.Required) != 1 || s.Required[0] != "name" {
		t.Errorf("required: %q", s.Required)
	}
	for name, want := range map[string]string{"name": "text", "x-1": "a whole number"} {
		if f := s.field(name); f == nil || f.words() != want {
			t.Errorf("%s: %v, want %q", name, f, want)
		}
	}
	if f := s.field("nmae"); f != nil {
		t.Errorf("there is a field nmae: %s", f.words())
	}
	closed := schemaOf(of(t, `#x: {name: string, goal?: string @also(aim)}`))
	for name, want := range map[string]string{"nmae": `unknown field, did you mean "name"?`, "aim": `unknown field, did you mean "goal"?`} {
		if got := closed.unknown(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestQuotedTypes(t *testing.T) {
	for report, want := range map[string]string{
		`{"properties": {"risk": {"enum": ["string"]}}}`:                               "risk string",
		`{"properties": {"all": {"items": {"properties": {"n": {"enum": ["int"]}}}}}}`: "all[].n int",
		`{"properties": {"risk": {"enum": ["low"]}}}`:                                  " ",
		`null`: " ",
	} {
		var s schema
		testenv.Must(t, json.Unmarshal([]byte(report), &s))
		if field, word := s.quotedType(""); field+" "+word != want {
			t.Errorf("%s: %s %s, want %s", report, field, word, want)
		}
	}
}
