package phases

import (
	"encoding/json"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// Reports that mean something else by the same names ask for nothing.
func TestIn(t *testing.T) {
	p := &pipelines.Phase{ReportSchema: json.RawMessage(phasestest.AnyReport)}
	for report, want := range map[string]request{
		`{"questions": 5, "rollback": {"phase": "plan", "step": 3}, "abort": ["x"], "tasks": {"a": 1}, "children": ["A"]}`: {},
		`{"questions": [{"question": "A"}, 5]}`:  {},
		`{"rollback": null, "decision": "pass"}`: {Decision: "pass"},
		`{"depends_on": [3, "#4"]}`:              {DependsOn: []issueID{"3", "4"}},
		`[]`:                                     {},
	} {
		testenv.Same(t, report, want, requestIn(p, json.RawMessage(report)))
	}
	if r := requestIn(&pipelines.Phase{}, json.RawMessage(`{"abort": "x"}`)); r.Abort != "" {
		t.Error("a field that the report does not have was read")
	}
}
