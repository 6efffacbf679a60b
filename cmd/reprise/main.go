package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/phases"
)

// Exit codes of the program.
const (
	exitDone      = 0 // what was asked for is done
	exitFailed    = 1 // the run failed, or something went wrong
	exitUsage     = 2 // a mistake in the command line or in a pipeline
	exitWaiting   = 3 // the run waits for a person
	exitBudget    = 4 // the budget is used up
	exitCancelled = 5 // the run was cancelled or interrupted
)

// version is set by the linker in a release.
var version = "dev"

func main() {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop(phases.ErrInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], environment{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(), now: func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) },
	}))
}

// environment is everything the program takes from the process it runs in.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	now            func() time.Time
}

// getenv gives the value of a variable, or "".
func (e environment) getenv(name string) string {
	for _, kv := range e.environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// run is the program: it carries out the command line and gives the exit code.
func run(ctx context.Context, args []string, env environment) int {
	root := commands(env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	if err != nil {
		return explain(env, err)
	}
	return exitDone
}

// exitCode ends a command that has already said everything.
type exitCode int

// Error exists so that a command can return it.
func (exitCode) Error() string { return "" }
