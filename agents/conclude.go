package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// said is what a program has told so far, in typed events.
type said struct {
	result phases.Result
	done   bool // it gave its result
	// failed is what ended it for good; trouble is what it still tries to get
	// over, such as a rate limit.
	failed, trouble *phases.AgentError
	// over, if not nil, is told the exit code of a program that ended by
	// itself, and may know what it means.
	over func(code int)
}

// SessionGone is the cause of an error when a session that was to be gone on
// with does not exist on this machine. Starting afresh is the way on.
type SessionGone struct{ Session string }

// Error names the session.
func (e *SessionGone) Error() string { return fmt.Sprintf("session %s is not there", e.Session) }

// SessionGone lets a caller recognise the error by this method alone.
func (e *SessionGone) SessionGone() bool { return true }

// conclude decides what a call came to: what the program said for certain
// comes first, then how it ended.
func (c cli) conclude(ctx context.Context, t phases.Task, e ending, s *said) (phases.Result, error) {
	if e.cause == exited && e.state != nil && s.over != nil {
		s.over(e.state.ExitCode())
	}
	r := s.result
	r.Stderr = e.stderr
	r.Warnings = append(r.Warnings, warnings(c.name, e)...)
	err := s.failed
	if err == nil && !s.done {
		err = c.unfinished(ctx, t, e, s)
	}
	if err != nil {
		err.Stderr = e.stderr
		return r, err
	}
	if how := abnormal(e); how != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s gave its result, then %s", c.name, how))
	}
	return r, nil
}

// unfinished says why there is no result.
func (c cli) unfinished(ctx context.Context, t phases.Task, e ending, s *said) *phases.AgentError {
	if e.cause == cancelled {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return c.fail(metadata.StepTimeout, context.Cause(ctx))
		}
		return c.fail(metadata.Signal, context.Cause(ctx))
	}
	if e.cause == overfull {
		return c.fail(metadata.Disk, errors.New(e.why))
	}
	if s.trouble != nil {
		return s.trouble
	}
	switch e.cause {
	case timedOut:
		return c.fail(metadata.StepTimeout, fmt.Errorf("it took longer than its %v", t.Timeout))
	case wentIdle:
		return c.fail(metadata.IdleTimeout, fmt.Errorf("no output for %v", t.Idle))
	}
	how := abnormal(e)
	if how == "" {
		how = "it ended"
	}
	return c.fail(metadata.Crash, fmt.Errorf("%s without a result%s", how, lastWords(e.stderr)))
}

// abnormal says how a program ended, if not as it should.
func abnormal(e ending) string {
	switch {
	case e.cause == overfull:
		return e.why
	case e.cause == lingered:
		return "did not end by itself"
	case e.state == nil:
		return "it could not be ended: it hangs in the kernel"
	}
	if ws, ok := e.state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		if ws.Signal() == syscall.SIGKILL {
			return "it was killed, perhaps because the machine was out of memory"
		}
		return fmt.Sprintf("it was ended by a signal (%v)", ws.Signal())
	}
	if code := e.state.ExitCode(); code != 0 {
		return fmt.Sprintf("it ended with exit status %d", code)
	}
	return ""
}

func warnings(name string, e ending) (out []string) {
	if e.cut > 0 {
		out = append(out, fmt.Sprintf("%s printed %d lines of more than %d bytes; they were cut", name, e.cut, maxLine))
	}
	if e.left > 0 {
		out = append(out, fmt.Sprintf("%s left processes behind (%d); they were ended", name, e.left))
	}
	return out
}

// lastWords quotes the last line of what a program complained.
func lastWords(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if last := oneLine(lines[len(lines)-1], 200); last != "" {
		return ": " + last
	}
	return ""
}
