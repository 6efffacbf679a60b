package pipelines

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestCI(t *testing.T) {
	for _, tt := range []struct{ said, frozen string }{
		{"", "{}"},
		{`ci: {}`, "{}"},
		{`ci: {wait: "1h", fixes: 0, required: "all"}`, `{"wait":"1h0m0s","fixes":0}`},
		{`ci: required: ["ci.yml", "lint"]`, `{"required":["ci.yml","lint"]}`},
		{`ci: required: []`, `{"required":[]}`},
	} {
		rule := resolve(t, `phases: [{name: "a", goal: "x"}]`+"\n"+tt.said).CI
		data, err := json.Marshal(rule)
		if err != nil {
			t.Fatal(err)
		}
		var again CI
		if err := json.Unmarshal(data, &again); err != nil || !reflect.DeepEqual(again, rule) || string(data) != tt.frozen {
			t.Errorf("%s: it is frozen as %s, and read again it is %+v (%v)", tt.said, data, again, err)
		}
	}
}
