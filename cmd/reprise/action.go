package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

func actionCommand(env environ.Env) *cobra.Command {
	return &cobra.Command{
		Use: "action", Hidden: true, Short: "Do what the event asks that started a workflow (for action.yml)",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, env, end := telemetry.Begin(c.Context(), env)
			defer end()
			return bot.Act(ctx, env, rehearse)
		},
	}
}

// rehearse carries a dry run on for a job, and prints what it would have left
// behind.
func rehearse(ctx context.Context, env environ.Env, w *workspace.Workspace, d bot.DryRun) (metadata.Run, error) {
	run, err := carryOn(ctx, w, env, runOptions{Options: d.Options, dry: true, logFormat: "text", verbose: d.Verbose})
	if err != nil {
		return run, err
	}
	return run, showRehearsal(ctx, w, env.Stdout, run, d.Label)
}
