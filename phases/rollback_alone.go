package phases

import (
	"cmp"
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
	"github.com/reprise-ci/reprise/prompts"
)

// mostAutomatic is how often a run goes back by itself before a person has to look.
const mostAutomatic = 3

// wayBack gives the rollback that an agent or a rule asks for.
func wayBack(from string, r rollbackRequest, at time.Time) Rollback {
	return Rollback{From: from, To: r.Phase, Step: cmp.Or(r.Step, metadata.Revise), Reason: CutText(ValidText(r.Reason), mostReason), Trigger: metadata.Automatic, At: at}
}

// command is how a person would ask for a rollback.
func (r Rollback) command() string {
	return strings.TrimSpace("/rollback " + OneLine(r.To+":"+string(r.Step)) + " " + OneLine(r.Reason))
}

// rollBackAlone takes a run back without asking anybody.
func rollBackAlone(c Course, to Rollback) (metadata.Run, *RollbackPlan) {
	if n := automaticSince(c.Run); n >= mostAutomatic {
		return proposed(c.Run, to.From, metadata.Because("went_back_often", "n", n, "command", to.command()))
	}
	r, err := PlanRollback(c, to)
	if err != nil {
		return proposed(c.Run, to.From, metadata.Because("rollback_impossible", "command", to.command(), "why", prompts.Why(err)))
	}
	return r.Run, &r
}

// mostReason is how long a reason from an agent may be, in Unicode code points: as long as one from a person.
const mostReason = 1000

// proposed lets a person decide what follows from a phase. A phase that has failed needs a person anyway.
func proposed(run metadata.Run, phase string, ask metadata.Reason) (metadata.Run, *RollbackPlan) {
	run = run.Clone()
	if rec := run.Phase(phase); rec.Status == metadata.PhaseCompleted {
		demand(rec, "maintain", ask)
	}
	return run, nil
}

// Proposed gives the rollback that an agent or a rule has proposed for the phase that waits for approval. A person
// may carry it out instead of approving.
func Proposed(c Course) (Rollback, bool) {
	phase, _, _, ok := Approval(c, "")
	if !ok {
		return Rollback{}, false
	}
	rec := c.Run.Phase(phase)
	var all []rollbackRequest
	if r := requestIn(c.Plan.Phase(phase), rec.Report).Rollback; r != nil {
		all = append(all, *r)
	}
	for _, r := range c.Plan.Rules {
		if r.Then.Rollback != nil && r.After == phase {
			all = append(all, requestOf(r.Then.Rollback))
		}
	}
	for _, r := range all {
		back := wayBack("", r, c.Run.UpdatedAt)
		back.Trigger = metadata.Manual
		asked := slices.ContainsFunc(rec.Ask.Each(), func(why metadata.Reason) bool { return why.Value("command").Said() == back.command() })
		if asked && checkRollback(c, back) == nil {
			return back, true
		}
	}
	return Rollback{}, false
}

// requestOf is the way back that a rule names.
func requestOf(back *pipelines.RuleRollback) rollbackRequest {
	return rollbackRequest{Phase: back.To, Step: metadata.Step(back.Step), Reason: back.Reason}
}

// automaticSince counts the rollbacks without a person since a person last took the run back.
func automaticSince(run metadata.Run) (n int) {
	for _, r := range slices.Backward(run.RollbackHistory) {
		if r.TriggeredBy == metadata.Manual {
			break
		}
		n++
	}
	return n
}

