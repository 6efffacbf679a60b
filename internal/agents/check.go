package agents

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// Check runs a phase's check in dir, as an agent without keys is run. One that cannot be judged, because ctx is over or
// there is no shell, is an error.
func (o Options) Check(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error) {
	o = o.withDefaults()
	o.Transcript = nil
	shell := cli{name: checkHome, program: "/bin/sh", opts: o, check: &c}
	if o.installs {
		shell.name = setupHome
	}
	r := metadata.CheckResult{Name: c.Name, Run: c.Run, ExitCode: -1}
	out := &process.Excerpt{HeadMax: 600, TailMax: 3250} // the rest of 4,000 is for what is added; npm says why first, and then how it is used
	told, s := Account{Dir: dir}, &said{}
	var began time.Time
	_, err := shell.run(ctx, engine.Task{Dir: dir, Access: pipelines.AccessTree, Network: c.Network, Timeout: time.Duration(c.Timeout)}, s, func(call *Call) (string, error) {
		began = time.Now()
		call.Argv = append(call.Argv, "-c", "exec 2>&1\n"+c.Run) // both streams in the order they were written in
		return "", nil
	}, func(line []byte) process.Reaction {
		if shown, is := told.Line(line); is {
			_, _ = fmt.Fprintf(out, "%s\n", shown) // never fails
		}
		return process.GoOn
	})
	if !s.started {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	r.DurationMS = time.Since(began).Milliseconds()
	if text := gate.Refusals(s.seen); text != "" {
		_, _ = fmt.Fprintf(out, "\nreprise: it %s\n", text)
	}
	switch e := s.ending; {
	case e.Cause == process.Cancelled:
		return r, fmt.Errorf("check %s: %w", c.Name, context.Cause(ctx))
	case e.Cause == process.TimedOut:
		_, _ = fmt.Fprintf(out, "\nreprise: the check took longer than its %v and was ended\n", time.Duration(c.Timeout))
	case e.Cause == process.Overfull:
		_, _ = fmt.Fprintf(out, "\nreprise: %s; the check was ended\n", e.Why)
	case e.State != nil:
		r.ExitCode = e.Code()
		r.Pass = r.ExitCode == 0
	}
	r.Output = out.String()
	if !r.Pass || len(c.JUnit) > 0 {
		told.JUnitIn(dir, c.JUnit)
	}
	if r.Ran, r.Failed = told.Tests(); !r.Pass {
		r.FailedTests = told.Names()
	}
	return r, nil
}
