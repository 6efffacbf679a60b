package source

import (
	"encoding/json"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
)

// TestQuiet has reports that nobody meant, rules that see them, and what has to
// become of the reports so that no rule fires by chance.
func TestQuiet(t *testing.T) {
	const drop, approve = `drop: ["b"]`, `approve: "write"`
	type rule struct{ report, then string }
	for name, tt := range map[string]struct {
		report, value string
		rules         []rule
		want          string
	}{
		"nothing fires":       {`{risk: "low" | "high"}`, `{"risk":"low"}`, []rule{{`risk: "high"`, drop}}, `{"risk":"low"}`},
		"the next word":       {`{risk: "low" | "high"}`, `{"risk":"low"}`, []rule{{`risk: "low"`, drop}}, `{"risk":"high"}`},
		"all words":           {`{risk: "low" | "high"}`, `{"risk":"low"}`, []rule{{`risk: "low"`, drop}, {`risk: "high"`, drop}}, `{"risk":"low"}`},
		"the lesser evil":     {`{risk: "low" | "high"}`, `{"risk":"low"}`, []rule{{`risk: "low"`, drop}, {`risk: "high"`, approve}}, `{"risk":"high"}`},
		"not to fire at all":  {`{risk: "low" | "high" | "none"}`, `{"risk":"low"}`, []rule{{`risk: "low"`, approve}, {`risk: "high"`, approve}}, `{"risk":"none"}`},
		"between two numbers": {`{size: int}`, `{"size":0}`, []rule{{`size: <50`, drop}, {`size: >52`, drop}}, `{"size":50}`},
		"within bounds":       {`{size: int & >=0 & <=7}`, `{"size":0}`, []rule{{`size: <5`, drop}}, `{"size":5}`},
		"no whole number":     {`{size: number}`, `{"size":0}`, []rule{{`size: <=5`, drop}, {`size: >=6`, drop}}, `{"size":5.5}`},
		"true":                {`{ok: bool}`, `{"ok":false}`, []rule{{`ok: false`, drop}}, `{"ok":true}`},
		"a text":              {`{why: string}`, `{"why":"rehearsal"}`, []rule{{`why: !="x"`, drop}}, `{"why":"x"}`},
		"a pattern":           {`{why: string}`, `{"why":"rehearsal"}`, []rule{{`why: =~"."`, drop}}, `{"why":""}`},
		"a list":              {`{files: [...{path: string}]}`, `{"files":[]}`, []rule{{`files: []`, drop}}, `{"files":[{"path":"rehearsal"}]}`},
		"far down":            {`{in: {n: int, ok: bool}}`, `{"in":{"n":0,"ok":false}}`, []rule{{`in: n: 0`, drop}}, `{"in":{"n":1,"ok":false}}`},
		"one change for two":  {`{a: bool, b: bool}`, `{"a":false,"b":false}`, []rule{{`{a: false, b: false}`, drop}, {`{a: true}`, drop}}, `{"a":false,"b":true}`},
		"two changes":         {`{a: bool, b: bool, c: bool}`, `{"a":false,"b":false,"c":false}`, []rule{{`a: false`, drop}, {`c: false`, drop}}, `{"a":true,"b":false,"c":true}`},
		"left out":            {`{risk: "low" | "high", note?: string}`, `{"risk":"high"}`, []rule{{`note: string`, drop}}, `{"risk":"high"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pipelines.Pipeline{Phases: []pipelines.Phase{{Name: "a", Report: tt.report}}}
			for _, r := range tt.rules {
				full := "phases: [{name: \"a\", goal: \"x\", report: " + tt.report + "}, {name: \"b\", goal: \"x\"}]\nrules: [{after: \"a\", when: report: {" + r.report + "}, then: {" + r.then + "}}]"
				p.Rules = append(p.Rules, resolve(t, full).Rules...)
			}
			got, err := child(t).Quiet(t.Context(), p, "a", json.RawMessage(tt.value))
			if err != nil || string(got) != tt.want {
				t.Errorf("%s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

// A phase without rules or a report asks nobody.
func TestQuietWithoutRules(t *testing.T) {
	e := Evaluator{Argv: []string{"/nowhere/reprise"}}
	for _, p := range []*pipelines.Pipeline{
		{Phases: []pipelines.Phase{{Name: "a", Report: "n: int"}}, Rules: []pipelines.Rule{{After: "b", When: "report: n: 0"}}},
		{Phases: []pipelines.Phase{{Name: "a"}}, Rules: []pipelines.Rule{{After: "a", When: "{}"}}},
	} {
		if got, err := e.Quiet(t.Context(), p, "a", json.RawMessage(`{"n":0}`)); err != nil || string(got) != `{"n":0}` {
			t.Errorf("%s, %v", got, err)
		}
	}
}
