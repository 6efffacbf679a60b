package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// holds says whether a condition of skip_if holds, and why, or why that cannot be said.
func (e *Engine) holds(ctx context.Context, run metadata.Run, phase string, asked pipelines.SkipIf) (bool, metadata.Reason, error) {
	if asked.Run != "" {
		return e.commandHolds(ctx, asked)
	}
	unclear := func(err error) (bool, metadata.Reason, error) {
		return false, metadata.Because("skip_if_unclear", "at", "phases."+phase+".skip_if.when", "error", e.Mask(phases.OneLine(err.Error()))), nil
	}
	patch, stat, err := e.Tree.Diff(ctx, run.BaseCommit)
	if err != nil {
		return false, "", err
	}
	changed, named := phases.ChangedInPatch(patch)
	slices.Sort(changed)
	if named != stat.Files {
		return unclear(fmt.Errorf("%d files are changed, and only %d of them can be named", stat.Files, named))
	}
	known, err := phases.FactsBefore(run, phase, phases.IssueFacts{Labels: e.Issue.Labels, Title: e.Issue.Title, Author: e.Issue.Author}, changed)
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
	return true, metadata.Because("skip_if_holds", "facts", phases.AboutFacts(asked.When, known)), nil
}

// commandHolds runs the command of a condition on what the branch has.
func (e *Engine) commandHolds(ctx context.Context, asked pipelines.SkipIf) (bool, metadata.Reason, error) {
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
		Name: phases.SkipStep, Run: asked.Run, Env: asked.Env, Timeout: cmp.Or(asked.Timeout, pipelines.Duration(time.Minute)), Network: pipelines.Network{Closed: true},
	})
	// What it has written is nobody's work.
	err = errors.Join(err, back(), e.Tree.Restore(context.WithoutCancel(ctx)))
	switch {
	case ctx.Err() != nil:
		return false, "", context.Cause(ctx)
	case err != nil:
		return false, "", err
	case r.Pass:
		return true, metadata.Because("skip_if_passed", "run", metadata.Said(phases.CutText(asked.Run, 200))), nil
	case r.ExitCode == 1:
		return false, "", nil
	}
	return false, metadata.Because("skip_if_broken", "run", metadata.Said(phases.CutText(asked.Run, 200)), "code", r.ExitCode, "end", metadata.Said(e.Mask(phases.CutText(phases.LastWords(r.Output), 500)))), nil
}
