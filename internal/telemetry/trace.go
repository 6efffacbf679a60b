// Package telemetry sends what a run does to a collector of OpenTelemetry, where the
// environment names one: a run is a trace, with spans for phases, steps, calls of agents
// and their tools, and events for checks.
//
// It only listens to what is reported. What is sent is masked, and it is sent beside the work: a
// collector that is slow or down costs a run at most a few seconds at its end.
package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// follower makes the trace of what this process does for one run.
type follower struct {
	exporter *exporter
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	ids      *ids
	began    time.Time
	mu       sync.Mutex
	plan     *pipelines.Pipeline
	run      metadata.Run
	root     trace.Span            // nil as long as no run is known
	phases   map[string]trace.Span // that are at work, by name
	folder   string                // of transcripts
}

// lastWait is how long the end of a process waits for the collector.
const lastWait = 3 * time.Second

// mostOfText is how much of a text is sent, in cells.
const mostOfText = 1000

type key struct{}

// Begin has runs followed whose engines are given to Follow with the context that it gives, if
// the environment names a collector. End sends what is left. It says once on standard
// error if a collector could not be told.
func Begin(ctx context.Context, env environ.Env) (_ context.Context, end func()) {
	warn := func(err error) {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", env.Finder().Mask(text.Flat(err.Error()))) // nobody else can be told
	}
	s, err := settingsOf(env.Getenv, environ.VersionText())
	if err != nil {
		warn(fmt.Errorf("no traces are sent: %w", err))
	}
	if s.endpoint == "" {
		return ctx, func() {}
	}
	f := &follower{exporter: newExporter(s, func(s string) string { return text.Cut(env.Finder().Mask(s), mostOfText) }), ids: &ids{}, began: time.Now(), phases: map[string]trace.Span{}}
	f.provider = sdk.NewTracerProvider(sdk.WithBatcher(f.exporter), sdk.WithIDGenerator(f.ids), sdk.WithResource(resource.NewSchemaless(s.resource...)))
	f.tracer = f.provider.Tracer("github.com/reprise-ci/reprise", trace.WithInstrumentationVersion(environ.Version))
	return context.WithValue(ctx, key{}, f), func() {
		f.mu.Lock()
		f.endRun()
		f.mu.Unlock()
		wait, stop := context.WithTimeout(context.Background(), min(lastWait, s.timeout))
		defer stop()
		err := f.provider.Shutdown(wait)
		if err = cmp.Or(f.exporter.failure(), err); err != nil {
			warn(fmt.Errorf("traces could not be sent to %s, or not all: %w", s.endpoint, err))
		}
	}
}

// Follow has an engine followed that is about to work on a run, if Begin has made the context.
func Follow(ctx context.Context, e *engine.Engine, run metadata.Run) {
	f, ok := ctx.Value(key{}).(*follower)
	if !ok {
		return
	}
	f.beginRun(run)
	f.plan, f.folder = e.Plan, agents.TranscriptsFolder(filepath.Dir(e.Tree.Dir()))
	e.Report = reporter{e.Report, f}
}

// reporter follows what an engine reports.
type reporter struct {
	engine.Reporter
	f *follower
}

// Report takes note of what came of a step, and passes it on.
func (r reporter) Report(e engine.Event) {
	if e.Done != nil {
		r.f.done(e)
	}
	r.Reporter.Report(e)
}

// beginRun begins the span of the run, unless that is its own already.
func (f *follower) beginRun(run metadata.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.root != nil && f.run.Execution.ID == run.Execution.ID {
		return
	}
	f.endRun()
	f.ids.of(run.Execution.ID)
	f.run = run
	f.root = f.start(nil, "run "+run.Pipeline.Name, f.began,
		attribute.String("reprise.issue", run.IssueNumber), attribute.String("reprise.issue.title", run.IssueTitle),
		attribute.String("reprise.pipeline", run.Pipeline.Name), attribute.String("reprise.run.id", run.Execution.ID),
		attribute.String("vcs.ref.head.name", run.BranchName), attribute.String("vcs.repository.name", run.Repository))
}

