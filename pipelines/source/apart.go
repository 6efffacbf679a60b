package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// maxMemory is what a child may use, in bytes, over what it has when it starts.
const maxMemory = 300 << 20

// Child answers one request of an Evaluator, from stdin to stdout, in a process of its own, and gives the exit code. It limits
// memory of the whole process, and reply does the rest.
func Child(stdin io.Reader, stdout io.Writer) int {
	if err := limitMemory(); err != nil {
		fmt.Fprintln(os.Stderr, "limit the memory:", err)
		return 1
	}
	fmt.Fprintln(stdout)                    // says that the limits hold from here on
	debug.SetMemoryLimit(maxMemory * 3 / 4) // collect more often before it gets tight
	debug.SetGCPercent(400)
	debug.SetMaxStack(maxMemory / 4)
	if err := reply(stdin, stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Question is what a child is to answer.
type Question struct {
	What string        // it is about, as people know it
	Most time.Duration // of a processor that the child may take
	Text []byte
}

// Ask has a process that argv starts, and that calls Child, answer within its limits.
// Going beyond them is an error with pipelines.Mistakes.
func Ask(ctx context.Context, argv []string, q Question) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, 12*q.Most)
	defer cancel()
	var stdout bytes.Buffer
	stderr := process.Head{Limit: 4 << 10} // the cause comes first
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	// No token or key of this process: the text that is evaluated is not ours.
	cmd.Env = []string{"GOTRACEBACK=none"}
	cmd.Stdin = bytes.NewReader(q.Text)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what interrupts this process ends it by the context
	err := process.RunBounded(cmd, &stdout, &stderr)
	const advice = "simplify disjunctions, comprehensions and lists that grow"
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("evaluate %s: %w", q.What, context.Cause(ctx))
	case limited.Err() != nil, cmd.ProcessState != nil && cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() >= q.Most:
		return nil, pipelines.Mistakes{{File: q.What, Message: fmt.Sprintf("evaluating it took longer than %v; %s", q.Most, advice)}}
	case died(err, stdout.Len() > 0):
		return nil, pipelines.Mistakes{{File: q.What, Message: fmt.Sprintf("evaluating it took more than %d MB; %s", maxMemory>>20, advice)}}
	default:
		return nil, fmt.Errorf("evaluate %s: %w: %s", q.What, err, strings.TrimSpace(stderr.String()))
	}
}

// died tells whether an answer had begun and then came to an end that it does not give itself: it was
// out of memory, which Go notices in many ways.
func died(err error, begun bool) bool {
	var exit *exec.ExitError
	return begun && errors.As(err, &exit) && exit.ExitCode() != 1
}
