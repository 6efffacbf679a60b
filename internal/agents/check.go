package agents

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// checkVars are what a check sees besides what it has in common with agents:
// what tools expect of CI, without a word on colours, and what it asks for.
func checkVars(c pipelines.Check, home, temp string) map[string]string {
	vars := map[string]string{"CI": "true", "GIT_TERMINAL_PROMPT": "0"}
	maps.Copy(vars, c.Env)
	vars["HOME"], vars["TMPDIR"] = home, temp
	return vars
}

// Check runs a phase's check in dir, supervised and in the environment of an
// agent without keys: what it runs was written by one. A check that cannot be
// judged, because ctx is over or there is no shell, is an error.
func (o Options) Check(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error) {
	o = o.withDefaults()
	r := metadata.CheckResult{Name: c.Name, Run: c.Run}
	temp, err := o.makeTemp()
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	defer func() { _ = folders.RemoveAll(temp) }()
	home := o.Home
	if home == "" {
		home = process.Lookup(o.Environ, "HOME")
	}
	// Both streams in the order they were written in.
	call := Call{Call: sandbox.Call{
		Argv: []string{"/bin/sh", "-c", "exec 2>&1\n" + c.Run}, Dir: dir, Home: home, User: home, Temp: temp, Access: pipelines.AccessTree, Network: closed(c.Network),
	}}
	call.Env = environ(o.Environ, commonVars(), checkVars(c, home, temp))
	name := checkHome
	if o.installs {
		name = setupHome
	}
	leave, err := o.moveIn(ctx, &call, name)
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	full := false
	defer func() { leave(full) }()
	way, err := gate.OpenPassage(gate.Call{Env: call.Env, Proxy: o.Proxy, Network: c.Network, Apart: o.box.Apart()})
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	defer way.Close()
	call.enter(way)
	if o.Sandbox != nil {
		if call, err = o.Sandbox(call); err != nil {
			return r, fmt.Errorf("check %s: sandbox: %w", c.Name, err)
		}
	}
	out := &process.Excerpt{HeadMax: 600, TailMax: 3250} // the rest of 4,000 is for what is added; npm says why first, and then how it is used
	told := Account{Dir: dir}
	start := time.Now()
	e, err := process.Program{
		Argv: call.Argv, Env: call.Env, Dir: dir, Own: call.Own, Network: call.Apart, Files: call.Files,
		Whole: time.Duration(c.Timeout), Grace: o.Grace, Linger: o.Linger, Watch: o.watchDisk(&call).Watch,
		Line: func(line []byte) process.Reaction {
			if shown, is := told.Line(line); is {
				_, _ = fmt.Fprintf(out, "%s\n", shown) // never fails
			}
			return process.GoOn
		},
	}.Run(ctx)
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	r.DurationMS = time.Since(start).Milliseconds()
	if text := gate.Refusals(way.Close()); text != "" {
		_, _ = fmt.Fprintf(out, "\nreprise: it %s\n", text)
	}
	r.Output = out.String()
	switch {
	case e.Cause == process.Cancelled:
		return r, fmt.Errorf("check %s: %w", c.Name, context.Cause(ctx))
	case e.Cause == process.TimedOut:
		r.ExitCode = -1
		_, _ = fmt.Fprintf(out, "\nreprise: the check took longer than its %v and was ended\n", time.Duration(c.Timeout))
		r.Output = out.String()
	case e.Cause == process.Overfull:
		full = true
		r.ExitCode = -1
		_, _ = fmt.Fprintf(out, "\nreprise: %s; the check was ended\n", e.Why)
		r.Output = out.String()
	case e.State == nil:
		r.ExitCode = -1
	default:
		r.ExitCode = e.Code()
		r.Pass = r.ExitCode == 0
	}
	if !r.Pass {
		told.JUnitIn(dir, c.JUnit)
		r.FailedTests, r.Like = told.Names(), told.Likeness()
		r.Ran, r.Failed = told.Tests()
	}
	return r, nil
}
