package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// from makes nodes of a JSON text, each in a line of its own.
func from(t *testing.T, file, text string) *node {
	t.Helper()
	var v any
	testenv.Must(t, json.Unmarshal([]byte(text), &v))
	line := 0
	var build func(v any, path string) *node
	build = func(v any, path string) *node {
		line++
		n := &node{place: place{file, line, 1}, Path: path}
		switch v := v.(type) {
		case []any:
			n.Kind = listNode
			for i, item := range v {
				n.Items = append(n.Items, build(item, fmt.Sprintf("%s[%d]", path, i)))
			}
		case map[string]any:
			n.Kind, n.Fields = objectNode, map[string]*node{}
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				n.Fields[name] = build(v[name], pipelines.JoinPath(path, name))
			}
		default:
			data, err := json.Marshal(v)
			testenv.Must(t, err)
			n.Scalar = data
		}
		return n
	}
	return build(v, "")
}

// A mistake is told at the deepest value there is on the way to it, and one in a pipeline
// that this one builds on where that is named.
func TestPlacesOfMistakes(t *testing.T) {
	base := from(t, "builtin:full", `{"phases": [{"name": "plan"}]}`)
	own := from(t, "own.yaml", `{"extends": "full", "rules": [{"after": "plan"}]}`)
	m := checker{main: own}
	m.Add(own, []any{"rules", 0, "then", "drop"}, "missing %s", "that")
	m.Add(base, []any{"phases", 0, "goal"}, "is wrong")
	want := []pipelines.Mistake{
		{File: "own.yaml", Line: 4, Column: 1, Path: "rules[0].then.drop", Message: "missing that"},
		{File: "own.yaml", Line: 2, Column: 1, Path: "extends", Message: "is wrong (builtin:full:3:1: phases[0].goal)"},
	}
	if !slices.Equal(m.Found, want) {
		t.Errorf("found %+v\nwant  %+v", m.Found, want)
	}
}

func jsonOf(t *testing.T, n *node) string {
	t.Helper()
	data, err := json.Marshal(n)
	testenv.Must(t, err)
	return string(data)
}

func TestOverlay(t *testing.T) {
	base := from(t, "builtin:full", `{"budget": {"usd": 1, "time": "1h"}, "phases": [{"name": "plan", "goal": "a"}, {"name": "code", "needs": ["plan"]}, {"name": "tell", "needs": ["code"]}], "rules": [{"after": "tell"}], "select": {}}`)
	over := from(t, "own.yaml", `{"extends": "full", "budget": {"usd": 2}, "replace": [{"name": "plan", "goal": "b"}], "drop": ["tell"], "insert": [{"after": "code", "phase": {"name": "look"}}]}`)
	before := jsonOf(t, base)
	var m checker
	got := jsonOf(t, m.overlay(over, base))
	want := `{"budget":{"time":"1h","usd":2},"extends":"full","phases":[{"goal":"b","name":"plan"},{"name":"code","needs":["plan"]},{"name":"look"}],"rules":[]}`
	if got != want || len(m.Found) > 0 {
		t.Errorf("%s\nwant %s\n%v", got, want, m.Found)
	}
	if after := jsonOf(t, base); after != before {
		t.Errorf("the pipeline below became %s", after)
	}
	m.overlay(from(t, "own.yaml", `{"extends": "full", "drop": ["plna"]}`), base)
	if len(m.Found) != 1 || m.Found[0].Message != `no phase "plna" in "full", did you mean "plan"?` {
		t.Errorf("found %v", m.Found)
	}
}

func TestComplete(t *testing.T) {
	n := from(t, ".github/reprise/pipelines/fix.yaml", `{"phases": [{"name": "plan", "report": "a: string"}]}`)
	n.Get("phases").item(0).Get("report").Schema = json.RawMessage(`{"type":"object"}`)
	d, err := complete(n, false)
	if err != nil || d.Name != "fix" || string(d.Phases[0].ReportSchema) != `{"type":"object"}` {
		t.Errorf("%+v (%v)", d, err)
	}
}
