package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// holds says whether a condition of skip_if holds, and why, or why that cannot be said.
func (e *Engine) holds(ctx context.Context, run metadata.Run, phase string, asked pipelines.SkipIf) (bool, metadata.Reason, error) {
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
	tree := map[string]bool{}
	if len(asked.Tree) > 0 {
		paths, err := e.Tree.Paths(ctx)
		if err != nil {
			return false, "", err
		}
		tree = phases.InTree(paths, asked.Tree)
	}
	known, err := phases.FactsBefore(run, phase, phases.IssueFacts{Labels: e.Issue.Labels, Title: e.Issue.Title, Author: e.Issue.Author}, map[string]any{"files": append([]string{}, changed...), "tree": tree})
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
