package engine

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Unusable is the error of an agent that was asked twice and gave no answer that
// can be used.
type Unusable struct{ Wrong []metadata.Reason }

// Error names the first mistake.
func (e *Unusable) Error() string {
	return e.Why().In(prompts.Words("en"))
}

// Why names the first mistake.
func (e *Unusable) Why() metadata.Reason {
	return metadata.Because("diagnosis_unusable", "why", e.Wrong[0])
}

// failed says why there is no diagnosis.
func (e *Engine) failed(err error) metadata.Reason {
	if errors.Is(err, ErrSteered) {
		return metadata.Because("diagnosis_ended")
	}
	if why := phases.WhyOf(err); why.Code() != "" {
		return why
	}
	var broke *AgentError
	if errors.As(err, &broke) {
		return WhyBroke(broke, func(text string) string { return phases.OneLine(e.Mask(text)) })
	}
	return metadata.Because("failed", "error", metadata.Said(phases.OneLine(e.Mask(err.Error()))))
}

// standIn names the agent that is asked where another one is missing, has no
// valid key or is told to slow down; "" if there is none.
func (e *Engine) standIn(agent string, err error) string {
	var broke *AgentError
	if !errors.As(err, &broke) || !phases.FallsBack(broke.Class, 1) {
		return ""
	}
	return e.Plan.Agents[agent].Fallback
}

// consult asks an agent, and asks once more if the answer cannot be used. The
// usage is that of both calls.
func (e *Engine) consult(ctx context.Context, run metadata.Run, at phases.Decision, symptom string) (d phases.Diagnosis, used metadata.Usage, err error) {
	var wrong []metadata.Reason
	var session string
	for range 2 {
		t, err := e.question(phases.WithUsage(run, used), at, symptom, session, wrong)
		if err != nil {
			return phases.Diagnosis{}, used, err
		}
		r, err := e.callToDiagnose(ctx, phases.WithUsage(run, used), at, t)
		used = used.Plus(r.Usage)
		if err != nil {
			return phases.Diagnosis{}, used, err
		}
		if d, wrong = phases.ParseDiagnosis(phases.AnsweredReport(r.Structured, r.Text), e.Plan, run); len(wrong) == 0 {
			return d, used, nil
		}
		if over := SpentUp(phases.WithUsage(run, used)); over != nil {
			return phases.Diagnosis{}, used, over
		}
		session = r.Session
	}
	return phases.Diagnosis{}, used, &Unusable{wrong}
}

// question is what the agent is given: what a person has seen, if anything, and what is wrong with
// the answer before. With a session it is asked once more there, else with the whole context. A run
// whose frozen prompts have none for it, or none for a symptom, takes the one that is built in.
func (e *Engine) question(run metadata.Run, at phases.Decision, symptom, session string, wrong []metadata.Reason) (t Task, err error) {
	t = e.taskOf(run, at)
	t.Step, t.Attempt, t.Access = Diagnose, len(run.Attempts), t.Access.AtMost(pipelines.AccessRead)
	t.Dir, t.Artifact = e.Tree.Dir(), filepath.Join(e.Tree.Dir(), filepath.FromSlash(phases.RecordFile(run.IssueNumber)))
	t.Schema, t.BudgetUSD = phases.DiagnosisSchema(e.Plan, run), phases.RemainingUSD(run)
	name := "retry"
	if t.Session, t.Resume = session, session != ""; !t.Resume {
		t.Session, name = e.NewID(), string(Diagnose)
	}
	words := e.Prompts
	if !words.Has(name) || symptom != "" && !words.Has("symptom") {
		if words, err = prompts.Load(nil, run.Language); err != nil {
			return t, err
		}
	}
	data := prompts.Data{
		Pipeline: e.Plan.Name, Phase: t.Phase, Step: string(Diagnose), Goal: t.Goal, Access: string(t.Access),
		Artifact: t.Artifact, Dir: t.Dir, Schema: string(t.Schema), Issue: e.Issue, Protected: e.Plan.Protect,
		State: phases.Essence(run), Symptom: symptom, Documents: e.written(run), Resumed: t.Resume,
	}
	data.Issue.Path = filepath.Join(t.Dir, filepath.FromSlash(path.Join(phases.Folder(run.IssueNumber), phases.IssueFile)))
	if len(wrong) > 0 {
		data.Feedback = &prompts.Feedback{}
		for _, w := range wrong {
			data.Feedback.Invalid = append(data.Feedback.Invalid, w.In(prompts.Words(run.Language)))
		}
	}
	data.Boundary = prompts.NewBoundary(e.Rand, data.Texts()...)
	t.Prompt, err = words.Render(name, data)
	return t, err
}

// written lists the artifacts of all phases that have one.
func (e *Engine) written(run metadata.Run) []prompts.Document {
	var out []prompts.Document
	for _, rec := range run.Phases {
		if p := e.Plan.Phase(rec.Name); p != nil && rec.Written > 0 {
			out = append(out, prompts.Document{Phase: p.Name, Path: artifactIn(e.Tree.Dir(), run, p)})
		}
	}
	return out
}

// callToDiagnose calls the agent within the budget. Its changes are taken back,
// because it was only asked to look.
func (e *Engine) callToDiagnose(ctx context.Context, run metadata.Run, at phases.Decision, t Task) (Result, error) {
	agent, err := e.Agent(at.Agent)
	if err != nil {
		return Result{}, err
	}
	call, cancel := withinBudget(ctx, run)
	defer cancel(nil)
	t.Notify = func(a Activity) {
		if phases.LimitReachedIn(run, a.Usage) != "" {
			cancel(errBudget)
		}
	}
	r, err := agent.Run(call, t)
	switch {
	case r.Limit == "budget", err != nil && errors.Is(context.Cause(call), errBudget):
		reached := phases.LimitReachedIn(run, r.Usage)
		if reached == "" && r.Limit != "budget" {
			reached = phases.LimitTime
		}
		err = &OverBudget{cmp.Or(reached, phases.LimitUSD), metadata.Because("budget_used_in_call")}
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	r.Text, r.Structured = e.Mask(r.Text), e.MaskAnswer(r.Structured)
	return r, errors.Join(err, e.unchanged(context.WithoutCancel(ctx), run, at))
}

// unchanged takes the tree back to the last commit, but for the record.
func (e *Engine) unchanged(ctx context.Context, run metadata.Run, at phases.Decision) error {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return err
	}
	if s := phases.BoundaryOf(e.Plan, run, at).Sort(changes); len(s.Undo) > 0 {
		return e.Tree.Restore(ctx, s.Undo...)
	}
	return nil
}

// Proposal says in a few words and in a language what a diagnosis proposes.
func Proposal(d phases.Diagnosis, language string) string {
	return d.Proposes().In(prompts.Words(language))
}
