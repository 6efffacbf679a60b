package phases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// OverBudget is the error of a call that the budget has no room for, or ran out
// in the middle of.
type OverBudget struct {
	Limit Limit
	Why   metadata.Reason
}

// Error says which limit is reached.
func (e *OverBudget) Error() string { return Say("en", e.Why) }

// Unusable is the error of an agent that was asked twice and gave no answer that
// can be used.
type Unusable struct{ Wrong []metadata.Reason }

// Error names the first mistake.
func (e *Unusable) Error() string {
	return Say("en", e.Why())
}

// Why names the first mistake.
func (e *Unusable) Why() metadata.Reason {
	return metadata.Because("diagnosis_unusable", "why", e.Wrong[0])
}

// Doctor names the agent that diagnoses a run: the reviewer of the phase where
// the run is, or where nobody reviews that, who writes it.
func Doctor(plan *pipelines.Pipeline, run metadata.Run) string {
	return diagnosing(plan, run).Agent
}

// diagnosing is the decision whose place, agent and access a diagnosis has.
func diagnosing(plan *pipelines.Pipeline, run metadata.Run) Decision {
	at, _ := whereIs(plan, run)
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

// Diagnose lets an agent look at a run and say whether it has to go back. It
// returns the record with what that cost, as it was committed: no attempt, for
// it is no step of a phase, but a decision, and part of the cost that counts
// against the budget. It is committed also where there is an error, unless no
// agent was called. Nothing is taken back.
func (e *Engine) Diagnose(ctx context.Context, run metadata.Run) (metadata.Run, Diagnosis, error) {
	at := diagnosing(e.Plan, run)
	if e.Plan.Phase(at.Phase) == nil {
		return run, Diagnosis{}, fmt.Errorf("phase %q is not in the pipeline: nobody can be asked about it", at.Phase)
	}
	if reached, why := overBudget(run); reached != "" {
		return run, Diagnosis{}, &OverBudget{reached, why}
	}
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, Diagnosis{}, err
	}
	d, used, err := e.consult(ctx, run, at)
	if to := e.standIn(at.Agent, err); to != "" {
		at.Agent = to
		var more metadata.Usage
		d, more, err = e.consult(ctx, with(run, used), at)
		used = sum(used, more)
	}
	d.By = at.Agent
	next := run.Clone()
	next.Cost = addUsage(next.Cost, used)
	saw := d.Proposes()
	if err != nil {
		saw = e.failed(err)
	}
	why := metadata.Because("diagnosed", "agent", at.Agent, "diagnosis", saw, "cost", fmt.Sprintf("$%.4f", used.USD))
	now := e.Now()
	next.Decisions = append(next.Decisions, metadata.Decision{At: now, Step: string(Diagnose), Phase: at.Phase, Why: why})
	next = touch(next, now)
	if noted := follows(run, next); noted != nil {
		return run, d, errors.Join(err, noted)
	}
	if noted := e.Amend(ctx, next, at.Phase+": diagnosed"); noted != nil {
		return run, d, errors.Join(err, noted)
	}
	return next, d, err
}

// failed says why there is no diagnosis.
func (e *Engine) failed(err error) metadata.Reason {
	if why := WhyOf(err); why.Code() != "" {
		return why
	}
	return metadata.Said(brief(e.mask(err.Error())))
}

// standIn names the agent that is asked where another one is missing, has no
// valid key or is told to slow down; "" if there is none.
func (e *Engine) standIn(agent string, err error) string {
	var broke *AgentError
	if !errors.As(err, &broke) || !fallsBack(broke.Class, 1) {
		return ""
	}
	return e.Plan.Agents[agent].Fallback
}

// consult asks an agent, and where its answer cannot be used once more. The
// usage is that of both calls.
func (e *Engine) consult(ctx context.Context, run metadata.Run, at Decision) (d Diagnosis, used metadata.Usage, err error) {
	var wrong []metadata.Reason
	var session string
	for range 2 {
		t, err := e.question(with(run, used), at, session, wrong)
		if err != nil {
			return Diagnosis{}, used, err
		}
		r, err := e.hear(ctx, with(run, used), at, t)
		used = sum(used, r.Usage)
		if err != nil {
			return Diagnosis{}, used, err
		}
		if d, wrong = ParseDiagnosis(structured(r), e.Plan, run); len(wrong) == 0 {
			return d, used, nil
		}
		if reached, why := overBudget(with(run, used)); reached != "" {
			return Diagnosis{}, used, &OverBudget{reached, why}
		}
		session = r.Session
	}
	return Diagnosis{}, used, &Unusable{wrong}
}

