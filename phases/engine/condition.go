package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/facts"
	"github.com/reprise-ci/reprise/phases/leaving"
	"github.com/reprise-ci/reprise/phases/reply"
	"github.com/reprise-ci/reprise/phases/scope"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/skipping"
)

// holds says whether a condition of skip_if holds, and why, or why that cannot be said.
func (e *Engine) holds(ctx context.Context, run metadata.Run, phase string, asked skipping.If) (bool, metadata.Reason, error) {
	if asked.Run != "" {
		return e.commandHolds(ctx, asked)
	}
	unclear := func(err error) (bool, metadata.Reason, error) {
		return false, metadata.Because("skip_if_unclear", "at", "phases."+phase+".skip_if.when", "error", e.Mask(texts.Line(err.Error()))), nil
	}
	patch, stat, err := e.Tree.Diff(ctx, run.BaseCommit)
	if err != nil {
		return false, "", err
	}
	changed, named := scope.Changed(patch)
	slices.Sort(changed)
	if named != stat.Files {
		return unclear(fmt.Errorf("%d files are changed, and only %d of them can be named", stat.Files, named))
	}
	known, err := facts.Before(run, phase, facts.Issue{Labels: e.Issue.Labels, Title: e.Issue.Title, Author: e.Issue.Author}, changed)
	if err != nil {
		return unclear(err)
	}
	holds, err := e.Matches(ctx, asked.When, known)
	if err != nil {
		return unclear(err)
	}
	if !holds {
		return false, "", nil
	}
	return true, metadata.Because("skip_if_holds", "facts", facts.About(asked.When, known)), nil
}

// commandHolds runs the command of a condition on what the branch has.
func (e *Engine) commandHolds(ctx context.Context, asked skipping.If) (bool, metadata.Reason, error) {
	ctx, done := e.attend(ctx)
	defer done()
	if err := e.Tree.Prepare(ctx); err != nil {
		return false, "", err
	}
	back, err := e.Tree.SetAside(ctx, nil)
	if err != nil {
		return false, "", err
	}
	r, err := e.Checker.Check(ctx, e.Tree.Dir(), pipelines.Check{
		Name: leaving.Step, Run: asked.Run, Env: asked.Env, Timeout: cmp.Or(asked.Timeout, pipelines.Duration(time.Minute)), Network: pipelines.Network{Closed: true},
	})
	// What it has written is nobody's work.
	err = errors.Join(err, back(), e.Tree.Restore(context.WithoutCancel(ctx)))
	switch {
	case ctx.Err() != nil:
		return false, "", context.Cause(ctx)
	case err != nil:
		return false, "", err
	case r.Pass:
		return true, metadata.Because("skip_if_passed", "run", metadata.Said(texts.Cut(asked.Run, 200))), nil
	case r.ExitCode == 1:
		return false, "", nil
	}
	return false, metadata.Because("skip_if_broken", "run", metadata.Said(texts.Cut(asked.Run, 200)), "code", r.ExitCode, "end", metadata.Said(e.Mask(texts.Cut(reply.LastWords(r.Output), 500)))), nil
}
