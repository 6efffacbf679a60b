package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/secrets"
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

func main() { live(environment{}) }

// live runs the command line of this process in an environment that lacks
// what every process has, and ends it.
func live(env environment) {
	keepInherited()
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Somebody who stops listening, as in "reprise run | head", stops no work.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		stop(phases.ErrInterrupted)
		<-signals // asked twice: what is under way is left as it is
		os.Exit(exitCancelled)
	}()
	env.stdin, env.stdout, env.stderr, env.environ = interruptible{os.Stdin, ctx}, onScreen(os.Stdout), onScreen(os.Stderr), os.Environ()
	env.now = func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
	os.Exit(run(ctx, os.Args[1:], env))
}

// interruptible is a file whose reader does not wait any longer once the
// program was told to stop.
type interruptible struct {
	*os.File
	ctx context.Context
}

// Read reads from the file, or fails with the cause for which the program
// stops. What the file gives after that is lost.
func (f interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := make([]byte, len(p)) // p is the caller's again when it returns
	go func() {
		n, err := f.File.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-f.ctx.Done():
		return 0, context.Cause(f.ctx)
	}
}

// environment is everything the program takes from the process it runs in.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	now            func() time.Time
	wait           func(ctx context.Context, d time.Duration) error // before a forge is asked again; nil: sleep
	http           *http.Client                                     // by which a forge is asked; nil: the usual one
	hide           *secrets.Finder                                  // finds what must not be seen; nil: anew, by finder
	places         *places                                          // where branches live; nil: in git
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

// asks gives what talks to a forge, with a token. Every wait is said on out,
// and what for.
func (e environment) asks(f forge, token string, out io.Writer) (*github.Client, error) {
	waits := func(what string) func(context.Context, time.Duration) error {
		return func(ctx context.Context, d time.Duration) error {
			_, _ = fmt.Fprintf(out, "reprise: "+what+"\n", f.host, d.Round(time.Second))
			if e.wait != nil {
				return e.wait(ctx, d)
			}
			return sleep(ctx, d)
		}
	}
	return github.New(github.Options{
		Token: token, APIURL: f.api, UserAgent: "reprise/" + version, HTTP: e.http, Now: e.now, Mask: e.finder().Mask,
		Sleep: waits("%s is asked again in %s"),
		Slow:  waits("much was written to %s in a short time; the next comment or sign goes there in %s"),
	})
}

// run is the program: it carries out the command line and gives the exit code.
func run(ctx context.Context, args []string, env environment) int {
	env.hide = env.finder()
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
	env = env.inJob()
	var said exitCode
	if errors.As(err, &said) {
		return int(said)
	}
	if err == nil {
		return exitDone
	}
	env, flush := env.masked()
	defer flush()
	if code := explain(env, err); !errors.Is(context.Cause(ctx), phases.ErrInterrupted) {
		return code
	}
	return exitCancelled
}

// exitCode ends a command that has already said everything.
type exitCode int

// Error exists so that a command can return it.
func (exitCode) Error() string { return "" }
