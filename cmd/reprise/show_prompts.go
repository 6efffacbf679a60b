package main

import (
	"context"
	"fmt"
	"io"

	"github.com/reprise-ci/reprise/phases/engine"
)

// showPrompts makes an engine print every prompt before it is sent.
func showPrompts(e *engine.Engine, out io.Writer) {
	inner := e.Agent
	e.Agent = func(name string) (engine.Agent, error) {
		a, err := inner(name)
		return loud{a, out}, err
	}
}

// loud is an agent whose prompts are printed.
type loud struct {
	engine.Agent
	out io.Writer
}

// Run prints the prompt and hands the task on.
func (l loud) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	_, _ = fmt.Fprintf(l.out, "----- prompt: %s %s, %d bytes -----\n%s\n----- end of prompt -----\n", t.Phase, t.Step, len(t.Prompt), t.Prompt)
	return l.Agent.Run(ctx, t)
}
