package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/phases/engine"
)

// A terminal that is closed sends SIGHUP twice: what is under way is ended and recorded.
// Whoever asks twice does not want to wait for that.
func TestToldToStopTwice(t *testing.T) {
	for _, c := range []struct {
		sent []os.Signal
		left int
	}{
		{[]os.Signal{os.Interrupt}, 0},
		{[]os.Signal{syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP}, 0},
		{[]os.Signal{os.Interrupt, os.Interrupt}, 1},
		{[]os.Signal{syscall.SIGHUP, syscall.SIGTERM}, 1},
	} {
		signals := make(chan os.Signal, len(c.sent))
		for _, s := range c.sent {
			signals <- s
		}
		close(signals)
		ctx, stop := context.WithCancelCause(t.Context())
		left := 0
		heed(signals, stop, func() { left++ })
		if !errors.Is(context.Cause(ctx), engine.ErrInterrupted) || left != c.left {
			t.Errorf("%v: left %d times, want %d; %v", c.sent, left, c.left, context.Cause(ctx))
		}
	}
}

// Who presses Ctrl-C reads what that has cut short, in words for people.
func TestToldToStopAtOnce(t *testing.T) {
	dir := newRepository(t)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(engine.ErrInterrupted)
	var out bytes.Buffer
	env := environ.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: os.Environ()}
	code := run(ctx, []string{"status", "--repo", dir}, env)
	if said := out.String(); code != exit.Cancelled || !strings.HasSuffix(said, ": interrupted\n") || strings.Contains(said, "context") {
		t.Errorf("exit code %d, and it said: %s", code, said)
	}
}
