package agents

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The strict form of a schema and back again give an answer that fits the
// schema that was asked for.
func TestStrictSchema(t *testing.T) {
	const schema = `{"type":"object","description":"d","required":["a"],"title":"T","properties":{
		"a":{"type":"string","pattern":"^x$","minLength":1},
		"b":{"type":"integer","minimum":1},
		"c":{"type":["string","null"]},
		"d":{"type":"array","items":{"type":"object","required":[],"properties":{"e":{"enum":["x"]}}}},
		"f":{"oneOf":[{"type":"string"},{"type":"object","properties":{"g":{"type":"boolean"}},"required":["g"],"additionalProperties":{"type":"string"}}]}}}`
	const want = `{"additionalProperties":false,"description":"d","properties":{
		"a":{"pattern":"^x$","type":"string"},
		"b":{"anyOf":[{"minimum":1,"type":"integer"},{"type":"null"}]},
		"c":{"type":["string","null"]},
		"d":{"anyOf":[{"items":{"additionalProperties":false,"properties":{"e":{"anyOf":[{"enum":["x"]},{"type":"null"}]}},"required":["e"],"type":"object"},"type":"array"},{"type":"null"}]},
		"f":{"anyOf":[{"anyOf":[{"type":"string"},{"additionalProperties":false,"properties":{"g":{"type":"boolean"}},"required":["g"],"type":"object"}]},{"type":"null"}]}},
		"required":["a","b","c","d","f"],"type":"object"}`
	strict, ok, err := strictSchema(json.RawMessage(schema))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var got, wanted any
	if json.Unmarshal(strict, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
		t.Fatalf("no JSON: %s", strict)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("strict form (-want +got):\n%s", diff)
	}
	for answer, want := range map[string]string{
		`{"a":"x","b":null,"c":null,"d":[{"e":null},{"e":"x"}],"f":null}`: `{"a":"x","c":null,"d":[{},{"e":"x"}]}`,
		`{"a":null,"z":null}`: `{"a":null,"z":null}`, // wrong stays wrong, for whoever checks it
		`[1]`:                 `[1]`,
	} {
		if got := relaxAnswer(json.RawMessage(schema), json.RawMessage(answer)); string(got) != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
	if _, ok, err := strictSchema(json.RawMessage(`{"type":"array"}`)); ok || err != nil {
		t.Errorf("a list: %v, %v; want no strict form and no error", ok, err)
	}
	if _, _, err := strictSchema(json.RawMessage(`[`)); err == nil {
		t.Error("no error for what is no schema")
	}
}
