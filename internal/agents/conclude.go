package agents

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// said is what a program has told so far, in typed events.
type said struct {
	cli    cli
	task   engine.Task
	result engine.Result
	done   bool // it gave its result
	ran    bool // it ran a command
	opaque bool // it does not tell whether it did
	// failed is what ended it for good; trouble is what it still tries to get
	// over, such as a rate limit.
	failed, trouble *engine.AgentError
	// over, if not nil, is told the exit code of a program that ended by
	// itself, and may know what it means.
	over func(code int)
	// complete, if not nil, completes a result with what the program has left in files.
	complete func(*engine.Result)

	started bool // it ran
	ending  process.Ending
	seen    gate.Report // by its gate
}

// notify tells what the program is at.
func (s *said) notify(text string) {
	if s.task.Notify != nil {
		s.task.Notify(engine.Activity{Session: s.result.Session, Text: process.OneLine(text, 120), Usage: s.result.Usage})
	}
}

// SessionGone is the cause of an error when a session is not on this machine. Starting afresh is the way on.
type SessionGone struct{ Session string }

// Error names the session.
func (e *SessionGone) Error() string { return fmt.Sprintf("session %s is not there", e.Session) }

// SessionGone lets a caller recognise the error by this method alone.
func (e *SessionGone) SessionGone() bool { return true }

// conclude decides what a call came to: what the program said for certain
// comes first, then how it ended.
func (c cli) conclude(ctx context.Context, t engine.Task, e process.Ending, s *said) (engine.Result, error) {
	if e.Cause == process.Exited && e.State != nil && s.over != nil {
		s.over(e.Code())
	}
	r := s.result
	r.Stderr, r.RanNothing = e.Stderr, t.Access == pipelines.AccessRun && !s.opaque && !s.ran
	r.Warnings = append(r.Warnings, warnings(c.name, e)...)
	err := s.failed
	if err == nil && !s.done {
		err = c.unfinished(ctx, t, e, s)
	}
	if err != nil {
		err.Stderr = e.Stderr
		return r, err
	}
	if how := abnormal(e); how != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s gave its result, then %s", c.name, how))
	}
	return r, nil
}

// unfinished says why there is no result.
func (c cli) unfinished(ctx context.Context, t engine.Task, e process.Ending, s *said) *engine.AgentError {
	if e.Cause == process.Cancelled {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return c.fail(metadata.StepTimeout, context.Cause(ctx))
		}
		return c.fail(metadata.Signal, context.Cause(ctx))
	}
	if e.Cause == process.Overfull {
		return c.fail(metadata.Disk, errors.New(e.Why))
	}
	if s.trouble != nil {
		return s.trouble
	}
	switch e.Cause {
	case process.TimedOut:
		return c.fail(metadata.StepTimeout, fmt.Errorf("it took longer than its %v", t.Timeout))
	case process.WentIdle:
		return c.fail(metadata.IdleTimeout, fmt.Errorf("no output for %v", t.Idle))
	}
	how := abnormal(e)
	if how == "" {
		how = "it ended"
	}
	return c.fail(metadata.Crash, fmt.Errorf("%s without a result%s", how, process.LastWords(e.Stderr)))
}

// abnormal says how a program ended, if not as it should.
func abnormal(e process.Ending) string {
	switch {
	case e.Cause == process.Overfull:
		return e.Why
	case e.Cause == process.Lingered:
		return "did not end by itself"
	case e.State == nil:
		return "it could not be ended: it hangs in the kernel"
	}
	switch sig := e.Signal(); sig {
	case 0:
	case syscall.SIGKILL:
		return "it was killed, perhaps because the machine was out of memory"
	default:
		return fmt.Sprintf("it was ended by a signal (%v)", sig)
	}
	if code := e.Code(); code != 0 {
		return fmt.Sprintf("it ended with exit status %d", code)
	}
	return ""
}

func warnings(name string, e process.Ending) (out []string) {
	if e.Cut > 0 {
		out = append(out, fmt.Sprintf("%s printed %d lines of more than %d bytes; they were cut", name, e.Cut, process.MaxLine))
	}
	if e.Left > 0 {
		out = append(out, fmt.Sprintf("%s left processes behind (%d); they were ended", name, e.Left))
	}
	return out
}
