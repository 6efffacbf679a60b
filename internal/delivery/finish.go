package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/page"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// FinishWay is how the branch of a run ends.
type FinishWay struct {
	Squash bool   // as one commit
	Title  string // of that commit; empty: it is called like the issue
}

// Do takes the folder of a completed run off its branch and, if it is to be squashed, makes of the branch one commit
// on the one that it began with or, where people have merged the base, on what they merged. All that was on the
// branch stays in the history of the record that is kept. To do it again changes nothing. It gives the record that is
// committed next. Every error leaves the branch as it was; a *command.Refusal says what is in the way.
func Finish(ctx context.Context, w *workspace.Workspace, e *engine.Engine, next metadata.Run, way FinishWay, at time.Time) (metadata.Run, error) {
	if !way.Squash {
		return next, e.Finish(ctx, w.Run, nil)
	}
	from, err := squashOn(ctx, w, way.Title, at)
	if err == nil && from != w.Run.BaseCommit {
		next = phases.MergeNoted(next, metadata.Merge{At: at, Commit: from}, metadata.Because("base_has", "branch", BaseName(next, w.Source)))
	}
	return next, err
}

// squashOn makes of the branch one commit, and gives the one of the base that it is on.
func squashOn(ctx context.Context, w *workspace.Workspace, title string, at time.Time) (from string, err error) {
	run := w.Run
	if run.BranchName == w.Source.DefaultBranch {
		return from, command.Refuse(metadata.NothingDone, metadata.Because("squash_default_branch", "branch", run.BranchName))
	}
	from, updates, err := updated(ctx, w)
	if err != nil {
		return from, err
	}
	log, err := w.Git().Ancestry(ctx, from)
	if err != nil {
		return from, err
	}
	if len(log) == 0 {
		return from, command.Refuse(metadata.NothingDone, metadata.Because("squash_nothing"))
	}
	if isOne, err := squashed(ctx, w, log); isOne || err != nil {
		return from, err
	}
	for _, c := range log {
		switch ours, err := w.Made(ctx, c); {
		case err != nil:
			return from, err
		case !ours && !slices.Contains(updates, c.Commit):
			return from, command.Refuse(metadata.NothingDone, metadata.Because("squash_others", "commit", fmt.Sprintf("%.12s", c.Commit), "subject", metadata.Said(text.Flat(c.Subject))))
		}
	}
	message := cmp.Or(phases.NoSkips(text.Flat(title)), page.PullTitle(run)) + "\n\nReprise-Issue: " + run.IssueNumber + "\n"
	return from, w.Git().Squash(ctx, git.Commit{Message: message, Time: at.UTC().Truncate(time.Second)}, from)
}

// squashed reports whether the branch is one commit already.
func squashed(ctx context.Context, w *workspace.Workspace, log []git.LogEntry) (bool, error) {
	if len(log) != 1 || !slices.ContainsFunc(log[0].Trailers, func(t git.Trailer) bool { return t.Key == git.RecordTrailer }) {
		return false, nil
	}
	return w.Made(ctx, log[0])
}
