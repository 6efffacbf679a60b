package source

import (
	"encoding/json"
	"testing"
)

// A sample fits the schema of its report.
func TestSample(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","required":["a","d"],"properties":{"a":{"type":"string","pattern":"^(low|medium|high)$"},"b":{"type":"string"},"d":{"type":"array","items":{"type":"string"}}}}`: `{"a":"low","d":[]}`,
		`{"type":"string"}`: `"rehearsal"`,
		`{"type":"string","pattern":"^.+@[a-z]+\\.(com)?$"}`: `"a@example.com"`,
		`{"type":"string","pattern":"^[A-Z]{2}-\\d+$"}`:      `"rehearsal"`,
		`{"type":"integer","minimum":3}`:                     `3`,
		`{"type":"integer","maximum":-2}`:                    `-2`,
		`{"anyOf":[{"type":"null"},{"type":"string"}]}`:      `null`,
	} {
		got, err := SampleOf(json.RawMessage(schema))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s (%v), want %s", schema, got, err, want)
		}
	}
	if _, err := SampleOf(json.RawMessage(`nonsense`)); err == nil {
		t.Error("no error for what is no schema")
	}
}
