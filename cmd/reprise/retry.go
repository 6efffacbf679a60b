package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

func retryCommand(env environ.Env) *cobra.Command {
	var o runOptions
	var phase string
	c := &cobra.Command{
		Use:   "retry --issue ID [--phase PHASE]",
		Short: "Try a stopped run again, with all its revisions",
		Long: `Continue a run that failed or waits for a person: the counters of revisions and
tries start again, so its phase has all its revisions, and calls that failed no longer
count. To change what was decided in an earlier phase, take the run back with rollback.`,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, end := telemetry.Begin(c.Context(), env)
			defer end()
			return runRetry(ctx, env, o, phase)
		},
	}
	o.origin(c.Flags())
	c.Flags().StringVar(&phase, "phase", "", "phase to try again (default: the one the run stopped at)")
	o.progress(c.Flags())
	return c
}

// runRetry lets the counters of revisions and tries start again, commits that, and goes on.
func runRetry(ctx context.Context, env environ.Env, o runOptions, phase string) (err error) {
	if err := issue.CheckID(o.Id); err != nil {
		return err
	}
	if o.json {
		defer func() { err = alwaysJSON(env, err) }()
	}
	if err := o.check(); err != nil {
		return err
	}
	w, err := openClaimed(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	run, err := phases.Retry(w.Plan, w.Run, phase, phases.Start{At: env.Now(), More: o.More})
	if err != nil {
		return exit.AsUsage(command.WithNearest(err))
	}
	opts, err := workspace.AgentOptions(env, w, o.Options)
	if err != nil {
		return err
	}
	if err := w.Ready(opts); err != nil {
		return err
	}
	e, err := w.Engine(env, o.Options, engine.Quiet{})
	if err != nil {
		return err
	}
	if err := e.Amend(ctx, run, fmt.Sprintf("%s: retry", run.CurrentPhase)); err != nil {
		return err
	}
	w.Run = run
	return finish(ctx, w, env, o)
}
