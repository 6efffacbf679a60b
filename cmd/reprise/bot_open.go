package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// opening says which run to open, with what the first /run or o asks for.
func (b *bot) opening(o *order) opening {
	out := opening{
		repo: b.workFolder(), id: b.id(), online: true, pipeline: b.in.pipeline, language: b.in.language, agent: b.in.agent, model: b.in.model,
		sandbox: b.in.sandbox, more: phases.Allowance{USD: b.in.usd}, token: b.in.token, base: b.in.base, protect: b.in.protect, push: new(bool), theirs: true,
	}
	*out.push = !b.in.dry
	if b.t.issue != nil {
		out.given = &issue{
			ID: b.id(), Title: oneLine(b.t.issue.Title), Body: trimLines(b.t.issue.Body), URL: b.t.issue.URL,
			Author: b.t.issue.Author, Labels: b.t.issue.Labels, Type: b.t.issue.Type,
		}
	}
	if o == nil {
		return out
	}
	out.part = pipelines.Part{From: o.From, Until: o.Until, Only: o.Only, Skip: o.Skip}
	if o.Pipeline != "" {
		out.pipeline = o.Pipeline
	}
	if o.Agent != "" {
		out.agent = o.Agent
	}
	out.more = o.More
	out.more.USD = cmp.Or(o.More.USD, b.in.usd)
	return out
}

// workFolder is the checkout.
func (b *bot) workFolder() string {
	if dir := b.env.getenv("GITHUB_WORKSPACE"); dir != "" {
		return dir
	}
	return "."
}

// open opens the run. What it returns besides an error is how the job ends at
// once: because there is no run, or because another job works on it.
func (b *bot) open(ctx context.Context) (*jobEnd, error) {
	first := b.firstRun(ctx)
	w, err := openWorkspace(ctx, b.env, b.opening(first))
	var none *noRunError
	if errors.As(err, &none) || err == nil && w.fresh && first == nil {
		if err == nil {
			err = w.close()
		}
		b.w = nil
		end := b.refuseAll(ctx, denial{Code: metadata.NoRun, By: b.t.by, What: firstLine(b.t.text)})
		return &end, err
	}
	if err != nil {
		return nil, err
	}
	b.w = w
	if no := b.held(ctx, w.run); no != nil {
		return &jobEnd{decision: ignored, denial: *no}, nil
	}
	b.engine, err = b.newEngine(b.opening(first))
	if err != nil {
		return nil, err
	}
	b.orphan = w.run.Execution.Lease != nil
	b.engine.Left = b.orphan
	if !w.fresh {
		return nil, nil
	}
	return nil, b.start(ctx, *first)
}

// firstRun is the first /run that waits and that somebody with the right has
// given: a run that does not exist begins as it says.
func (b *bot) firstRun(ctx context.Context) *order {
	if b.t.comment == nil && b.t.asked.Command.Name == "run" {
		return &order{slashCommand: b.t.asked.Command, by: b.t.by, at: b.env.now()}
	}
	for _, c := range b.pending(metadata.Run{}) {
		if c.asked.Outcome != slashAsked || c.asked.Command.Name != "run" || c.comment.Edited() {
			continue
		}
		if who := c.comment.Author.Login; b.may(ctx, c.asker(), c.asked.role()) == nil {
			return &order{slashCommand: c.asked.Command, by: who, comment: c.comment.ID, url: c.comment.URL, at: b.env.now()}
		}
	}
	return nil
}

// closed says why no work is done on this issue, or nothing. The job may have
// waited long, so that is asked now; what the issue says is taken from the
// event, as it read for the one who asks.
func (b *bot) closed(ctx context.Context) *denial {
	is, err := b.gh.Issue(ctx, b.owner, b.name, b.t.number)
	if err == nil && b.t.issue == nil {
		b.t.issue = &is
	}
	no := &denial{Code: metadata.StaleEvent, By: b.t.by, What: firstLine(b.t.text)}
	var problem *github.Error
	switch {
	case errors.As(err, &problem) && (problem.Kind == github.NotFound || problem.Kind == github.Gone):
		no.Why = phases.WhyOf(err)
	case err != nil:
		no.Code, no.Why = apiProblem(err), phases.WhyOf(err)
	case is.State == "closed":
		no.Why = metadata.Because("issue_closed")
	case is.Locked:
		no.Why = metadata.Because("issue_locked")
	case is.IsPull:
		no.Code, no.Why = metadata.NoTrigger, metadata.Because("is_a_pull", "number", b.t.number)
	default:
		return nil
	}
	return no
}

// newEngine wires the engine to the issue.
func (b *bot) newEngine(o opening) (*phases.Engine, error) {
	e, err := b.w.engine(b.env, o, b.reporter())
	if err != nil {
		return nil, err
	}
	e.Steering, e.Owner, e.Hold = b, b.me, longest(b.w.plan)
	return e, nil
}

// longest is more than a step of this plan may take, so that a lease which
// nobody renews is one that nobody holds.
func longest(plan *pipelines.Pipeline) time.Duration {
	most := time.Duration(0)
	for i := range plan.Phases {
		p, checks := &plan.Phases[i], time.Duration(0)
		for _, c := range p.Checks {
			checks += time.Duration(c.Timeout)
		}
		for _, s := range []pipelines.Step{p.Execute, p.Review, p.Revise} {
			most = max(most, time.Duration(s.Timeout), checks)
		}
		most = max(most, time.Duration(p.Retry.Cap))
	}
	return most + 5*time.Minute
}