// ApplyReport gives the record after what the report of a completed phase asks for: to go back, to give up, or to
// wait for other issues. A person decides where the agent is not sure, or where its decision is anything but a pass.
func ApplyReport(c Course, p *pipelines.Phase, at time.Time) (metadata.Run, *RollbackPlan) {
	r := requestIn(p, c.Run.Phase(p.Name).Report)
	switch {
	case r.Decision == "rollback" && r.Rollback == nil:
		return proposed(c.Run, p.Name, metadata.Because("rollback_unnamed", "reason", metadata.Said(OneLine(r.Reason))))
	case r.Decision == "rollback", r.Decision == "" && r.Rollback != nil:
		back := wayBack(p.Name, *r.Rollback, at)
		if sure := r.Rollback.Confidence; sure != "" && sure != "high" {
			return proposed(c.Run, p.Name, metadata.Because("rollback_proposed", "confidence", OneLine(sure), "command", back.command()))
		}
		return rollBackAlone(c, back)
	case r.Decision == "abort", r.Decision == "" && r.Abort != "":
		return proposed(c.Run, p.Name, metadata.Because("gives_up", "reason", metadata.Said(OneLine(cmp.Or(r.Abort, r.Reason)))))
	case !r.passes() && OneLine(r.Reason) == "":
		return proposed(c.Run, p.Name, metadata.Because("decided", "decision", OneLine(r.Decision)))
	case !r.passes():
		return proposed(c.Run, p.Name, metadata.Because("decided_because", "decision", OneLine(r.Decision), "reason", metadata.Said(OneLine(r.Reason))))
	case len(r.DependsOn) > 0:
		var numbers []string
		for _, n := range r.DependsOn {
			numbers = append(numbers, "#"+string(n))
		}
		return proposed(c.Run, p.Name, metadata.Because("waits_for_issues", "issues", numbers[:min(len(numbers), 20)]))
	}
	return c.Run, nil
}

// WhyNotAlone says why a run may not go back without a person although the diagnosis is sure, or "".
func WhyNotAlone(run metadata.Run) metadata.Reason {
	if n := automaticSince(run); n >= mostAutomatic {
		return metadata.Because("went_back_alone", "n", n)
	}
	return ""
}

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
	lowConfidence    Confidence = "low"
	mediumConfidence Confidence = "medium"
	HighConfidence   Confidence = "high"
)

// Proposes says in a few words what is proposed.
func (d Diagnosis) Proposes() metadata.Reason {
	if !d.NeedsRollback {
		return metadata.Because("no_rollback", "confidence", d.Confidence)
	}
	return metadata.Because("rollback_to", "phase", d.ToPhase, "step", d.ToStep, "confidence", d.Confidence)
}

