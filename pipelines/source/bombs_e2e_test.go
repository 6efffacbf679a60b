//go:build e2e

package source

import (
	"strings"
	"testing"
)

// Every bomb that only the limits end, with the limits as they are.
func TestSlowBombs(t *testing.T) { refuse(t, child(t), slowBombs()) }

// slowBombs are what only the limits on time and memory end.
func slowBombs() []bombFile {
	return []bombFile{
		{"dots.toml", strings.Repeat("a.", 100_000) + "a = 1\n", "simplify"},
		{"tables.toml", "[" + strings.Repeat("a.", 100_000) + "a]\nx = 1\n", "simplify"},
		{"lists.toml", "x = " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "\n", "simplify"},
		{"objects.toml", "x = " + strings.Repeat("{a=", 50_000) + "1" + strings.Repeat("}", 50_000) + "\n", "simplify"},
		{"wide.json", `{"phases": [` + strings.Repeat(`{},`, 60_000) + `{}]}`, "simplify"},
		{"sums.cue", "x: 1" + strings.Repeat("+1", 100_000), "simplify"},
		{"names.cue", "x: y" + strings.Repeat(".a", 100_000), "simplify"},
		{"fields.cue", strings.Repeat("a: ", 80_000) + "1", "simplify"},
		{"report.cue", `phases: [{name: "a", goal: "x", report: {` + doubling(`{x: 1} | {y: 1} | {z: 1}`,
			`_a%d: _a%[2]d & ({x%[1]d: 1} | {y%[1]d: 1} | {z%[1]d: 1})`, 16) + "v: _a16}}]", "simplify"},
	}
}
