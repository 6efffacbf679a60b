package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// sandboxCost measures what the sandbox adds to a call of an agent: the same calls
// of a program that does nothing, in the sandbox and outside of it, in turns.
func sandboxCost(b *bench.Bench) error {
	tree, home := filepath.Join(b.Dir, "sandbox", "tree"), filepath.Join(b.Dir, "sandbox", "home")
	if err := errors.Join(os.MkdirAll(tree, 0o755), os.MkdirAll(home, 0o755)); err != nil {
		return err
	}
	outside := agents.Options{Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}}
	inside, note, err := outside.Contain(sandbox.Required, sandbox.Sandbox{
		Helper: []string{b.Bin, "sandboxed", "--"}, State: filepath.Join(b.Dir, "sandbox", "homes"),
	})
	if err != nil || note != "" {
		return fmt.Errorf("%s%w", note, err)
	}
	call := func(o agents.Options) (time.Duration, error) {
		agent, err := agents.For("command", pipelines.Agent{Command: []string{"/bin/true"}}, o)
		if err != nil {
			return 0, err
		}
		task := engine.Task{Dir: tree, Artifact: filepath.Join(tree, ".reprise", "x", "x.md"), Access: pipelines.AccessTree}
		return bench.Repeat(31, func() error {
			_, err := agent.Run(context.Background(), task)
			return err
		})
	}
	// The first calls make the home.
	var ours, least time.Duration
	for range 3 {
		in, err1 := call(inside)
		out, err2 := call(outside)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if ours == 0 || in-out < ours-least {
			ours, least = in, out
		}
	}
	b.Times("a call of a program that does nothing, in the sandbox", ours, least, "", "the same call outside of it")
	b.Rows = append(b.Rows, bench.Row{Measure: "what the sandbox adds to a call", Ours: bench.Millis(ours - least), Target: "<= 15 ms"})
	return nil
}
