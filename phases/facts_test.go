package phases

import (
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

func TestSeen(t *testing.T) {
	const known = `{"attempt":2,"checks":{"2-fast":"pass","unit":"fail"},"cost":{"usd":0.5,"tokens":7},"diff":{"files":3,"lines":12},
		"findings":{"blockers":0,"suggestions":2},"issue":{"labels":["bug","ui"],"title":"x"},"report":{"risk":"high","parts":{"api":true},"list":[{"a":1}]},"verdict":"fail"}`
	for when, want := range map[string]string{
		`{report: risk: "high"}`:                       `report.risk is "high"`,
		"{\n\treport: {\n\t\tparts: api: true\n\t}\n}": "report.parts.api is true",
		`{diff: {lines: <100}, findings: blockers: 0}`: "diff.lines is 12, findings.blockers is 0",
		`{checks: {unit: "fail", "2-fast": "pass"}}`:   `checks.2-fast is "pass", checks.unit is "fail"`,
		`{issue: labels: ["bug", ...]}`:                `issue.labels is ["bug","ui"]`,
		`{report: list: [...{a: 1}]}`:                  `report.list is [{"a":1}]`,
		`{verdict: "fail" | "pass", attempt: >1}`:      `attempt is 2, verdict is "fail"`,
		`{report: risky: "high"}`:                      "",
		`{}`:                                           "",
	} {
		if got := english(metadata.Because("rule_saw", "rule", "", "facts", AboutFacts(when, []byte(known)))); got != ": "+want {
			t.Errorf("of %s it says %q, want %q", when, got, want)
		}
	}
}
