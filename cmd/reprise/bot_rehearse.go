package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/metadata"
)

// rehearse goes through the whole pipeline with the rehearsal agent on a
// scratch copy. Nothing is written to the forge.
func (b *bot) rehearse(ctx context.Context) (end jobEnd) {
	if b.t.asked.Command.Name != "run" {
		return jobEnd{decision: ignored, denial: denial{Code: metadata.NotACommand, By: b.t.by, What: firstLine(b.t.text), Why: metadata.Because("rehearses_run")}}
	}
	o := b.opening(&order{slashCommand: b.t.asked.Command})
	o.scratch, o.agent, o.token = true, rehearsal, ""
	w, err := openWorkspace(ctx, b.env, o)
	if err != nil {
		return b.broke(ctx, err)
	}
	b.w = w
	defer func() {
		if err := w.close(); err != nil {
			end.err = errors.Join(end.err, err)
		}
	}()
	run, err := w.carryOn(ctx, b.env, runOptions{opening: o, dry: true, logFormat: "text", verbose: b.in.show})
	if err != nil {
		return b.broke(ctx, err)
	}
	w.run = run
	if err := w.showRehearsal(ctx, b.env.stdout, run, b.in.label); err != nil {
		return b.broke(ctx, err)
	}
	_, _ = fmt.Fprintln(b.env.stdout, "Nothing was left behind.")
	return jobEnd{decision: toRun, denial: denial{Code: metadata.Done}}
}

// sandboxAsked says which sandbox the job was told to keep agents in.
func (b *bot) sandboxAsked() string {
	if b.in.sandbox == "" {
		return "best-effort"
	}
	return b.in.sandbox
}
