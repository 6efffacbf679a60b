package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Whatever phase of whatever pipeline decides, only a word for passing lets the
// run go on. With any other a person decides.
func TestOnlyAPassingDecisionGoesOn(t *testing.T) {
	tests := map[string]string{ // the report, and why a person is asked; "" if nobody is
		`{"decision": "pass"}`: "",
		`{"decision": "pass_with_issues", "reason": "small things are left"}`: "",
		`{"decision": "pass", "abort": "it would be wrong"}`:                  "",
		`{}`: "",
		`{"decision": "fail", "reason": "The door is open.\nAnd the window."}`: `it decided "fail": The door is open.`,
		`{"decision": "fail"}`: `it decided "fail"`,
		`{"decision": "PASS"}`: `it decided "PASS"`,
		`{"decision": ""}`:     `it decided """"`,
		`{"decision": false}`:  `it decided "false"`,
		`{"decision": null}`:   `it decided "null"`,
		`{"decision": "rollback", "reason": "the plan is wrong"}`:                              "does not say which: the plan is wrong",
		`{"decision": "fail", "rollback": {"phase": "plan", "step": "revise", "reason": "r"}}`: `it decided "fail"`,
		`{"decision": "abort", "reason": "it would be wrong"}`:                                 "it advises giving up; approving the phase ends the run: it would be wrong",
		`{"abort": "it would be wrong"}`:                                                       "it advises giving up; approving the phase ends the run: it would be wrong",
	}
	for report, why := range tests {
		for _, last := range []string{"plan", "tell"} {
			plan := testPlan()
			p := plan.Phase(last)
			p.Report, p.ReportSchema = "{...}", json.RawMessage(`{"properties":{"decision":{},"reason":{},"abort":{},"rollback":{}}}`)
			s := newStage(t, plan)
			s.on(last, metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
				r, err := s.good(ctx, t)
				r.Structured = json.RawMessage(report)
				return r, err
			})
			run := s.goOn(t.Context())
			if why == "" && run.Status != metadata.Completed {
				t.Errorf("%s of %s: the run is %s (%+v)", report, last, run.Status, run.Stop)
			}
			if why == "" {
				continue
			}
			if run.Status != metadata.Waiting || run.Stop.Phase != last || !strings.Contains(english(run.Stop.Why), why) {
				t.Errorf("%s of %s: the run is %s (%+v), want it to wait: %s", report, last, run.Status, run.Stop, why)
				continue
			}
			next, err := phases.Approve(plan, run, phases.Command{By: "ada", At: s.engine.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(why, "giving up") {
				if next.Status != metadata.Cancelled || english(phases.GivenUp(next)) != "it would be wrong" {
					t.Errorf("%s of %s, approved: the run is %s (%+v)", report, last, next.Status, next.Stop)
				}
				continue
			}
			s.run = next
			if run = s.goOn(t.Context()); run.Status != metadata.Completed {
				t.Errorf("%s of %s, approved: the run is %s (%+v)", report, last, run.Status, run.Stop)
			}
		}
	}
}
