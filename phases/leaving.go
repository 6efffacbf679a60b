package phases

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Step is what the decisions of a run call it.
const SkipStep = "skip_if"

// SkipDue gives the phase of which it has to be asked whether it is left out before a decision
// is carried out, and what is asked; nil: nothing. A phase that is done in parts is asked
// about before its first part.
func SkipDue(plan *pipelines.Pipeline, run metadata.Run, d Decision) (phase string, asked *pipelines.SkipIf) {
	rec := run.Phase(d.Phase)
	if rec == nil || d.Final() {
		return "", nil
	}
	if whole := WholeOf(rec); whole != "" {
		rec = run.Phase(whole)
	}
	p := plan.Phase(rec.Name)
	if p == nil || p.SkipIf == nil || rec.Status != metadata.PhasePending || PartsBegun(&run, rec.Name) {
		return "", nil
	}
	return rec.Name, p.SkipIf
}

// LeaveOut gives the record of a run that leaves a phase out, with its parts, and why. When a
// phase before it is taken back, it is asked about anew.
func LeaveOut(run metadata.Run, phase string, why metadata.Reason, at time.Time) metadata.Run {
	run = Touch(run, at)
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: SkipStep, Phase: phase, Why: why})
	for _, rec := range append(PartsOf(&run, phase), run.Phase(phase)) {
		rec.Status, rec.Dropped, rec.RollbackContext = metadata.PhaseSkipped, phase, nil
	}
	run.CurrentPhase = phase
	return run
}

// WhyLeftOut says why a phase was left out; "" if it was not, or if people or a rule did it.
func WhyLeftOut(run metadata.Run, phase string) (why metadata.Reason) {
	if rec := run.Phase(phase); rec == nil || rec.Status != metadata.PhaseSkipped || rec.Dropped != phase {
		return ""
	}
	for _, d := range run.Decisions {
		if d.Phase == phase && d.Step == SkipStep {
			why = d.Why
		}
	}
	return why
}
