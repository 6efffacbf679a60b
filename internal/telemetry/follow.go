package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
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

// checker follows the checks of phases.
type checker struct {
	engine.Checker
	f *follower
}

// Check runs a check.
func (c checker) Check(ctx context.Context, dir string, check pipelines.Check) (metadata.CheckResult, error) {
	ctx, s := c.f.start(ctx, "check "+check.Name)
	r, err := c.Checker.Check(ctx, dir, check)
	s.SetAttributes(attribute.Bool("reprise.check.passed", r.Pass), attribute.Int("process.exit.code", r.ExitCode))
	if !r.Pass {
		s.SetStatus(codes.Error, "")
	}
	end(s, err)
	return r, err
}

// agent follows the calls of an agent.
type agent struct {
	engine.Agent
	f         *follower
	name, use string
}

// Run carries out a task.
func (a agent) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	ctx, s := a.f.start(process.WithinPhase(ctx, t.Phase), "invoke_agent "+a.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.provider.name", provider(a.use)),
		attribute.String("gen_ai.agent.name", a.name), attribute.String("reprise.agent.program", a.use),
	))
	r, err := a.Agent.Run(ctx, t)
	if s.IsRecording() {
		a.tools(ctx, t.Attempt)
	}
	for name, value := range map[string]string{"gen_ai.request.model": t.Model, "gen_ai.response.model": r.Model, "gen_ai.conversation.id": r.Session} {
		if value != "" {
			s.SetAttributes(attribute.String(name, value))
		}
	}
	s.SetAttributes(
		attribute.Int64("gen_ai.usage.input_tokens", r.Usage.InputTokens+r.Usage.CachedTokens), attribute.Int64("gen_ai.usage.output_tokens", r.Usage.OutputTokens),
		attribute.Int64("gen_ai.usage.cache_read.input_tokens", r.Usage.CachedTokens), attribute.Float64("reprise.cost.usd", r.Usage.USD),
	)
	if err != nil {
		s.SetAttributes(attribute.String("error.type", "agent"))
	}
	end(s, err)
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
	entries, err := agents.ReadTranscript(a.f.folder, attempt)
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
		case e.Kind == agents.Used:
			_, s := a.f.tracer.Start(ctx, "execute_tool "+e.Tool, trace.WithTimestamp(e.At), trace.WithAttributes(
				attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", e.Tool),
				attribute.String("reprise.tool.target", text.Cut(text.Flat(e.Text), 200)),
			))
			open = append(open, use{s, e.At})
		case e.Kind == agents.Back && len(open) > 0:
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
	inner http.RoundTripper
	f     *follower
}

// RoundTrip sends a request.
func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	_, s := w.f.start(req.Context(), req.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", req.Method), attribute.String("server.address", req.URL.Hostname()), attribute.String("url.path", req.URL.Path),
	))
	resp, err := w.inner.RoundTrip(req)
	end(s, err)
	return resp, err
}
