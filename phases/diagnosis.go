package phases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Diagnosis is what an agent says about a run as a whole.
type Diagnosis struct {
	NeedsRollback bool          `json:"needs_rollback"`
	ToPhase       string        `json:"to_phase"` // empty without a rollback, as are the next two
	ToStep        metadata.Step `json:"to_step"`
	Reason        string        `json:"reason"`
	Confidence    Confidence    `json:"confidence"`
	Analysis      string        `json:"analysis"`
}

// Confidence is how sure an agent is of its diagnosis.
type Confidence string

// The degrees of confidence. Only with High a run goes back by itself.
const (
	LowConfidence    Confidence = "low"
	MediumConfidence Confidence = "medium"
	HighConfidence   Confidence = "high"
)

// Proposes says in a few words what is proposed.
func (d Diagnosis) Proposes() metadata.Reason {
	if !d.NeedsRollback {
		return metadata.Because("no_rollback", "confidence", d.Confidence)
	}
	return metadata.Because("rollback_to", "phase", d.ToPhase, "step", d.ToStep, "confidence", d.Confidence)
}

// DiagnosisSchema is the JSON Schema of a diagnosis of a run. Its phases are those that can be taken back.
func DiagnosisSchema(plan *pipelines.Pipeline, run metadata.Run) json.RawMessage {
	word := func(words ...string) map[string]any { return map[string]any{"type": "string", "enum": words} }
	text := map[string]any{"type": "string"}
	data, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false,
		"required": []string{"needs_rollback", "to_phase", "to_step", "reason", "confidence", "analysis"},
		"properties": map[string]any{
			"needs_rollback": map[string]any{"type": "boolean"},
			"to_phase":       word(append(rollbackTargets(plan, run), "")...),
			"to_step":        word(string(metadata.Execute), string(metadata.Review), string(metadata.Revise), ""),
			"reason":         text, "confidence": word(string(LowConfidence), string(MediumConfidence), string(HighConfidence)), "analysis": text,
		},
	})
	if err != nil {
		return nil // unreachable: words always encode
	}
	return data
}

// ParseDiagnosis reads a diagnosis, holds it against the run, and says what is wrong with it; "" if nothing is.
func ParseDiagnosis(data []byte, plan *pipelines.Pipeline, run metadata.Run) (d Diagnosis, wrong metadata.Reason) {
	var fields map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if len(data) == 0 {
		return d, metadata.Because("diagnosis_missing")
	} else if err := errors.Join(dec.Decode(&d), json.Unmarshal(data, &fields)); err != nil {
		return d, metadata.Because("not_a_diagnosis", "error", OneLine(err.Error()))
	}
	d.Reason, d.Analysis = strings.TrimSpace(d.Reason), strings.TrimSpace(d.Analysis)
	n := utf8.RuneCountInString(d.Reason)
	switch {
	case fields["needs_rollback"] == nil:
		return d, metadata.Because("diagnosis_undecided")
	case !slices.Contains([]Confidence{LowConfidence, MediumConfidence, HighConfidence}, d.Confidence):
		return d, metadata.Because("confidence_word", "word", OneLine(string(d.Confidence)))
	case d.Analysis == "":
		return d, metadata.Because("analysis_empty")
	case !d.NeedsRollback && d.ToPhase+string(d.ToStep)+d.Reason != "":
		return d, metadata.Because("diagnosis_contradicts")
	case !d.NeedsRollback:
		return d, ""
	case n == 0:
		return d, metadata.Because("reason_empty")
	case n > MostReason:
		return d, metadata.Because("reason_too_long", "n", n, "most", MostReason)
	case strings.ContainsRune(d.Reason, 0):
		return d, metadata.Because("reason_no_text")
	}
	if err := checkRollback(plan, run, Rollback{To: d.ToPhase, Step: d.ToStep, Reason: d.Reason}); err != nil {
		wrong = WhyOf(err)
	}
	return d, wrong
}

