package rehearsal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// diagnose proposes what the stored verdicts say, without a model: back to the
// first phase that has an open blocker, to have it revised. It is sure of that;
// less of a check that fails, and least of a suggestion.
func diagnose(t engine.Task, words spoken, r *engine.Result) error {
	data, err := os.ReadFile(t.Artifact)
	if err != nil {
		return err
	}
	run, err := metadata.Parse(data, t.Artifact)
	if err != nil {
		return err
	}
	d := phases.Diagnosis{Confidence: phases.HighConfidence, Analysis: words["sound"]}
	for _, confidence := range []phases.Confidence{phases.HighConfidence, phases.MediumConfidence, phases.LowConfidence} {
		if phase, reason := standing(run, confidence, words); reason != "" {
			d = phases.Diagnosis{NeedsRollback: true, ToPhase: phase, ToStep: metadata.Revise, Reason: reason, Confidence: confidence, Analysis: reason}
			break
		}
	}
	r.Text = engine.Proposal(d, run.Language)
	r.Structured, err = json.Marshal(d)
	return err
}

// standing finds the first phase against which something stands that gives so
// much confidence, and says what.
func standing(run metadata.Run, confidence phases.Confidence, words spoken) (phase, reason string) {
	severity := map[phases.Confidence]metadata.Severity{phases.HighConfidence: metadata.Blocker, phases.LowConfidence: metadata.Suggestion}[confidence]
	for _, p := range run.Phases {
		if p.Status == metadata.PhaseSkipped {
			continue
		}
		if confidence == phases.MediumConfidence {
			if i := failedCheck(p); i >= 0 {
				return p.Name, fmt.Sprintf(words["fails"], p.Name, p.Checks.Results[i].Name)
			}
			continue
		}
		if p.Verdict == nil {
			continue
		}
		for _, f := range p.Verdict.Findings {
			if f.Severity == severity && f.Status != metadata.Fixed {
				return p.Name, process.OneLine(fmt.Sprintf("%s: %s. %s", f.ID, f.Title, cmp.Or(f.Solution, f.Problem)), 900)
			}
		}
	}
	return "", ""
}

// failedCheck gives the place of the first check that failed on the newest work of
// a phase, or -1.
func failedCheck(p metadata.Phase) int {
	if p.Checks == nil || p.Checks.Written != p.Written {
		return -1
	}
	return slices.IndexFunc(p.Checks.Results, func(c metadata.CheckResult) bool { return !c.Pass })
}
