package command

import (
	"context"
	"errors"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// consult says whether an agent can be asked where a run has to go back to. It
// asks nobody.
func (o Request) consult(c phases.Course) (Effect, error) {
	switch why := phases.WhyNoDiagnosis(c, o.Text); {
	case why.Code() == "no_phase_begun":
		return Effect{}, Refuse(metadata.NothingDone, why)
	case why != "":
		return Effect{}, Refuse(metadata.NothingDone, metadata.Because("not_asked", "why", why))
	}
	if over := engine.SpentUp(c.Run); over != nil {
		return Effect{}, Refuse(metadata.BudgetExceeded, metadata.Because("not_asked", "why", over.Why()))
	}
	return Effect{Run: c.Run, Phase: c.Run.CurrentPhase, Why: AskedWhether(c)}, nil
}

// AskedWhether says which agent is asked about a run.
func AskedWhether(c phases.Course) metadata.Reason {
	return metadata.Because("agent_asked", "agent", phases.Diagnosing(c).Agent)
}

// ProposedBy is the command by which a person does what a diagnosis proposes.
func ProposedBy(d phases.Diagnosis, restore bool) Command {
	return Command{Name: "rollback", Phase: d.ToPhase, Step: d.ToStep, Text: d.Reason, Restore: restore}
}

// LastWhy is why the newest decision of a run was taken.
func LastWhy(run metadata.Run) metadata.Reason { return run.Decisions[len(run.Decisions)-1].Why }

// Reluctance says why a rollback that an agent proposes is not carried out, or
// "".
func Reluctance(d phases.Diagnosis, run metadata.Run, dry bool) metadata.Reason {
	switch {
	case dry:
		return metadata.Because("it_is_dry")
	case d.Confidence != phases.HighConfidence:
		return metadata.Because("agent_unsure")
	}
	return phases.WhyNotAlone(run)
}

// Proposal is a rollback that is left to people, and why.
func Proposal(diagnosed metadata.Reason, d phases.Diagnosis, not metadata.Reason) metadata.Reason {
	return metadata.Because("auto_proposed", "diagnosed", diagnosed, "not", not, "reason", metadata.Said(d.Reason), "analysis", Analysis(d))
}

// Analysis is what an agent saw, as far as the record keeps it.
func Analysis(d phases.Diagnosis) metadata.Reason {
	return metadata.Said(clean.Truncate(d.Analysis, 2_000))
}

// Undiagnosed gives the reason code for an agent that was asked and gave no
// diagnosis; told is false for any other error.
func Undiagnosed(ctx context.Context, err error) (code metadata.Code, told bool) {
	switch {
	case errors.Is(context.Cause(ctx), engine.ErrTimeUp):
		return metadata.TimedOut, true
	case ctx.Err() != nil:
		return metadata.RunCancelled, true
	case errors.As(err, new(*engine.OverBudget)):
		return metadata.BudgetExceeded, true
	case errors.As(err, new(*engine.Unusable)):
		return metadata.OutputInvalid, true
	case errors.Is(err, engine.ErrSteered):
		return metadata.RunCancelled, true
	case errors.As(err, new(*engine.AgentError)):
		return metadata.AgentFailed, true
	}
	return "", false
}
