package source

import (
	"strings"
	"testing"
)

// All mistakes of a skip_if are told at once, each at its place.
func TestSkipIfMistakes(t *testing.T) {
	const text = `
phases: [
	{name: "plan", goal: "x", report: risk: "low" | "high"},
	{name: "docs", goal: "x", skip_if: when: {phases: plan: report: risky: "low", phases: later: status: "skipped", isue: title: "x"}},
	{name: "later", goal: "x", skip_if: when: tree: {"/etc/**": false, "a/**": "no"}},
	{name: "none", goal: "x", skip_if: {}},
	{name: "late", goal: "x", skip_if: run: "true"},
]`
	_, err := evaluate([]file{{Name: "mine.cue", Text: text}}, nil)
	for _, want := range []string{
		`phases[1].skip_if.when.phases.plan.report.risky: unknown field, did you mean "risk"?; see the report of "plan"`,
		`phases[1].skip_if.when.phases.later: no phase "later" before "docs", expected one of plan`,
		`phases[1].skip_if.when.isue: unknown field, did you mean "issue"?`,
		`phases[2].skip_if.when.tree["/etc/**"]: "/etc/**" expected a path from the top of the repository`,
		`phases[2].skip_if.when.tree["a/**"]: can never be: got "no", expected true or false`,
		`phases[3].skip_if.when: missing`,
		`phases[4].skip_if.run: unknown field, expected one of when`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
}

// What a condition asks of a list, as that one label is among them, can be asked.
func TestConditionsOnLists(t *testing.T) {
	resolve(t, `
import "list"
phases: [{name: "plan", goal: "x"}, {name: "docs", goal: "x", skip_if: when: issue: labels: list.MatchN(>0, "docs")}]
rules: [{after: "plan", when: issue: labels: list.MatchN(>0, "bug"), then: approve: "admin"}]
`)
}
