package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

func actionCommand(env environ.Env) *cobra.Command {
	return &cobra.Command{
		Use: "action", Hidden: true, Short: "Do what the event asks that started a workflow (for action.yml)",
		RunE: func(c *cobra.Command, _ []string) error {
			env, err := env.Unpack()
			if err == nil {
				err = os.Unsetenv(environ.HandedOver) // no program that is started has them all
			}
			if err != nil {
				return exit.AsUsage(err)
			}
			ctx, end := telemetry.Begin(c.Context(), env)
			defer end()
			if bot.IsPartJob(env) {
				return bot.DoPart(ctx, env)
			}
			return bot.Act(ctx, env, rehearse)
		},
	}
}

// rehearse carries a dry run on for a job, and prints what it would have left
// behind.
func rehearse(ctx context.Context, env environ.Env, w *workspace.Workspace, d bot.DryRun) (metadata.Run, error) {
	log := logForm("text")
	if d.Verbose {
		log = "verbose"
	}
	run, err := carryOn(ctx, w, env, runOptions{Options: d.Options, dry: true, log: log})
	if err != nil {
		return run, err
	}
	return run, showRehearsal(ctx, w, env.Stdout, run, d.Label)
}
