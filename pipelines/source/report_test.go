package source

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// reportOf evaluates a pipeline whose one phase has that report, below some
// other text, and returns the phase.
func reportOf(t *testing.T, before, report string) pipelines.Phase {
	t.Helper()
	text := before + "\nphases: [{name: \"a\", goal: \"x\", report: " + report + "}]"
	p, err := evaluate(request{Files: []file{{Name: "a.cue", Text: text}}})
	if err != nil {
		t.Fatalf("%s: %v", report, err)
	}
	return p.Phases[0]
}

func TestReportSchema(t *testing.T) {
	const before = `
import ("list", "strings")
#Name:  strings.MinRunes(2)
#Some:  list.MinItems(1)
#Limit: 5
#Level: "low" | "high"
#File: {path: string, line?: int & >0}
_hidden: {z: int}
`
	object := func(properties, rest string) string {
		return `{"type": "object", "properties": {` + properties + `}` + rest + `, "additionalProperties": false}`
	}
	for report, want := range map[string]string{
		`{a: string}`:        object(`"a": {"type": "string"}`, `, "required": ["a"]`),
		`{a?: int}`:          object(`"a": {"type": "integer"}`, ``),
		`{a: *"x" | string}`: object(`"a": {"type": "string"}`, ``),
		`{a: #Level}`:        object(`"a": {"type": "string", "enum": ["low", "high"]}`, `, "required": ["a"]`),
		`{a: int & >=1 & <=#Limit}`: object(`"a": {"type": "integer", "minimum": 1, "maximum": 5}`,
			`, "required": ["a"]`),
		`{a: =~"^x", b: =~"(?i)x"}`: object(`"a": {"type": "string", "pattern": "^x"}, "b": {"type": "string"}`,
			`, "required": ["a", "b"]`),
		"{\n// How hard.\na: bool}": object(`"a": {"type": "boolean", "description": "How hard."}`, `, "required": ["a"]`),
		`{a: [...#Level] & #Some}`: object(`"a": {"type": "array", "items": {"type": "string", "enum": ["low", "high"]}}`,
			`, "required": ["a"]`),
		`{a: [...#File]}`: object(`"a": {"type": "array", "items": `+
			object(`"path": {"type": "string"}, "line": {"type": "integer"}`, `, "required": ["path"]`)+`}`, `, "required": ["a"]`),
		`{a: [string]: number}`: object(`"a": {"type": "object", "additionalProperties": {"type": "number"}}`, `, "required": ["a"]`),
		`{a: string | null}`:    object(`"a": {"anyOf": [{"type": "string"}, {"type": "null", "enum": [null]}]}`, `, "required": ["a"]`),
		`{a: {b: 1}}`:           object(`"a": `+object(`"b": {"type": "integer", "enum": [1]}`, `, "required": ["b"]`), `, "required": ["a"]`),
		`_hidden`:               object(`"z": {"type": "integer"}`, `, "required": ["z"]`),
		`{a: _, ...}`:           `{"type": "object", "properties": {"a": {}}, "required": ["a"]}`,
		`"a: int"`:              object(`"a": {"type": "integer"}`, `, "required": ["a"]`),
		`{a: #Name}`:            object(`"a": {"type": "string"}`, `, "required": ["a"]`),
	} {
		var got, wanted any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if err := json.Unmarshal(reportOf(t, before, report).ReportSchema, &got); err != nil {
			t.Fatalf("%s: %v", report, err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", report, diff)
		}
	}
}

func TestCheckReport(t *testing.T) {
	report := reportOf(t, `import "list"
#File: {path: =~"^[a-z]", line?: int & >0}`,
		`{risk: "low" | "high", files: [...#File] & list.MaxItems(2), note: *"" | string, n: int, m: n}`).Report
	for value, want := range map[string]string{
		`{"risk": "low", "files": [], "n": 1, "m": 1}`:                                            "",
		`{"risk": "low", "files": [{"path": "a", "line": 3}], "n": 1, "m": 1, "note": "x"}`:       "",
		`{"risk": "low", "files": [], "n": 1, "m": 2}`:                                            "m: conflicting values 1 and 2",
		`{"risk": "low", "files": [{"path": "a"}, {"path": "b"}, {"path": "c"}], "n": 1, "m": 1}`: `files: len(list) > MaxItems(2) (3 > 2)`,
		`{"risk": "hihg", "fils": [], "n": "1", "m": 1}`: "files: missing, expected a list\n" +
			"risk: got \"hihg\", expected one of \"low\", \"high\"; did you mean \"high\"?\n" +
			"fils: unknown field, did you mean \"files\"?\n" +
			"n: got \"1\", expected a whole number",
		`{"risk": "low", "files": [{"path": "A", "line": 0}, {}, 5], "n": 1.5, "m": 1}`: "files[0].path: got \"A\", expected text that matches ^[a-z]\n" +
			"files[0].line: got 0, expected a whole number\n" +
			"files[1].path: missing, expected text that matches ^[a-z]\n" +
			"files[2]: got 5, expected an object\n" +
			"n: got 1.5, expected a whole number",
		`[]`:       "got a list, expected an object",
		`null`:     "got null, expected an object",
		`{"risk":`: "not valid JSON",
		``:         "not valid JSON",
	} {
		got := said(Evaluator{}.CheckReport(t.Context(), report, []byte(value)))
		if got != want {
			t.Errorf("%s:\ngot:  %s\nwant: %s", value, got, want)
		}
	}
	for _, value := range []string{`{"risk": 1}`, `{"risk": "low", "files": [], "n": 1, "m": 1}`} {
		here := said(Evaluator{}.CheckReport(t.Context(), report, []byte(value)))
		if got := said(child(t).CheckReport(t.Context(), report, []byte(value))); got != here {
			t.Errorf("%s:\nin a child: %s\nhere:       %s", value, got, here)
		}
	}
}

// Of alternatives that are objects, the one that fits counts.
func TestReportAlternatives(t *testing.T) {
	const report = `x: [...{kind: "a", n: int} | {kind: "b", m: int}]`
	for value, want := range map[string]string{
		`{"x": [{"kind": "b", "m": 2}, {"kind": "a", "n": 1}]}`: "",
		`{"x": [{"kind": "a", "n": "1"}]}`:                      `x[0].n: got "1", expected a whole number`,
	} {
		if got := said(checkReport(report, []byte(value))); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

// said is what an error says; nothing if there is none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMatches(t *testing.T) {
	facts := `{"report": {"risk": "high", "files": ["a"]}, "diff": {"files": 1, "lines": 9, "added": 9, "deleted": 0},
		"verdict": "pass", "checks": {"unit": "pass"}, "attempt": 3, "cost": {"usd": 1.0, "tokens": 2000},
		"issue": {"labels": ["bug", "ui"], "title": "Crash", "author": "a"}}`
	for when, want := range map[string]bool{
		`{}`:                           true,
		`report: risk: "high"`:         true,
		`report: risk: "low"`:          false,
		`report: nothing: "high"`:      false,
		`diff: lines: <10`:             true,
		`diff: lines: <9`:              false,
		`diff: {lines: <10, files: 2}`: false,
		`verdict: "pass" | "fail"`:     true,
		`checks: unit: "fail"`:         false,
		`attempt: >=3`:                 true,
		`cost: usd: >=1`:               true,
		`issue: title: =~"^C"`:         true,
		`issue: labels: ["bug"]`:       false,
		"import \"list\"\nissue: labels: list.MatchN(>0, \"bug\")":  true,
		"import \"list\"\nissue: labels: list.MatchN(>0, \"docs\")": false,
	} {
		got, err := Evaluator{}.Matches(t.Context(), when, []byte(facts))
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", when, got, err, want)
		}
	}
	if _, err := (Evaluator{}).Matches(t.Context(), "a: {", []byte(facts)); err == nil {
		t.Error("a rule that is no CUE: no error")
	}
	if _, err := child(t).Matches(t.Context(), "a: 1", []byte("{")); err == nil {
		t.Error("facts that are no JSON: no error")
	}
	if got, err := child(t).Matches(t.Context(), "diff: lines: <10", []byte(facts)); err != nil || !got {
		t.Errorf("in a child: got %v, %v", got, err)
	}
}

// TestBuiltinReports has every built-in report take a value that was made
// from nothing but its JSON Schema: the two have to mean the same.
func TestBuiltinReports(t *testing.T) {
	for _, name := range builtin.Names() {
		for _, ph := range load(t, name).Phases {
			var s map[string]any
			testenv.Must(t, json.Unmarshal(ph.ReportSchema, &s))
			value, err := json.Marshal(example(s))
			testenv.Must(t, err)
			if err := (Evaluator{}).CheckReport(t.Context(), ph.Report, value); err != nil {
				t.Errorf("%s %s: %s:\n%v", name, ph.Name, value, err)
			}
			if err := (Evaluator{}).CheckReport(t.Context(), ph.Report, []byte("{}")); err == nil {
				t.Errorf("%s %s: takes an empty report", name, ph.Name)
			}
		}
	}
}

// example makes a value that a schema allows.
func example(s map[string]any) any {
	if enum, ok := s["enum"].([]any); ok {
		return enum[0]
	}
	switch s["type"] {
	case "object":
		out := map[string]any{}
		for name, p := range s["properties"].(map[string]any) {
			out[name] = example(p.(map[string]any))
		}
		return out
	case "array":
		return []any{example(s["items"].(map[string]any))}
	case "string":
		return "text"
	case "boolean":
		return true
	default:
		return 1
	}
}
