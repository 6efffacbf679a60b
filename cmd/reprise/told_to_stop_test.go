package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/phases/engine"
)

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
