package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMisses(t *testing.T) {
	const facts = `{"status": "failed", "files": {"a.go": {"added": 3}}, "cost": {"usd": 2.5}, "names": ["x", "y"], "said": "a\u001bb"}`
	for _, tt := range []struct{ text, want string }{
		{`{}`, ""},
		{`{status: "failed", files: "a.go": _, cost: usd: <3}`, ""},
		{`{status: "failed" | "waiting"}`, ""},
		{`{status: "success", cost: usd: <2}`, "cost.usd: got 2.5, expected <2\nstatus: got \"failed\", expected \"success\""},
		{`{files: "b.go": {...}}`, `files["b.go"]: there is none, expected {}`},
		{`{files: "a.go": added: >5}`, `files["a.go"].added: got 3, expected >5`},
		{"import \"list\"\n{names: list.MatchN(1, \"z\")}", `names: got ["x", "y"], expected list.MatchN(1, "z")`},
		{`{said: "c"}`, `said: got "a\u001bb", expected "c"`},
	} {
		got, err := unmet(tt.text, []byte(facts))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
	if _, err := unmet(`{a: 1 & 2}`, []byte(facts)); err == nil {
		t.Error("what cannot be is no mistake")
	}
}
