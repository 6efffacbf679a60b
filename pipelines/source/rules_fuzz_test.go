package source

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
)

// FuzzRules holds anything that an agent may report against rules and reports
// as people write them. There is an answer or a list of mistakes, and a broken
// value neither fits nor matches.
func FuzzRules(f *testing.F) {
	whens := []string{"report: n: <10", `{diff: lines: <10, verdict: "pass"}`, `report: {names: [...string], "x-y"?: int}`, `report: why: =~"^(a+)+$"`, `report: n: >=1 & <=3 | *7`, "report: [string]: {open: bool}"}
	reports := []string{"n: int", `n: >0 & <10 | *1, why?: string`, `names: [...=~"^[a-z]+$"]`, "task: {id: string, needs: [...string]}", `kind: "a" | "b"`, "x: _", "a: number, b: a + 1"}
	for _, value := range []string{
		`{"report": {"n": 3}}`, `{"n": 3, "why": "aaaa!"}`, `{"names": ["a", 1]}`, `{"task": {"id": "t", "needs": []}}`, `{"kind": "c", "kind": "a"}`, `{"x": [[[null]]]}`, `{"a": 1, "b": 2}`,
		`{"n": 1e999999999}`, `{"report": {"n": -0.0}}`, `{"report": {"n": 1e-99999}}`, `null`, `[]`, `"\ud800"`, "{\"a\":\"\xff\"}", `{"#Report": 1}`, `{"": 1, "_x": 2, "a b": 3, "$": 4}`, `{"n": 9007199254740993}`, `{"diff": {"lines": 3}, "verdict": "pass"}`,
	} {
		for i := range uint8(7) {
			f.Add(i, []byte(value))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, value []byte) {
		if len(value) > 2000 {
			return
		}
		rep := &against{reports[int(which)%len(reports)], value}
		err := Evaluator{}.CheckReport(t.Context(), rep.Text, rep.Value)
		var mistakes pipelines.Mistakes
		switch {
		case err == nil:
			if !json.Valid(value) {
				t.Errorf("%q fits %q", value, rep.Text)
			}
		case !errors.As(err, &mistakes):
			t.Errorf("not a mistake of the report: %v", err)
		}
		for _, m := range mistakes {
			if m.Message == "" || strings.Contains(m.Error(), "\n") || len(m.Error()) > 3*pipelines.MostMistakeBytes {
				t.Errorf("bad mistake %#v", m)
			}
		}
		ok, err := Evaluator{}.Matches(t.Context(), whens[int(which)%len(whens)], value)
		if ok && (err != nil || !json.Valid(value)) {
			t.Errorf("%q matches: %v", value, err)
		}
	})
}
