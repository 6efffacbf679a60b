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
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

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
	*exporter
	began  time.Time
	mu     sync.Mutex
	plan   *pipelines.Pipeline
	run    metadata.Run
	root   *span            // nil as long as no run is known
	phases map[string]*span // that are at work, by name
	folder string           // of transcripts
}

// mostOfText is how much of a text is sent, in cells.
const mostOfText = 1000

type key struct{}

// Begin has runs followed whose engines are given to Follow with its context, if the environment names a collector. End
// sends what is left, and says once on standard error if a collector could not be told.
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
	mask := func(s string) string { return text.Cut(env.Finder().Mask(s), mostOfText) }
	f := &follower{exporter: newExporter(context.WithoutCancel(ctx), s, mask), began: time.Now(), phases: map[string]*span{}}
	return context.WithValue(ctx, key{}, f), func() {
		f.mu.Lock()
		f.endRun()
		f.mu.Unlock()
		if err := f.close(); err != nil {
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
	id := sha256.Sum256([]byte(run.Execution.ID))
	f.run, f.trace = run, hex.EncodeToString(id[:16])
	f.root = f.start(nil, "run "+run.Pipeline.Name, f.began,
		"reprise.issue", run.IssueNumber, "reprise.issue.title", run.IssueTitle, "reprise.pipeline", run.Pipeline.Name,
		"reprise.run.id", run.Execution.ID, "vcs.ref.head.name", run.BranchName, "vcs.repository.name", run.Repository)
}

// endRun ends what is open. It is called locked.
func (f *follower) endRun() {
	for name := range f.phases {
		f.endPhase(name)
	}
	if f.root == nil {
		return
	}
	f.root.set("reprise.status", f.run.Status, "reprise.attempts", len(f.run.Attempts), "reprise.rollbacks", len(f.run.RollbackHistory), "reprise.cost.usd", f.run.Cost.USD)
	if stop := f.run.Stop; stop != nil {
		f.root.set("reprise.reason_code", stop.Code)
	}
	if f.run.Status == metadata.Failed {
		f.root.fail("")
	}
	f.root.end(time.Now())
	f.root = nil
	f.flush()
}

// done makes the span of a step, with what came of it. That of its phase begins with its first
// step, and ends when the phase is not at work any more.
func (f *follower) done(e engine.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, back := range e.Run.RollbackHistory[min(len(f.run.RollbackHistory), len(e.Run.RollbackHistory)):] {
		f.root.event("rollback", time.Now(), "reprise.rollback.to", text.Join(" ", back.ToPhase, string(back.ToStep)), "reprise.rollback.reason", back.Reason)
	}
	f.run = e.Run
	if name := e.Of.Phase; !e.Of.Final() {
		if f.phases[name] == nil {
			f.phases[name] = f.start(f.root, "phase "+name, e.Done.At.Add(-e.Done.Duration), "reprise.phase", name)
		}
		f.step(f.phases[name], e)
	}
	for name := range f.phases {
		if rec := e.Run.Phase(name); rec == nil || rec.Status != metadata.PhaseInProgress || e.Run.Status != metadata.Running {
			f.endPhase(name)
		}
	}
	f.flush()
}

func (f *follower) endPhase(name string) {
	f.phases[name].end(time.Now())
	delete(f.phases, name)
}

// step makes the span of a step that is over, with that of the call of its agent.
func (f *follower) step(in *span, e engine.Event) {
	o, d, at := *e.Done, e.Of, len(e.Run.Attempts)
	for _, a := range slices.Backward(e.Run.Attempts) { // others may have begun meanwhile
		if a.Phase == d.Phase && a.Step == d.Step() {
			at = a.N
			break
		}
	}
	s := f.start(in, d.Phase+" "+string(d.Do), o.At.Add(-o.Duration),
		"reprise.phase", d.Phase, "reprise.step", d.Do, "reprise.why", d.Why.In(prompts.Words("en")), "reprise.resumed", d.Resume > 0,
		"reprise.status", o.Status, "reprise.attempt", at, "reprise.reason_code", o.Code)
	defer s.end(o.At)
	if o.Verdict != nil {
		s.set("reprise.verdict", o.Verdict.Verdict)
	}
	if o.Written != nil {
		s.set("reprise.files", len(o.Written.Files), "reprise.lines", o.Written.Diff.Lines)
	}
	for _, c := range o.Checks {
		s.event("check "+c.Name, o.At, "reprise.check.passed", c.Pass, "process.exit.code", c.ExitCode, "reprise.check.duration_ms", c.DurationMS)
	}
	if o.Status == metadata.Errored {
		s.set("error.type", cmp.Or(string(o.Class), "error"))
	}
	if o.Status != metadata.Succeeded {
		s.fail(o.Why.In(prompts.Words("en")))
	}
	if d.Agent != "" && d.Agent != metadata.Given {
		f.call(s, e.Run, d, o, at)
	}
}

// call makes the span of a call, under the names that OpenTelemetry has.
func (f *follower) call(in *span, run metadata.Run, d phases.Decision, o phases.Outcome, attempt int) {
	use := f.plan.Agents[d.Agent].Use
	s := f.start(in, "invoke_agent "+d.Agent, o.At.Add(-o.Duration),
		"gen_ai.operation.name", "invoke_agent", "gen_ai.provider.name", provider(use), "gen_ai.agent.name", d.Agent, "reprise.agent.program", use,
		"gen_ai.usage.input_tokens", o.Usage.InputTokens+o.Usage.CachedTokens, "gen_ai.usage.output_tokens", o.Usage.OutputTokens,
		"gen_ai.usage.cache_read.input_tokens", o.Usage.CachedTokens, "reprise.cost.usd", o.Usage.USD,
		"gen_ai.request.model", view.ModelOf(phases.On(f.plan, run), d), "gen_ai.response.model", o.Model, "gen_ai.conversation.id", o.Session)
	s.form["kind"] = 3 // client
	if o.Status == metadata.Errored {
		s.set("error.type", "agent")
		s.fail(o.Why.In(prompts.Words("en")))
	}
	f.tools(s, use, attempt)
	s.end(o.At)
}

// provider is the name that OpenTelemetry has for whom a program asks; for one of
// somebody's own, the word that pipelines have for it.
func provider(use string) string {
	return cmp.Or(map[string]string{"claude": "anthropic", "codex": "openai", "gemini": "gcp.gemini", "opencode": "openai", "qwen": "openai", "copilot": "openai"}[use], use)
}

// mostTools is how many uses of tools of a call are told.
const mostTools = 500

// tools tells which tools an agent has used, as its transcript has it.
func (f *follower) tools(in *span, agent string, attempt int) {
	entries, err := agents.ReadTranscript(f.folder, attempt)
	if err != nil {
		return // what is not there cannot be told
	}
	type use struct {
		*span
		from time.Time
	}
	var open []use
	for _, e := range entries[:min(len(entries), 4*mostTools)] {
		switch {
		case e.Kind == agents.Used:
			s := f.start(in, "execute_tool "+e.Tool, e.At, "gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", e.Tool, "reprise.tool.target", text.Cut(text.Flat(e.Text), 200))
			open = append(open, use{s, e.At})
		case e.Kind == agents.Back && len(open) > 0:
			at := len(open) - 1
			if agent == "claude" { // several at once, answered in their order
				at = 0
			}
			if e.Bad {
				open[at].fail("")
			}
			open[at].end(e.At)
			open = append(open[:at], open[at+1:]...)
		}
	}
	for _, u := range open { // how long it took is not known
		u.end(u.from)
	}
}