// question is what the agent is given. With a session it is asked once more
// there, else with the whole context.
func (e *Engine) question(run metadata.Run, at Decision, session string, wrong []metadata.Reason) (Task, error) {
	p, rec := e.Plan.Phase(at.Phase), run.Phase(at.Phase)
	s := SettingsIn(e.Plan, run, p, at.Step())
	t := Task{
		Issue: run.IssueNumber, Title: run.IssueTitle, Phase: p.Name, Step: Diagnose,
		Attempt: len(run.Attempts), Round: rec.Round, Goal: p.Goal, Gates: p.Gates, Language: run.Language,
		Dir: e.Tree.Dir(), Artifact: filepath.Join(e.Tree.Dir(), filepath.FromSlash(path.Join(Folder(run.IssueNumber), metadata.File))),
		Access: e.access(at), Schema: DiagnosisSchema(e.Plan, run), Session: session, Resume: session != "",
		Model: e.model(run, p, at), Turns: s.Turns, BudgetUSD: leftUSD(run),
	}
	t.Timeout, t.Idle = timeouts(s)
	if !t.Resume {
		t.Session = e.NewID()
	}
	name := string(Diagnose)
	if t.Resume {
		name = "retry"
	}
	var err error
	t.Prompt, err = e.inquiry(run, p, t, name, wrong)
	return t, err
}

// inquiry gives the words of a diagnosis. A run that was frozen before there
// were any takes those that are built in.
func (e *Engine) inquiry(run metadata.Run, p *pipelines.Phase, t Task, name string, wrong []metadata.Reason) (string, error) {
	words := e.Prompts
	if !words.Has(name) {
		var err error
		if words, err = prompts.Load(nil, run.Language); err != nil {
			return "", err
		}
	}
	data := prompts.Data{
		Pipeline: e.Plan.Name, Phase: p.Name, Step: string(Diagnose), Goal: p.Goal, Access: string(t.Access),
		Artifact: t.Artifact, Dir: t.Dir, Schema: string(t.Schema), Issue: e.Issue, Protected: e.Plan.Protect,
		State: essence(run), Documents: e.written(run), Resumed: t.Resume,
	}
	data.Issue.Path = filepath.Join(t.Dir, filepath.FromSlash(path.Join(Folder(run.IssueNumber), IssueFile)))
	if len(wrong) > 0 {
		data.Feedback = &prompts.Feedback{}
		for _, w := range wrong {
			data.Feedback.Invalid = append(data.Feedback.Invalid, Say(run.Language, w))
		}
	}
	data.Boundary = prompts.NewBoundary(e.Rand, data.Texts()...)
	return words.Render(name, data)
}

// written lists the artifacts of all phases that have one.
func (e *Engine) written(run metadata.Run) []prompts.Document {
	var out []prompts.Document
	for _, rec := range run.Phases {
		if p := e.Plan.Phase(rec.Name); p != nil && rec.Written > 0 {
			out = append(out, prompts.Document{Phase: p.Name, Path: e.abs(run, p)})
		}
	}
	return out
}

// hear calls the agent within the budget. What it changed is taken back: it was
// asked to look.
func (e *Engine) hear(ctx context.Context, run metadata.Run, at Decision, t Task) (Result, error) {
	agent, err := e.Agent(at.Agent)
	if err != nil {
		return Result{}, err
	}
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if left := secondsLeft(run); left > 0 {
		var stop context.CancelFunc
		call, stop = context.WithTimeoutCause(call, left, errBudget)
		defer stop()
	}
	t.Notify = func(a Activity) {
		if reached, _ := overBudget(with(run, a.Usage)); reached != "" {
			cancel(errBudget)
		}
	}
	r, err := agent.Run(call, t)
	switch {
	case r.Limit == "budget", err != nil && errors.Is(context.Cause(call), errBudget):
		reached, _ := overBudget(with(run, r.Usage))
		if reached == "" && r.Limit != "budget" {
			reached = LimitTime
		}
		err = &OverBudget{cmp.Or(reached, LimitUSD), metadata.Because("budget_used_in_call")}
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	r.Text, r.Structured = e.mask(r.Text), e.maskAnswer(r.Structured)
	return r, errors.Join(err, e.unchanged(context.WithoutCancel(ctx), run, at))
}

// unchanged takes the tree back to the last commit, but for the record.
func (e *Engine) unchanged(ctx context.Context, run metadata.Run, at Decision) error {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return err
	}
	if s := e.boundary(run, at).sort(changes); len(s.undo) > 0 {
		return e.Tree.Restore(ctx, s.undo...)
	}
	return nil
}
