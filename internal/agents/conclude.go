package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// said is what a program has told so far, in typed events.
type said struct {
	cli    cli
	task   engine.Task
	result engine.Result
	done   bool // it gave its result
	// used are the tools that it used last, with what it gave them, newest first, and back what came of them. again
	// is for how many uses in a row each has been that of so many before, and nothing new came.
	used, back [longestCircle]string
	again      [longestCircle]int
	// failed is what ended it for good; trouble is what it still tries to get
	// over, such as a rate limit.
	failed, trouble *engine.AgentError
	// garbled is why what it printed cannot be read: it counts unless the program was ended in the middle.
	garbled *engine.AgentError
	// over, if not nil, is told the exit code of a program that ended by
	// itself, and may know what it means.
	over func(code int)
	// complete, if not nil, completes a result with what the program has left in files.
	complete func(*engine.Result)

	longest int    // that a line may be; 0: as usual
	cancel  func() // if not nil, tells the program to end its work
	stays   bool   // it does not end by itself
	proves  bool   // its end counts only if its gate has seen a good answer
	hands   *hands // nil: it has none

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

// mostSame is how often in a row a program may use tools in the same way, longestCircle how many one after the other.
const mostSame, longestCircle = 25, 8

// uses hears that the program uses a tool, and ends one that does the same for ever.
func (s *said) uses(how string) process.Reaction {
	reaction := process.GoOn
	for i, before := range s.used {
		if s.again[i]++; how != before {
			s.again[i] = 0
		}
		if s.again[i] == (mostSame-1)*(i+1) {
			s.failed = s.cli.fail(metadata.Session, fmt.Errorf("it made the same call %d times in a row, and was ended: %s", mostSame, process.OneLine(how, 200)))
			reaction = process.GiveUp
		}
	}
	copy(s.used[1:], s.used[:])
	s.used[0] = how
	return reaction
}

// came hears what a tool has given back. A program that waits for something sees more of that change than the time.
func (s *said) came(back string) process.Reaction {
	if back = phases.Steady(back); !slices.Contains(s.back[:], back) {
		s.again = [longestCircle]int{}
		copy(s.back[1:], s.back[:])
		s.back[0] = back
	}
	return process.GoOn
}

// conclude decides what a call came to: what the program said for certain
// comes first, then how it ended.
func (c cli) conclude(ctx context.Context, t engine.Task, e process.Ending, s *said) (engine.Result, error) {
	if e.Cause == process.Exited && e.State != nil && s.over != nil {
		s.over(e.Code())
	}
	r := s.result
	r.Stderr = e.Stderr
	r.Warnings = append(r.Warnings, warnings(c.name, e)...)
	err := s.failed
	if e.Cause == process.Exited || e.Cause == process.Stopped {
		err = cmp.Or(err, s.garbled)
	}
	if err == nil && !s.done {
		err = c.unfinished(ctx, t, e, s)
	}
	if err != nil {
		err.Stderr = e.Stderr
		return r, err
	}
	if how := abnormal(e); how != "" && (e.Cause != process.Lingered || !s.stays) {
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
	how, last := abnormal(e), process.LastWords(e.Stderr)
	how = cmp.Or(how, "it ended")
	if e.Cut > 0 {
		return c.fail(metadata.Refused, fmt.Errorf("%s, and of its result there is only the beginning: it has a line of more than %d MiB", how, process.MaxLine>>20))
	}
	if c.unknown() { // it says anything there
		return c.fail(metadata.Crash, fmt.Errorf("%s without a result%s", how, last))
	}
	return c.told(e.Stderr[max(0, len(e.Stderr)-maxCause):]+"\n"+how, fmt.Errorf("%s without a result%s", how, last))
}

// maxCause is how much of the end of standard error may say why a program ended, in bytes.
const maxCause = 2000

// refusalIn reads the service's answer out of a message, where programs put it as JSON; without one it is the message.
func refusalIn(message string) string {
	var answer struct {
		Error struct{ Type, Status, Message string }
	}
	start, end := strings.IndexByte(message, '{'), strings.LastIndexByte(message, '}')
	if start < 0 || end < start || !decode([]byte(message[start:end+1]), &answer) || answer.Error.Message == "" {
		return message
	}
	return cmp.Or(answer.Error.Status, answer.Error.Type) + ": " + answer.Error.Message
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
		return "it was killed (perhaps the machine was out of memory)"
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
