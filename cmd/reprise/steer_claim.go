package main

import (
	"context"
	"errors"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// openClaimed opens a run for a change of it, and makes sure that nobody else works on it.
func openClaimed(ctx context.Context, env environ.Env, o workspace.Options) (*workspace.Workspace, error) {
	w, err := workspace.Open(ctx, env, o)
	if err != nil {
		return nil, err
	}
	if err := claimRun(ctx, w, env, o); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// claimRun makes sure that nobody else works on a run, which was opened with o, and takes what
// jobs that are gone have done of its parts: a command is for the run as it stands with that.
func claimRun(ctx context.Context, w *workspace.Workspace, env environ.Env, o workspace.Options) error {
	if err := w.Busy(env.Now()); err != nil {
		return err
	}
	return bot.FoldAbandonedParts(ctx, w, env, o)
}
