package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Unusable is the error of an agent that gave no answer that can be used.
type Unusable struct{ Wrong metadata.Reason }

// Error says what is wrong with it.
func (e *Unusable) Error() string { return e.Why().In(prompts.Words("en")) }

// Why says what is wrong with it.
func (e *Unusable) Why() metadata.Reason {
	return metadata.Because("diagnosis_unusable", "why", e.Wrong)
}

// failed says why there is no diagnosis.
func (e *Engine) failed(err error) metadata.Reason {
	if errors.Is(err, ErrSteered) {
		return metadata.Because("diagnosis_ended")
	}
	if broke, is := errors.AsType[*AgentError](err); is {
		return broke.WhyBroke(func(text string) string { return phases.OneLine(e.Mask(text)) })
	}
	why := prompts.Why(err)
	if why.Code() == "failed" {
		why = metadata.Because("failed", "error", metadata.Said(phases.OneLine(e.Mask(err.Error()))))
	}
	return why
}

// consult asks an agent.
func (e *Engine) consult(ctx context.Context, run metadata.Run, at phases.Decision, symptom string) (phases.Diagnosis, metadata.Usage, error) {
	t, err := e.question(run, at, symptom)
	if err != nil {
		return phases.Diagnosis{}, metadata.Usage{}, err
	}
	r, err := e.callToDiagnose(ctx, run, at, t)
	if err != nil {
		return phases.Diagnosis{}, r.Usage, err
	}
	said, _ := phases.AnsweredReport(r.Structured, r.Text)
	d, wrong := phases.ParseDiagnosis(said, phases.On(e.Plan, run))
	if wrong != "" {
		return phases.Diagnosis{}, r.Usage, &Unusable{wrong}
	}
	return d, r.Usage, nil
}

// question is what the agent is given, with what a person has seen, if anything.
func (e *Engine) question(run metadata.Run, at phases.Decision, symptom string) (t Task, err error) {
	t = e.taskOf(run, at)
	t.Step, t.Attempt, t.Access = phases.Diagnose, len(run.Attempts), t.Access.AtMost(pipelines.AccessRead)
	t.Dir, t.Artifact = e.Tree.Dir(), filepath.Join(e.Tree.Dir(), filepath.FromSlash(phases.RecordFile(run.IssueNumber)))
	t.Schema, t.BudgetUSD, t.Session = phases.DiagnosisSchema(phases.On(e.Plan, run)), e.remaining(run), e.NewID()
	data := e.asked(run, e.Issue, t)
	data.State, data.Symptom = phases.Essence(run), symptom
	for _, rec := range run.Phases {
		if p := e.Plan.Phase(rec.Name); p != nil && rec.Written > 0 {
			data.Documents = append(data.Documents, prompts.Document{Phase: p.Name, Path: artifactIn(t.Dir, run, p)})
		}
	}
	data.Boundary = prompts.NewBoundary(e.Rand, data.Texts()...)
	t.Prompt, err = e.Prompts.Render(string(phases.Diagnose), data)
	return t, err
}

// callToDiagnose calls the agent within the budget. Its changes are taken back, because it was only asked to look.
func (e *Engine) callToDiagnose(ctx context.Context, run metadata.Run, at phases.Decision, t Task) (Result, error) {
	r, err := e.ask(ctx, run, at.Agent, t, func(Activity, context.CancelCauseFunc) {})
	if errors.Is(err, errBudget) || r.Limit == "budget" {
		reached := phases.LimitReachedIn(run, r.Usage)
		if reached == "" && r.Limit != "budget" {
			reached = phases.LimitTime
		}
		err = &OverBudget{cmp.Or(reached, phases.LimitUSD), metadata.Because("budget_used_in_call")}
	}
	return r, errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx)))
}

// Proposal says in a few words and in a language what a diagnosis proposes.
func Proposal(d phases.Diagnosis, language string) string {
	return d.Proposes().In(prompts.Words(language))
}

// Diagnose examines a run and commits the record with what that cost, also where
// there is an error, unless no agent was called. Nothing is taken back.
func (e *Engine) Diagnose(ctx context.Context, run metadata.Run, symptom string) (metadata.Run, phases.Diagnosis, error) {
	next, d, err := e.Examine(ctx, run, symptom)
	if next.Revision == run.Revision {
		return run, d, err
	}
	noted := metadata.Follow(run, next)
	if noted == nil {
		noted = e.Amend(ctx, next, next.Decisions[len(next.Decisions)-1].Phase+": diagnosed")
	}
	if noted != nil {
		return run, d, errors.Join(err, noted)
	}
	return next, d, err
}

// Examine lets an agent look at a run and say whether it has to go back. The symptom is what a person has seen, or empty.
// It saves the cost, and returns the record with a decision and the cost, also with an error, for the caller to commit;
// if no agent was called, the record that was given. If people end the call, the error is an ErrSteered.
func (e *Engine) Examine(ctx context.Context, run metadata.Run, symptom string) (metadata.Run, phases.Diagnosis, error) {
	at := phases.Diagnosing(phases.On(e.Plan, run))
	if e.Plan.Phase(at.Phase) == nil {
		return run, phases.Diagnosis{}, fmt.Errorf("phase %q is not in the pipeline: nobody can be asked about it", at.Phase)
	}
	if over := SpentUp(run); over != nil {
		return run, phases.Diagnosis{}, over
	}
	today, why, err := e.RemainingToday(ctx, run)
	if e.today = today; err == nil && why != "" {
		err = &OverBudget{Reason: why}
	}
	if err != nil {
		return run, phases.Diagnosis{}, err
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, phases.Diagnosis{}, err
	}
	call, ended := e.attend(ctx, func() metadata.Run { return run })
	defer ended()
	d, used, err := e.consult(call, run, at, symptom)
	saw := d.Proposes()
	switch {
	case err != nil && ctx.Err() != nil:
		saw = metadata.Because("diagnosis_cut")
	case err != nil:
		saw = e.failed(err)
	}
	if lost := e.Store.Save(phases.WithUsage(run, used)); lost != nil {
		err = errors.Join(err, lost)
	}
	return phases.Diagnosed(run, at, saw, used, e.Now()), d, err
}
