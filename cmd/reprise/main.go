package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

func main() { live(environ.Env{}) }

// live runs the command line of this process and then ends the process.
func live(env environ.Env) {
	keepInherited()
	log.SetOutput(io.Discard) // net/http writes there what others send, past the masking of secrets
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
	// When nobody reads the output any more, as in "reprise run | head", the work goes on.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go heed(signals, stop, func() { os.Exit(exit.Cancelled) })
	env.Stdin, env.Stdout, env.Stderr, env.Environ = environ.Interruptible{File: os.Stdin, Ctx: ctx}, terminal.NewSafeWriter(os.Stdout), terminal.NewSafeWriter(os.Stderr), environ.WithoutOff(os.Environ())
	env.Now = func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
	lost := &losing{file: os.Stdout}
	if env.Stdout == os.Stdout { // no terminal, which is never full
		env.Stdout = lost
	}
	code := run(ctx, os.Args[1:], env)
	if why := lost.why.Load(); why != nil && code == exit.Done {
		code = explain(env, *why)
	}
	os.Exit(code)
}

// losing is a stream of this process that keeps why something was not written to it, unless nobody reads any more.
type losing struct {
	file *os.File // not embedded: it has more ways to write than Write
	why  atomic.Pointer[error]
}

// Write writes p.
func (l *losing) Write(p []byte) (int, error) {
	n, err := l.file.Write(p)
	if text.Unread(err) != nil {
		l.why.Store(&err)
	}
	return n, err
}

// Fd is for what asks whether it is a terminal.
func (l *losing) Fd() uintptr { return l.file.Fd() }

// heed stops the process when it is told to and, asked twice, leaves what is under way as it
// is. A terminal that is closed says so twice, itself and by its shell: that is asked once.
func heed(signals <-chan os.Signal, stop context.CancelCauseFunc, leave func()) {
	<-signals
	stop(engine.ErrInterrupted)
	for s := range signals {
		if s != syscall.SIGHUP {
			leave()
		}
	}
}

// run is the program: it carries out the command line and gives the exit code.
func run(ctx context.Context, args []string, env environ.Env) int {
	env.SecretFinder = env.Finder()
	root := commands(env)
	root.SetArgs(args)
	var err error
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeFlags(env, root)
	} else {
		err = nameCommands(root, args)
	}
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	env = environ.EscapedEnv(env)
	if said, is := errors.AsType[exit.Code](err); is {
		return int(said)
	}
	if err == nil {
		return exit.Done
	}
	env, flush := env.Masked()
	defer flush()
	if !errors.Is(context.Cause(ctx), engine.ErrInterrupted) {
		return explain(env, err)
	}
	explain(env, interrupted{err})
	return exit.Cancelled
}

// interrupted is an error of a process that was told to stop.
type interrupted struct{ error }

// Error says that in the place of Go's words for it.
func (i interrupted) Error() string {
	return strings.ReplaceAll(i.error.Error(), context.Canceled.Error(), engine.ErrInterrupted.Error())
}

// Unwrap returns the error.
func (i interrupted) Unwrap() error { return i.error }

// explain prints an error the way people read it and gives the exit code.
func explain(env environ.Env, err error) int {
	if mistakes, are := errors.AsType[pipelines.Mistakes](err); are {
		for _, m := range mistakes {
			terminal.Tell(env.Stderr, m.Error())
		}
		return exit.Usage
	}
	terminal.Tell(env.Stderr, "reprise: "+err.Error())
	if errors.As(err, new(exit.UsageError)) || errors.As(err, new(*git.NotARepository)) {
		return exit.Usage
	}
	if moved := new(git.Moved); errors.As(err, &moved) {
		terminal.Tell(env.Stderr, "reprise: to go on from there, and give up the commits that are only here: reprise run --issue "+strings.TrimPrefix(moved.Branch, env.Prefix())+
			" --take theirs"+text.If(moved.Where == "origin", " --push"))
	}
	if exit.ReasonFor(err) == metadata.GitFailed {
		terminal.Tell(env.Stderr, "reprise: nothing that was recorded is lost. Once git works again, reprise status shows where the run is, and reprise run --issue ID continues it")
	}
	return exit.Failed
}

// keepInherited keeps the files that reprise was started with from every program that reprise starts: a shell or a
// service may have left a key open. Standard input and output are passed on where they are meant to be. Files that
// are opened later are kept back anyway. Where the system does not list what is open, nothing is done.
func keepInherited() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