// reviewOf gives the path of the newest review of a phase, or "".
func reviewOf(plan *pipelines.Pipeline, run metadata.Run, phase string) string {
	rec, p := run.Phase(phase), plan.Phase(phase)
	if rec == nil || p == nil || rec.Verdict == nil {
		return ""
	}
	return path.Join(Folder(run.IssueNumber), p.Folder, ReviewFile)
}

// FollowDiagnosis gives the rollback that a diagnosis proposes, for a person to look at or to be carried out.
func FollowDiagnosis(plan *pipelines.Pipeline, run metadata.Run, d Diagnosis, request Rollback) (RollbackPlan, error) {
	at, _ := where(plan, run)
	request.To, request.Step, request.Reason, request.Trigger = d.ToPhase, d.ToStep, d.Reason, metadata.Automatic
	if request.ReviewResult = reviewOf(plan, run, at); request.ReviewResult == "" {
		request.ReviewResult = reviewOf(plan, run, d.ToPhase)
	}
	return PlanRollback(plan, run, request)
}

// WhyNone says why there is nothing about a run that an agent could diagnose, or "": it is still going on, or there
// are no objections to the work. A symptom that a person has seen is an objection, too.
func WhyNoDiagnosis(plan *pipelines.Pipeline, run metadata.Run, symptom string) metadata.Reason {
	switch {
	case len(rollbackTargets(plan, run)) == 0:
		return metadata.Because("no_phase_begun")
	case symptom != "":
		return ""
	case run.Status == metadata.Running, run.Status == metadata.Interrupted:
		return metadata.Because("run_goes_on", "status", run.Status)
	}
	for i := range run.Phases {
		if hasOpenPoints(&run.Phases[i]) {
			return ""
		}
	}
	if run.Stop != nil && !resumable(run.Stop, Start{More: Allowance{USD: 1}}) {
		return ""
	}
	if run.Stop != nil {
		return metadata.Because("nothing_against_it", "status", run.Status, "why", firstSentence(run.Stop.Why))
	}
	return metadata.Because("nothing_against", "status", run.Status)
}

// hasOpenPoints reports whether anything is open about what a phase has written.
func hasOpenPoints(rec *metadata.Phase) bool {
	return len(rec.Verdict.OpenBlockers())+len(rec.Verdict.OpenSuggestions())+len(rec.Verdict.FailedGates()) > 0 || rec.ChecksFail()
}

// rollbackTargets lists the phases that a run can be taken back to.
func rollbackTargets(plan *pipelines.Pipeline, run metadata.Run) []string {
	var out []string
	for _, rec := range run.Phases {
		if plan.Phase(rec.Name) != nil && rec.Status != metadata.PhasePending && rec.Status != metadata.PhaseSkipped {
			out = append(out, rec.Name)
		}
	}
	return out
}

// Diagnose is the step of an agent that looks at a whole run and says whether it has to go back.
const Diagnose metadata.Step = "diagnose"

// Diagnosing is a decision with the phase, the access and the agent of a diagnosis: the reviewer of the phase that
// the run is at or, if it has no review, its writer.
func Diagnosing(plan *pipelines.Pipeline, run metadata.Run) Decision {
	at, _ := where(plan, run)
	d := Decision{Do: DoReview, Phase: at}
	p := plan.Phase(at)
	if p == nil {
		return d
	}
	if d.Agent = assigned(plan, run, p, metadata.Review); p.NoReview || d.Agent == "" {
		d.Agent = assigned(plan, run, p, metadata.Execute)
	}
	return d
}

// Diagnosed gives the record after a diagnosis.
func Diagnosed(run metadata.Run, by Decision, what metadata.Reason, used metadata.Usage, at time.Time) metadata.Run {
	run = run.Clone()
	run = WithUsage(run, used)
	note(&run, at, string(Diagnose), by.Phase, metadata.Because("diagnosed", "agent", by.Agent, "diagnosis", what, "cost", fmt.Sprintf("$%.4f", used.USD)))
	return Touch(run, at)
}
