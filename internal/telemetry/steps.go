package telemetry

import (
	"cmp"
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// phase is a phase at work, or a part of one.
type phase struct {
	span trace.Span
	step trace.Span // nil between two
}

func (p *phase) endStep() {
	if p.step != nil {
		p.step.End()
		p.step = nil
	}
}

// beginStep begins the span of a step, and that of its phase where it is another one.
func (f *follower) beginStep(e engine.Event) {
	d := *e.Decision
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, other := range f.phases {
		rec := e.Run.Phase(name)
		if beside := rec != nil && rec.Lane != nil; name != d.Phase && other.step == nil && !beside {
			f.endPhase(name) // the run has gone on without an end of it
		}
	}
	p := f.phases[d.Phase]
	if p == nil {
		p = &phase{}
		_, p.span = f.tracer.Start(trace.ContextWithSpan(context.Background(), f.root), "phase "+d.Phase, trace.WithAttributes(attribute.String("reprise.phase", d.Phase)))
		f.phases[d.Phase] = p
	}
	p.endStep()
	_, p.step = f.tracer.Start(trace.ContextWithSpan(context.Background(), p.span), d.Phase+" "+string(d.Do), trace.WithAttributes(
		attribute.String("reprise.phase", d.Phase), attribute.String("reprise.step", string(d.Do)),
		attribute.String("reprise.why", d.Why.In(prompts.Words("en"))), attribute.Bool("reprise.resumed", d.Resume > 0),
	))
}

// done ends the span of a step, with what came of it.
func (f *follower) done(e engine.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, back := range e.Run.RollbackHistory[min(len(f.run.RollbackHistory), len(e.Run.RollbackHistory)):] {
		f.root.AddEvent("rollback", trace.WithAttributes(
			attribute.String("reprise.rollback.to", text.Join(" ", back.ToPhase, string(back.ToStep))), attribute.String("reprise.rollback.reason", back.Reason),
		))
	}
	f.run = e.Run
	if p := f.phases[e.Of.Phase]; p != nil && p.step != nil {
		if !e.Of.Final() {
			noteOutcome(p.step, e)
		}
		p.endStep()
	}
	if rec := e.Run.Phase(e.Of.Phase); rec != nil && rec.Status == metadata.PhaseCompleted {
		f.endPhase(e.Of.Phase)
	}
	if e.Run.Status != metadata.Running {
		f.endPhases()
	}
}

// noteOutcome notes what came of a step.
func noteOutcome(s trace.Span, e engine.Event) {
	o := *e.Done
	attempt := len(e.Run.Attempts)
	for _, a := range slices.Backward(e.Run.Attempts) { // others may have begun meanwhile
		if a.Phase == e.Of.Phase && a.Step == e.Of.Step() {
			attempt = a.N
			break
		}
	}
	s.SetAttributes(attribute.String("reprise.status", string(o.Status)), attribute.Int("reprise.attempt", attempt))
	if o.Code != "" {
		s.SetAttributes(attribute.String("reprise.reason_code", string(o.Code)))
	}
	if o.Verdict != nil {
		s.SetAttributes(attribute.String("reprise.verdict", string(o.Verdict.Verdict)))
	}
	if o.Written != nil {
		s.SetAttributes(attribute.Int("reprise.files", len(o.Written.Files)), attribute.Int("reprise.lines", o.Written.Diff.Lines))
	}
	if o.Status == metadata.Errored {
		s.SetAttributes(attribute.String("error.type", cmp.Or(string(o.Class), "error")))
	}
	if o.Status != metadata.Succeeded {
		s.SetStatus(codes.Error, o.Why.In(prompts.Words("en")))
	}
}

// endPhase and endPhases end spans of phases. They are called locked.
func (f *follower) endPhase(name string) {
	if p := f.phases[name]; p != nil {
		p.endStep()
		p.span.End()
		delete(f.phases, name)
	}
}

func (f *follower) endPhases() {
	for name := range f.phases {
		f.endPhase(name)
	}
}

// now gives the span in which work lies: that of its phase or, where it does not say which
// that is, of the only one at work. It is called locked.
func (f *follower) now(ctx context.Context) trace.Span {
	p := f.phases[process.SpanPhase(ctx)]
	if process.SpanPhase(ctx) == "" && len(f.phases) == 1 {
		for _, only := range f.phases {
			p = only
		}
	}
	switch {
	case p == nil:
		return f.root
	case p.step == nil:
		return p.span
	}
	return p.step
}