// diagnosisSchema is DiagnosisSchema for any run.
const diagnosisSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["needs_rollback", "to_phase", "to_step", "reason", "confidence", "analysis"],
  "properties": {
    "needs_rollback": {"type": "boolean"},
    "to_phase": {"type": "string", "enum": "TARGETS"},
    "to_step": {"type": "string", "enum": ["execute", "review", "revise", ""]},
    "reason": {"type": "string"},
    "confidence": {"type": "string", "enum": ["low", "medium", "high"]},
    "analysis": {"type": "string"}
  }
}`

// DiagnosisSchema is the JSON Schema of a diagnosis of a run. Its phases are those that can be taken back.
func DiagnosisSchema(c Course) json.RawMessage {
	targets, _ := json.Marshal(append(rollbackTargets(c), "")) // words always encode
	return json.RawMessage(strings.Replace(diagnosisSchema, `"TARGETS"`, string(targets), 1))
}

// ParseDiagnosis reads a diagnosis, holds it against the run, and says what is wrong with it; "" if nothing is.
func ParseDiagnosis(data []byte, c Course) (d Diagnosis, wrong metadata.Reason) {
	var fields map[string]json.RawMessage
	if len(data) == 0 {
		return d, metadata.Because("diagnosis_missing")
	} else if err := errors.Join(metadata.ParseAnswer(data, &d), json.Unmarshal(data, &fields)); err != nil {
		return d, metadata.Because("not_a_diagnosis", "error", OneLine(err.Error()))
	}
	d.Reason, d.Analysis = strings.TrimSpace(d.Reason), strings.TrimSpace(d.Analysis)
	n := utf8.RuneCountInString(d.Reason)
	switch {
	case fields["needs_rollback"] == nil:
		return d, metadata.Because("diagnosis_undecided")
	case !slices.Contains([]Confidence{lowConfidence, mediumConfidence, HighConfidence}, d.Confidence):
		return d, metadata.Because("confidence_word", "word", OneLine(string(d.Confidence)))
	case d.Analysis == "":
		return d, metadata.Because("analysis_empty")
	case !d.NeedsRollback && d.ToPhase+string(d.ToStep)+d.Reason != "":
		return d, metadata.Because("diagnosis_contradicts")
	case !d.NeedsRollback:
		return d, ""
	case n == 0:
		return d, metadata.Because("reason_empty")
	case n > mostReason:
		return d, metadata.Because("reason_too_long", "n", n, "most", mostReason)
	case strings.ContainsRune(d.Reason, 0):
		return d, metadata.Because("reason_no_text")
	}
	if err := checkRollback(c, Rollback{To: d.ToPhase, Step: d.ToStep, Reason: d.Reason}); err != nil {
		wrong = prompts.Why(err)
	}
	return d, wrong
}

// reviewOf gives the path of the newest review of a phase, or "".
func reviewOf(c Course, phase string) string {
	rec, p := c.Run.Phase(phase), c.Plan.Phase(phase)
	if rec == nil || p == nil || rec.Verdict == nil {
		return ""
	}
	return path.Join(Folder(c.Run.IssueNumber), p.Folder, ReviewFile)
}

// FollowDiagnosis gives the rollback that a diagnosis proposes, for a person to look at or to be carried out.
func FollowDiagnosis(c Course, d Diagnosis, request Rollback) (RollbackPlan, error) {
	at, _ := where(c)
	request.To, request.Step, request.Reason, request.Trigger = d.ToPhase, d.ToStep, d.Reason, metadata.Automatic
	if request.ReviewResult = reviewOf(c, at); request.ReviewResult == "" {
		request.ReviewResult = reviewOf(c, d.ToPhase)
	}
	return PlanRollback(c, request)
}

// WhyNoDiagnosis says why there is nothing about a run that an agent could diagnose, or "": it is still going on, or there
// are no objections to the work. A symptom that a person has seen is an objection, too.
func WhyNoDiagnosis(c Course, symptom string) metadata.Reason {
	switch {
	case len(rollbackTargets(c)) == 0:
		return metadata.Because("no_phase_begun")
	case symptom != "":
		return ""
	case c.Run.Status == metadata.Running, c.Run.Status == metadata.Interrupted:
		return metadata.Because("run_goes_on", "status", c.Run.Status)
	}
	for i := range c.Run.Phases {
		if hasOpenPoints(&c.Run.Phases[i]) {
			return ""
		}
	}
	if c.Run.Stop != nil && !resumable(c.Run.Stop, Start{More: Allowance{USD: 1}}) {
		return ""
	}
	if c.Run.Stop != nil {
		return metadata.Because("nothing_against_it", "status", c.Run.Status, "why", firstSentence(c.Run.Stop.Why))
	}
	return metadata.Because("nothing_against", "status", c.Run.Status)
}

// hasOpenPoints reports whether anything is open about what a phase has written.
func hasOpenPoints(rec *metadata.Phase) bool {
	return len(rec.Verdict.OpenBlockers())+len(rec.Verdict.OpenSuggestions())+len(rec.Verdict.FailedGates()) > 0 || rec.ChecksFail()
}

// rollbackTargets lists the phases that a run can be taken back to.
func rollbackTargets(c Course) (out []string) {
	for _, rec := range c.Run.Phases {
		if c.Plan.Phase(rec.Name) != nil && rec.Status != metadata.PhasePending && rec.Status != metadata.PhaseSkipped {
			out = append(out, rec.Name)
		}
	}
	return out
}

// Diagnose is the step of an agent that looks at a whole run and says whether it has to go back.
const Diagnose metadata.Step = "diagnose"

// Diagnosing is a decision with the phase, the access and the agent of a diagnosis: the reviewer of the phase that
// the run is at or, if it has no review, its writer.
func Diagnosing(c Course) Decision {
	at, _ := where(c)
	d := Decision{Do: DoReview, Phase: at}
	p := c.Plan.Phase(at)
	if p == nil {
		return d
	}
	if d.Agent = assigned(c, p, metadata.Review); p.NoReview || d.Agent == "" {
		d.Agent = assigned(c, p, metadata.Execute)
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