// endRun ends what is open. It is called locked.
func (f *follower) endRun() {
	for name := range f.phases {
		f.endPhase(name)
	}
	if f.root == nil {
		return
	}
	f.root.SetAttributes(
		attribute.String("reprise.status", string(f.run.Status)), attribute.Int("reprise.attempts", len(f.run.Attempts)),
		attribute.Int("reprise.rollbacks", len(f.run.RollbackHistory)), attribute.Float64("reprise.cost.usd", f.run.Cost.USD),
	)
	if stop := f.run.Stop; stop != nil {
		f.root.SetAttributes(attribute.String("reprise.reason_code", string(stop.Code)))
	}
	if f.run.Status == metadata.Failed {
		f.root.SetStatus(codes.Error, "")
	}
	f.root.End()
	f.root = nil
}

// start begins a span in another one, or with nil that of the run.
func (f *follower) start(in trace.Span, name string, at time.Time, about ...attribute.KeyValue) trace.Span {
	_, s := f.tracer.Start(trace.ContextWithSpan(context.Background(), in), name, trace.WithTimestamp(at), trace.WithAttributes(about...))
	return s
}

// done makes the span of a step, with what came of it. That of its phase begins with its first
// step, and ends when the phase is not at work any more.
func (f *follower) done(e engine.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, back := range e.Run.RollbackHistory[min(len(f.run.RollbackHistory), len(e.Run.RollbackHistory)):] {
		f.root.AddEvent("rollback", trace.WithAttributes(
			attribute.String("reprise.rollback.to", text.Join(" ", back.ToPhase, string(back.ToStep))), attribute.String("reprise.rollback.reason", back.Reason),
		))
	}
	f.run = e.Run
	if name := e.Of.Phase; !e.Of.Final() {
		if f.phases[name] == nil {
			f.phases[name] = f.start(f.root, "phase "+name, e.Done.At.Add(-e.Done.Duration), attribute.String("reprise.phase", name))
		}
		f.step(f.phases[name], e)
	}
	for name := range f.phases {
		if rec := e.Run.Phase(name); rec == nil || rec.Status != metadata.PhaseInProgress || e.Run.Status != metadata.Running {
			f.endPhase(name)
		}
	}
}

func (f *follower) endPhase(name string) {
	f.phases[name].End()
	delete(f.phases, name)
}

// step makes the span of a step that is over, with that of the call of its agent.
func (f *follower) step(in trace.Span, e engine.Event) {
	o, d, at := *e.Done, e.Of, len(e.Run.Attempts)
	for _, a := range slices.Backward(e.Run.Attempts) { // others may have begun meanwhile
		if a.Phase == d.Phase && a.Step == d.Step() {
			at = a.N
			break
		}
	}
	s := f.start(in, d.Phase+" "+string(d.Do), o.At.Add(-o.Duration),
		attribute.String("reprise.phase", d.Phase), attribute.String("reprise.step", string(d.Do)),
		attribute.String("reprise.why", d.Why.In(prompts.Words("en"))), attribute.Bool("reprise.resumed", d.Resume > 0),
		attribute.String("reprise.status", string(o.Status)), attribute.Int("reprise.attempt", at))
	defer s.End(trace.WithTimestamp(o.At))
	if o.Code != "" {
		s.SetAttributes(attribute.String("reprise.reason_code", string(o.Code)))
	}
	if o.Verdict != nil {
		s.SetAttributes(attribute.String("reprise.verdict", string(o.Verdict.Verdict)))
	}
	if o.Written != nil {
		s.SetAttributes(attribute.Int("reprise.files", len(o.Written.Files)), attribute.Int("reprise.lines", o.Written.Diff.Lines))
	}
	for _, c := range o.Checks {
		s.AddEvent("check "+c.Name, trace.WithTimestamp(o.At), trace.WithAttributes(
			attribute.Bool("reprise.check.passed", c.Pass), attribute.Int("process.exit.code", c.ExitCode), attribute.Int64("reprise.check.duration_ms", c.DurationMS),
		))
	}
	if o.Status == metadata.Errored {
		s.SetAttributes(attribute.String("error.type", cmp.Or(string(o.Class), "error")))
	}
	if o.Status != metadata.Succeeded {
		s.SetStatus(codes.Error, o.Why.In(prompts.Words("en")))
	}
	if d.Agent != "" && d.Agent != metadata.Given {
		f.call(s, e.Run, d, o, at)
	}
}

