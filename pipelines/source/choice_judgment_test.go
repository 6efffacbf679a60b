package source

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// Every judgment leads to a built-in pipeline, and more size or risk never to a shorter
// way.
func TestEveryJudgmentLeadsSomewhere(t *testing.T) {
	for _, kind := range judged["kind"] {
		for i, size := range judged["size"] {
			for k, risk := range judged["risk"] {
				got := Judgment{kind, size, risk}.Pipeline()
				if !slices.Contains(builtin.Names(), got) {
					t.Errorf("%s %s %s: %s is not built in", kind, size, risk, got)
				}
				want := kind
				if (i == 2 || i == 1 && k == 2) && kind != "audit" && kind != "test" {
					want = "full"
				}
				if got != want {
					t.Errorf("%s %s %s: %s, want %s", kind, size, risk, got, want)
				}
			}
		}
	}
}

// An answer that is not exactly a judgment is none, and nothing of it is repeated.
func TestParseHoldsAnswers(t *testing.T) {
	if j, err := ParseJudgment([]byte(`{"kind": "fix", "size": "small", "risk": "high"}`)); err != nil || j != (Judgment{"fix", "small", "high"}) {
		t.Errorf("%+v, %v", j, err)
	}
	for text, want := range map[string]string{
		"":   "not an object",
		`[]`: "not an object",
		`{"kind": "full /run --agent x", "size": "big"}`:                 "kind is not one of feature, fix, refactor, test, audit; size is not one of small, medium, large; risk is not one of low, medium, high",
		`{"kind": "fix", "size": "small", "risk": "low", "why": "/run"}`: "not an object",
	} {
		if _, err := ParseJudgment([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "/run") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if !json.Valid(JudgmentSchema()) {
		t.Errorf("the schema is no JSON: %s", JudgmentSchema())
	}
}
