// Package telemetry sends what a run does to a collector of OpenTelemetry, where the
// environment names one: a run is a trace, with spans for phases, steps, calls of agents
// and their tools, checks, commands of git and requests to GitHub.
//
// It only watches. What is sent is masked, and it is sent beside the work: a collector
// that is slow or down costs a run at most a few seconds at its end.
package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// follower makes the trace of what this process does for one run.
type follower struct {
	exporter *exporter
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	ids      *ids
	began    time.Time
	mu       sync.Mutex
	run      metadata.Run
	root     trace.Span        // nil as long as no run is known
	phases   map[string]*phase // that are at work, by name
	folder   string            // of transcripts
}

// lastWait is how long the end of a process waits for the collector.
const lastWait = 3 * time.Second

type key struct{}

// Begin has what is done with the context and the environment that it gives followed, if
// the environment names a collector. End sends what is left. It says once on standard
// error if a collector could not be told.
func Begin(ctx context.Context, env environ.Env) (_ context.Context, _ environ.Env, end func()) {
	warn := func(err error) {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", env.Finder().Mask(text.Flat(err.Error()))) // nobody else can be told
	}
	s, err := settingsOf(env.Getenv, environ.VersionText())
	if err != nil {
		warn(fmt.Errorf("no traces are sent: %w", err))
	}
	if s.endpoint == "" {
		return ctx, env, func() {}
	}
	f := &follower{exporter: newExporter(s, func(s string) string { return text.Cut(env.Finder().Mask(s), mostOfText) }), ids: &ids{}, began: time.Now(), phases: map[string]*phase{}}
	f.provider = sdk.NewTracerProvider(sdk.WithBatcher(f.exporter), sdk.WithIDGenerator(f.ids), sdk.WithResource(resource.NewSchemaless(s.resource...)))
	f.tracer = f.provider.Tracer("github.com/reprise-ci/reprise", trace.WithInstrumentationVersion(environ.Version))
	client := http.Client{}
	if env.Http != nil {
		client = *env.Http
	}
	client.Transport = watched{cmp.Or(client.Transport, http.DefaultTransport), f}
	env.Http = &client
	return context.WithValue(process.WithFollower(ctx, f.follow), key{}, f), env, func() {
		f.mu.Lock()
		f.endRun()
		f.mu.Unlock()
		wait, stop := context.WithTimeout(context.Background(), min(lastWait, s.timeout))
		defer stop()
		err := f.provider.Shutdown(wait)
		if failed := f.exporter.failure(); failed != nil {
			err = failed
		}
		if err != nil {
			warn(fmt.Errorf("traces could not be sent to %s, or not all: %w", s.endpoint, err))
		}
	}
}

// mostOfText is how much of a text is sent, in cells.
const mostOfText = 1000

// Follow has an engine followed that is about to work on a run, if somebody follows what
// is done with the context.
func Follow(ctx context.Context, e *engine.Engine, run metadata.Run) {
	f, ok := ctx.Value(key{}).(*follower)
	if !ok {
		return
	}
	f.beginRun(run)
	f.folder = agents.TranscriptsFolder(filepath.Dir(e.Tree.Dir()))
	e.Report = reporter{e.Report, f}
	f.wrap(e)
}

// Beside has an engine followed that works for another one that is, with agents and checks
// of its own.
func Beside(ctx context.Context, e *engine.Engine) {
	if f, ok := ctx.Value(key{}).(*follower); ok {
		f.wrap(e)
	}
}

// wrap follows the agents and the checks of an engine.
func (f *follower) wrap(e *engine.Engine) {
	e.Checker = checker{e.Checker, f}
	if e.Installer != nil {
		e.Installer = checker{e.Installer, f}
	}
	inner, plan := e.Agent, e.Plan
	e.Agent = func(name string) (engine.Agent, error) {
		a, err := inner(name)
		if err != nil {
			return nil, err
		}
		return agent{a, f, name, plan.Agents[name].Use}, nil
	}
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
	_, f.root = f.tracer.Start(context.Background(), "run "+run.Pipeline.Name, trace.WithNewRoot(), trace.WithTimestamp(f.began), trace.WithAttributes(
		attribute.String("reprise.issue", run.IssueNumber), attribute.String("reprise.issue.title", run.IssueTitle),
		attribute.String("reprise.pipeline", run.Pipeline.Name), attribute.String("reprise.run.id", run.Execution.ID),
		attribute.String("vcs.ref.head.name", run.BranchName), attribute.String("vcs.repository.name", run.Repository),
	))
}

// endRun ends what is open. It is called locked.
func (f *follower) endRun() {
	f.endPhases()
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

// start begins a span below that of the context or, where that has none, below what is
// done now. As long as no run is known it is one of which nothing is sent.
func (f *follower) start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		f.mu.Lock()
		now := f.now(ctx)
		f.mu.Unlock()
		if now == nil {
			return ctx, trace.SpanFromContext(ctx)
		}
		ctx = trace.ContextWithSpan(ctx, now)
	}
	return f.tracer.Start(ctx, name, options...)
}

// follow is the follower of work that only has a name.
func (f *follower) follow(ctx context.Context, name string) (context.Context, func(error)) {
	ctx, s := f.start(ctx, name)
	return ctx, func(err error) { end(s, err) }
}

// end ends a span, and notes an error if there is one.
func end(s trace.Span, err error) {
	if err != nil {
		s.SetStatus(codes.Error, err.Error())
	}
	s.End()
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