// call makes the span of a call, under the names that OpenTelemetry has.
func (f *follower) call(in trace.Span, run metadata.Run, d phases.Decision, o phases.Outcome, attempt int) {
	use := f.plan.Agents[d.Agent].Use
	ctx, s := f.tracer.Start(trace.ContextWithSpan(context.Background(), in), "invoke_agent "+d.Agent, trace.WithTimestamp(o.At.Add(-o.Duration)),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.provider.name", provider(use)),
			attribute.String("gen_ai.agent.name", d.Agent), attribute.String("reprise.agent.program", use),
			attribute.Int64("gen_ai.usage.input_tokens", o.Usage.InputTokens+o.Usage.CachedTokens), attribute.Int64("gen_ai.usage.output_tokens", o.Usage.OutputTokens),
			attribute.Int64("gen_ai.usage.cache_read.input_tokens", o.Usage.CachedTokens), attribute.Float64("reprise.cost.usd", o.Usage.USD),
		))
	for name, value := range map[string]string{"gen_ai.request.model": view.ModelOf(phases.On(f.plan, run), d), "gen_ai.response.model": o.Model, "gen_ai.conversation.id": o.Session} {
		if value != "" {
			s.SetAttributes(attribute.String(name, value))
		}
	}
	if o.Status == metadata.Errored {
		s.SetAttributes(attribute.String("error.type", "agent"))
		s.SetStatus(codes.Error, o.Why.In(prompts.Words("en")))
	}
	f.tools(ctx, use, attempt)
	s.End(trace.WithTimestamp(o.At))
}

// provider is the name that OpenTelemetry has for whom a program asks; for one of
// somebody's own, the word that pipelines have for it.
func provider(use string) string {
	return cmp.Or(map[string]string{"claude": "anthropic", "codex": "openai", "gemini": "gcp.gemini", "opencode": "openai", "qwen": "openai", "copilot": "openai"}[use], use)
}

// mostTools is how many uses of tools of a call are told.
const mostTools = 500

// tools tells which tools an agent has used, as its transcript has it.
func (f *follower) tools(ctx context.Context, agent string, attempt int) {
	entries, err := agents.ReadTranscript(f.folder, attempt)
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
			_, s := f.tracer.Start(ctx, "execute_tool "+e.Tool, trace.WithTimestamp(e.At), trace.WithAttributes(
				attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", e.Tool),
				attribute.String("reprise.tool.target", text.Cut(text.Flat(e.Text), 200)),
			))
			open = append(open, use{s, e.At})
		case e.Kind == agents.Back && len(open) > 0:
			at := len(open) - 1
			if agent == "claude" { // several at once, answered in their order
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

// ids gives all spans of a run the same trace, whichever process or machine they are of.
type ids struct {
	mu    sync.Mutex
	trace trace.TraceID
}

func (i *ids) of(run string) {
	sum := sha256.Sum256([]byte(run))
	i.mu.Lock()
	defer i.mu.Unlock()
	copy(i.trace[:], sum[:])
}

// NewIDs gives the ids of a span that has none above it.
func (i *ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.trace, i.NewSpanID(ctx, i.trace)
}

// NewSpanID gives the id of a span.
func (i *ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		_, _ = rand.Read(id[:]) // it never fails
	}
	return id
}
