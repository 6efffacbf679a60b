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
	{name: "later", goal: "x", skip_if: {run: "true", when: cost: usd: >1, env: PATH: "x"}},
	{name: "none", goal: "x", skip_if: {}},
	{name: "late", goal: "x", skip_if: {when: cost: usd: >1, timeout: "3m"}},
]`
	_, _, err := evaluate([]file{{Name: "mine.cue", Text: text}}, nil)
	for _, want := range []string{
		`phases[1].skip_if.when.phases.plan.report.risky: "plan" has no such field in its report, did you mean "risk"?`,
		`phases[1].skip_if.when.phases.later: no phase "later" before "docs", expected one of plan`,
		`phases[1].skip_if.when.isue: unknown field, did you mean "issue"?`,
		`phases[2].skip_if: expected one of when and run`,
		`phases[2].skip_if.env: PATH: it is that of reprise`,
		`phases[3].skip_if: expected one of when and run`,
		`phases[4].skip_if.when: is no command; timeout and env go with run`,
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
