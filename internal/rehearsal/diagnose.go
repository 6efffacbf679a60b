package rehearsal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// diagnose proposes what the stored verdicts say, without a model: back to the
// first phase that has an open blocker, to have it revised.
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
	if phase, reason := blocked(run); reason != "" {
		d = phases.Diagnosis{NeedsRollback: true, ToPhase: phase, ToStep: metadata.Revise, Reason: reason, Confidence: phases.HighConfidence, Analysis: reason}
	}
	r.Text = engine.Proposal(d, run.Language)
	r.Structured, err = json.Marshal(d)
	return err
}

// blocked finds the first phase that has an open blocker, and says what.
func blocked(run metadata.Run) (phase, reason string) {
	for _, p := range run.Phases {
		if p.Status == metadata.PhaseSkipped || p.Verdict == nil {
			continue
		}
		for _, f := range p.Verdict.Findings {
			if f.Severity == metadata.Blocker && f.Status != metadata.Fixed {
				return p.Name, process.OneLine(fmt.Sprintf("%s: %s. %s", f.ID, f.Title, cmp.Or(f.Solution, f.Problem)), 900)
			}
		}
	}
	return "", ""
}
