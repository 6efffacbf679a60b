package source

import (
	"encoding/json"
	"testing"
)

func TestOf(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","required":["a","d"],"properties":{"a":{"type":"string","pattern":"^(low|medium|high)$"},"b":{"type":"string"},"d":{"type":"array","items":{"type":"string"}}}}`: `{"a":"low","d":[]}`,
		`{"type":"string"}`:                                        `"rehearsal"`,
		`{"type":"string","minLength":12}`:                         `"rehearsalxxx"`,
		`{"type":"string","pattern":"^[A-Z]{2}-\\d+$"}`:            `"AA-0"`,
		`{"type":"string","pattern":"^.+@(a|b)\\.(com)?$"}`:        `"x@a."`,
		`{"type":"array","minItems":2,"items":{"enum":["x","y"]}}`: `["x","x"]`,
		`{"type":"integer","minimum":3}`:                           `3`,
		`{"type":"integer","maximum":-2}`:                          `-2`,
		`{"type":"number","exclusiveMinimum":1}`:                   `2`,
		`{"type":"integer","minimum":-5,"maximum":-3}`:             `-3`,
		`{"type":["null","boolean"]}`:                              `false`,
		`{"const":{"k":1}}`:                                        `{"k":1}`,
		`{"anyOf":[{"type":"null"},{"type":"string"}]}`:            `null`,
		`{"properties":{"a":{"type":"null"}},"required":["a"]}`:    `{"a":null}`,
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
