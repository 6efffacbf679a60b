package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/transcript"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// reporter follows what an engine reports.
type reporter struct {
	engine.Reporter
	f *follower
}

// Report takes note of an event, and passes it on.
func (r reporter) Report(e engine.Event) {
	switch {
	case e.Decision != nil && !e.Decision.Final():
		r.f.beginStep(e)
	case e.Done != nil:
		r.f.done(e)
	}
	r.Reporter.Report(e)
}

// beginStep begins the span of a step, and that of its phase where it is another one.
func (f *follower) beginStep(e engine.Event) {
	d := *e.Decision
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endStep()
	if f.at != d.Phase {
		f.endPhase()
	}
	if f.phase == nil {
		_, f.phase = f.tracer.Start(trace.ContextWithSpan(context.Background(), f.root), "phase "+d.Phase, trace.WithAttributes(attribute.String("reprise.phase", d.Phase)))
		f.at = d.Phase
	}
	_, f.step = f.tracer.Start(trace.ContextWithSpan(context.Background(), f.phase), d.Phase+" "+string(d.Do), trace.WithAttributes(
		attribute.String("reprise.phase", d.Phase), attribute.String("reprise.step", string(d.Do)),
		attribute.String("reprise.why", d.Why.In(prompts.Words("en"))), attribute.Bool("reprise.resumed", d.Resume > 0),
	))
}

// done ends the span of a step, with what came of it.
func (f *follower) done(e engine.Event) {
	o := *e.Done
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, back := range e.Run.RollbackHistory[min(len(f.run.RollbackHistory), len(e.Run.RollbackHistory)):] {
		f.root.AddEvent("rollback", trace.WithAttributes(
			attribute.String("reprise.rollback.to", text.Join(" ", back.ToPhase, string(back.ToStep))), attribute.String("reprise.rollback.reason", back.Reason),
		))
	}
	f.run = e.Run
	if f.step != nil && !e.Of.Final() {
		f.step.SetAttributes(attribute.String("reprise.status", string(o.Status)), attribute.Int("reprise.attempt", len(e.Run.Attempts)))
		if o.Code != "" {
			f.step.SetAttributes(attribute.String("reprise.reason_code", string(o.Code)))
		}
		if o.Verdict != nil {
			f.step.SetAttributes(attribute.String("reprise.verdict", string(o.Verdict.Verdict)))
		}
		if o.Written != nil {
			f.step.SetAttributes(attribute.Int("reprise.files", len(o.Written.Files)), attribute.Int("reprise.lines", o.Written.Diff.Lines))
		}
		if o.Status == metadata.Errored {
			f.step.SetAttributes(attribute.String("error.type", cmp.Or(string(o.Class), "error")))
		}
		if o.Status != metadata.Succeeded {
			f.step.SetStatus(codes.Error, o.Why.In(prompts.Words("en")))
		}
	}
	f.endStep()
	if e.Run.Status != metadata.Running {
		f.endPhase()
	}
}

// checker follows the checks of phases.
type checker struct {
	engine.Checker
	f *follower
}

// Check runs a check.
func (c checker) Check(ctx context.Context, dir string, check pipelines.Check) (metadata.CheckResult, error) {
	ctx, s, ok := c.f.start(ctx, "check "+check.Name)
	r, err := c.Checker.Check(ctx, dir, check)
	if !ok {
		return r, err
	}
	s.SetAttributes(attribute.Bool("reprise.check.passed", r.Pass), attribute.Int("process.exit.code", r.ExitCode))
	if fail(s, err); err == nil && !r.Pass {
		s.SetStatus(codes.Error, "")
	}
	s.End()
	return r, err
}

// agent follows the calls of an agent.
type agent struct {
	engine.Agent
	f         *follower
	name, use string
	folder    string // of transcripts
}

// Run carries out a task.
func (a agent) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	ctx, s, ok := a.f.start(ctx, "invoke_agent "+a.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.provider.name", provider(a.use)),
		attribute.String("gen_ai.agent.name", a.name), attribute.String("reprise.agent.program", a.use),
	))
	r, err := a.Agent.Run(ctx, t)
	if !ok {
		return r, err
	}
	a.tools(ctx, t.Attempt)
	for name, value := range map[string]string{"gen_ai.request.model": t.Model, "gen_ai.response.model": r.Model, "gen_ai.conversation.id": r.Session} {
		if value != "" {
			s.SetAttributes(attribute.String(name, value))
		}
	}
	s.SetAttributes(
		attribute.Int64("gen_ai.usage.input_tokens", r.Usage.InputTokens+r.Usage.CachedTokens), attribute.Int64("gen_ai.usage.output_tokens", r.Usage.OutputTokens),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", r.Usage.CachedTokens), attribute.Float64("reprise.cost.usd", r.Usage.USD),
	)
	if fail(s, err); err != nil {
		s.SetAttributes(attribute.String("error.type", "agent"))
	}
	s.End()
	return r, err
}

// provider is the name that OpenTelemetry has for whom a program asks; for one of
// somebody's own, the word that pipelines have for it.
func provider(use string) string {
	return cmp.Or(map[string]string{"claude": "anthropic", "codex": "openai", "gemini": "gcp.gemini"}[use], use)
}

// mostTools is how many uses of tools of a call are told.
const mostTools = 500

// tools tells which tools an agent has used, as its transcript has it: nothing of it is
// looked at while it works.
func (a agent) tools(ctx context.Context, attempt int) {
	entries, err := transcript.ReadAll(a.folder, attempt)
	if err != nil {
		return // what is not there cannot be told
	}
	type use struct {
		span trace.Span
		from time.Time
	}
	var open []use
	for _, e := range entries[:min(len(entries), 4*mostTools)] {
		switch {
		case e.Kind == transcript.Used:
			_, s := a.f.tracer.Start(ctx, "execute_tool "+e.Tool, trace.WithTimestamp(e.At), trace.WithAttributes(
				attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", e.Tool),
				attribute.String("reprise.tool.target", text.Cut(text.Flat(e.Text), 200)),
			))
			open = append(open, use{s, e.At})
		case e.Kind == transcript.Back && len(open) > 0:
			at := len(open) - 1
			if a.use == "claude" { // several at once, answered in their order
				at = 0
			}
			if e.Bad {
				open[at].span.SetStatus(codes.Error, "")
			}
			open[at].span.End(trace.WithTimestamp(e.At))
			open = append(open[:at], open[at+1:]...)
		}
	}
	for _, u := range open { // how long it took is not known
		u.span.End(trace.WithTimestamp(u.from))
	}
}

// watched follows requests to a forge.
type watched struct {
	inner http.RoundTripper // nil: the usual one
	f     *follower
}

// RoundTrip sends a request.
func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	inner := w.inner
	if inner == nil {
		inner = http.DefaultTransport
	}
	_, end := w.f.watch(req.Context(), req.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", req.Method), attribute.String("server.address", req.URL.Hostname()), attribute.String("url.path", req.URL.Path),
	))
	resp, err := inner.RoundTrip(req)
	end(err)
	return resp, err
}
