package agents

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
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
		home = lookup(o.Environ, "HOME")
	}
	// Both streams in the order they were written in.
	call := Call{Argv: []string{"/bin/sh", "-c", "exec 2>&1\n" + c.Run}, Dir: dir, Home: home, User: home, Temp: temp}
	call.Task.Dir, call.Task.Access = dir, pipelines.AccessTree
	call.Env = environ(o.Environ, commonVars(), checkVars(c, home, temp))
	leave, err := o.moveIn(&call, checkHome)
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	full := false
	defer func() { leave(full) }()
	if o.Sandbox != nil {
		if call, err = o.Sandbox(call); err != nil {
			return r, fmt.Errorf("check %s: sandbox: %w", c.Name, err)
		}
	}
	out := &excerpt{tailMax: 3900} // the rest of 4,000 is for what is added
	start := time.Now()
	e, err := program{
		argv: call.Argv, env: call.Env, dir: dir,
		whole: time.Duration(c.Timeout), grace: o.Grace, linger: o.Linger, room: o.room(&call),
		line: func(line []byte) reaction {
			_, _ = fmt.Fprintf(out, "%s\n", line) // never fails
			return goOn
		},
	}.run(ctx)
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	r.DurationMS = time.Since(start).Milliseconds()
	r.Output = out.String()
	switch {
	case e.cause == cancelled:
		return r, fmt.Errorf("check %s: %w", c.Name, context.Cause(ctx))
	case e.cause == timedOut:
		r.ExitCode = -1
		_, _ = fmt.Fprintf(out, "\nreprise: the check took longer than its %v and was ended\n", time.Duration(c.Timeout))
		r.Output = out.String()
	case e.cause == overfull:
		full = true
		r.ExitCode = -1
		_, _ = fmt.Fprintf(out, "\nreprise: %s; the check was ended\n", e.why)
		r.Output = out.String()
	case e.state == nil:
		r.ExitCode = -1
	default:
		r.ExitCode = e.state.ExitCode()
		r.Pass = r.ExitCode == 0
	}
	return r, nil
}
