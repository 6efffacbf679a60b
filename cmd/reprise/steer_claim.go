package main

import (
	"context"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// Claim makes sure that nobody else works on a run, which was opened with o, and takes what
// jobs that are gone have done of its parts: a command is for the run as it stands with that.
func claimRun(ctx context.Context, w *workspace.Workspace, env environ.Env, o workspace.Options) error {
	if err := w.Busy(env.Now()); err != nil {
		return err
	}
	return bot.FoldAbandonedParts(ctx, w, env, o)
}
