package phases

import (
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// WhyNone says why there is nothing about a run that an agent could
// diagnose, or "": it is still going on, or there are no objections to the
// work. A symptom that a person has seen is an objection, too.
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
		if HasOpenPoints(&run.Phases[i]) {
			return ""
		}
	}
	if run.Stop != nil && !Resumable(run.Stop, Start{More: Allowance{USD: 1}}) {
		return ""
	}
	if run.Stop != nil {
		return metadata.Because("nothing_against_it", "status", run.Status, "why", FirstSentence(run.Stop.Why))
	}
	return metadata.Because("nothing_against", "status", run.Status)
}

// HasOpenPoints reports whether anything is open about what a phase has written.
func HasOpenPoints(rec *metadata.Phase) bool {
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

// Diagnose is the step of an agent that looks at a whole run and says whether
// it has to go back. It belongs to no phase, so it is recorded as a decision
// and not as an attempt.
const Diagnose metadata.Step = "diagnose"

// Doctor names the agent that diagnoses a run: the reviewer of the phase that
// the run is at or, if the phase has no review, its writer.
func Diagnostician(plan *pipelines.Pipeline, run metadata.Run) string {
	return Diagnosing(plan, run).Agent
}

// Diagnosing is a decision with the phase, the agent and the access of a
// diagnosis.
func Diagnosing(plan *pipelines.Pipeline, run metadata.Run) Decision {
	at, _ := Where(plan, run)
	d := Decision{Do: DoReview, Phase: at}
	p := plan.Phase(at)
	if p == nil {
		return d
	}
	if d.Agent = Assigned(plan, run, p, metadata.Review); p.NoReview || d.Agent == "" {
		d.Agent = Assigned(plan, run, p, metadata.Execute)
	}
	return d
}

// Diagnosed gives the record after a diagnosis. It adds a decision and no
// attempt, since a diagnosis is no step of a phase, and its cost counts against
// the budget. What says how it ended.
func Diagnosed(run metadata.Run, by Decision, what metadata.Reason, used metadata.Usage, at time.Time) metadata.Run {
	run = run.Clone()
	run = WithUsage(run, used)
	run.Decisions = append(run.Decisions, metadata.Decision{
		At: at, Step: string(Diagnose), Phase: by.Phase,
		Why: metadata.Because("diagnosed", "agent", by.Agent, "diagnosis", what, "cost", fmt.Sprintf("$%.4f", used.USD)),
	})
	return Touch(run, at)
}
