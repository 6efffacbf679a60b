package pipelines

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What a pipeline says is frozen as what differs from the usual, and read again as the same.
func TestRule(t *testing.T) {
	for said, frozen := range map[string]string{
		`{}`: `{}`,
		`{"wait": "1h", "fixes": 0, "required": "all"}`: `{"wait":"1h0m0s","fixes":0}`,
		`{"required": ["ci.yml", "lint"]}`:              `{"required":["ci.yml","lint"]}`,
		`{"required": []}`:                              `{"required":[]}`,
	} {
		var rule, again CI
		if err := json.Unmarshal([]byte(said), &rule); err != nil {
			t.Fatal(said, err)
		}
		data, err := json.Marshal(rule)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &again); err != nil || !reflect.DeepEqual(again, rule) || string(data) != frozen {
			t.Errorf("%s: it is frozen as %s, and read again it is %+v (%v)", said, data, again, err)
		}
	}
}
