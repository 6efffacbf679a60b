package source

import "testing"

// TestPlain has texts that a pipeline of anybody may have: only those that compute nothing are evaluated
// without a process of their own.
func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		`{risk: "low" | "high", files: [...string], line?: int, note: =~"^x", deep: {a: bool}, ...}`: true,
		"// How hard.\nrisk: \"high\"\n":          true,
		`phases: plan: report: {size: >=3 & <=5}`: true,
		`a: 1, a: 2`:                           false,
		`a: (1 | 2) & (2 | 3)`:                 false,
		`{a: 1} , {b: 2}`:                      false,
		`a: "x" * 1000000`:                     false,
		`a: int, b: a`:                         false,
		`a: [for x in [1, 2] {x}]`:             false,
		`[string]: 1`:                          false,
		`a: "\(1)"`:                            false,
		`a: 1e999999999`:                       false,
		`import "list"` + "\na: list.Max([1])": false,
		`let x = 1, a: x`:                      false,
		`int: {a: 1}, b: {c: int, d: int}`:     false,
		`a: X=int`:                             false,
		`a:`:                                   false,
	} {
		if got := (request{When: &against{Text: text}}).plain(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if (request{}).plain() {
		t.Error("a pipeline is a program")
	}
}
