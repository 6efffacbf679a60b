package workspace

import (
	"context"
	"path"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// The trailers of a commit that say which attempt, and which phase, it is of.
const (
	AttemptTrailer = "Reprise-Attempt"
	PhaseTrailer   = "Reprise-Phase"
)

// Patches gives what the commits with a trailer have changed, the oldest first. The
// record itself and what the run was defined by are left out. The error wraps
// fs.ErrNotExist where the commits are not in this repository.
func (r *Recorded) Patches(ctx context.Context, trailer string) ([]git.CommitPatch, error) {
	var own []string
	for _, name := range []string{metadata.File, phases.PipelineFile, phases.IssueFile, phases.DiscussionFile, "prompts.json"} {
		own = append(own, path.Join(phases.Folder(r.Run.IssueNumber), name))
	}
	return r.Source.Patches(ctx, r.Run.BaseCommit, r.Ref(), trailer, false, own...)
}

// Marked gives the commits with a trailer, the oldest first, without what they have changed,
// and with those that have changed the record alone.
// The error is as with Patches.
func (r *Recorded) Marked(ctx context.Context, trailer string) ([]git.CommitPatch, error) {
	return r.Source.Patches(ctx, r.Run.BaseCommit, r.Ref(), trailer, true)
}

// Change gives what the whole run has changed besides its own folder. The error
// wraps fs.ErrNotExist as with Patches.
func (r *Recorded) Change(ctx context.Context) (git.CommitPatch, error) {
	return r.Source.Difference(ctx, r.Run.BaseCommit, r.Ref(), path.Dir(phases.Folder(r.Run.IssueNumber)))
}

// Ref names what has the commits of the run: its branch or, where that is gone, the
// record that is kept.
func (r *Recorded) Ref() string {
	if r.Gone {
		return KeptRef(r.Run.IssueNumber)
	}
	return r.Run.BranchName
}
