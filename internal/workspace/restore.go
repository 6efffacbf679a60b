package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Restore takes the code back to what it was when the target phase ended, to
// be committed with the rollback.
func (w *Workspace) Restore(ctx context.Context, r *phases.RollbackPlan) (engine.StagedTree, error) {
	if phases.MergedSince(w.Run, r.Entry.ToPhase) {
		return nil, exit.NotAllowed(metadata.Because("restore_merged", "phase", r.Entry.ToPhase))
	}
	end, err := w.EndOf(ctx, r.Entry.ToPhase)
	if err != nil {
		return nil, err
	}
	stage, err := w.Repo.RestoreTree(ctx, end, ".reprise")
	if err != nil {
		return nil, err
	}
	r.Paths = stage.Paths
	return staged{Tree{Repo: w.Repo}, stage}, nil
}

// Merge brings into the tree what a commit of the base and the tip make together, to be
// committed. From is a commit that both have.
func (w *Workspace) Merge(ctx context.Context, commit, from string) (engine.StagedTree, git.MergeResult, error) {
	stage, result, err := w.Repo.Merge(ctx, commit, from)
	if err != nil {
		return nil, result, err
	}
	return staged{Tree{Repo: w.Repo}, stage}, result, nil
}

// EndOf finds the newest commit in which a step of a phase ended: the tree as
// the phase left it. Other commits, such as that of a rollback, only name the
// phase.
func (w *Workspace) EndOf(ctx context.Context, phase string) (string, error) {
	log, err := w.Repo.Log(ctx, w.Run.BaseCommit)
	if err != nil {
		return "", err
	}
	at, err := w.Commits().Newest(ctx, log, func(c git.LogEntry) bool {
		of := slices.Contains(c.Trailers, git.Trailer{Key: PhaseTrailer, Value: phase})
		return of && slices.ContainsFunc(c.Trailers, func(t git.Trailer) bool { return t.Key == AttemptTrailer })
	})
	switch {
	case err != nil:
		return "", err
	case at >= 0:
		return log[at].Commit, nil
	}
	return "", fmt.Errorf("no commit of phase %s is on %s, so there is nothing to restore from: take the run back without --restore", phase, w.Run.BranchName)
}

// Commits tells the commits of the run from those of others.
func (w *Workspace) Commits() TrustCommits {
	return TrustCommits{Branch: w.Repo, Issue: w.Run.IssueNumber, Record: phases.RecordFile(w.Issue.ID)}
}

// Unchanged refuses an approval of the part of that name, or of what the run waits
// at, for what has changed since a commit.
func (w *Workspace) Unchanged(ctx context.Context, commit, part string) error {
	if commit == "" {
		return nil
	}
	phase, _, _, _ := phases.ApprovalOf(w.Plan, w.Run, part)
	full, seen, err := w.recordAt(ctx, commit)
	if err != nil {
		return err
	}
	now, then := w.Run.Phase(phase), seen.Phase(phase)
	if then == nil || then.Generation != now.Generation || then.Written != now.Written || then.Digest != now.Digest {
		return fmt.Errorf("%s has changed since %.12s; look at it as it is now", phase, commit)
	}
	_, code, err := Tree{Repo: w.Repo}.Diff(ctx, full)
	if err == nil && code.Files > 0 {
		err = fmt.Errorf("the code has changed since %.12s; look at it as it is now", commit)
	}
	return err
}

// recordAt gives the record as a commit of the run has it, and the full hash of
// the commit, which may be named by its first digits.
func (w *Workspace) recordAt(ctx context.Context, commit string) (string, metadata.Run, error) {
	log, err := w.Repo.Log(ctx, w.Run.BaseCommit)
	if err != nil {
		return "", metadata.Run{}, err
	}
	for _, c := range log {
		if !strings.HasPrefix(c.Commit, commit) {
			continue
		}
		data, err := w.Repo.ReadFile(ctx, c.Commit, phases.RecordFile(w.Issue.ID))
		if err != nil {
			return "", metadata.Run{}, err
		}
		run, err := metadata.Parse(data, commit)
		return c.Commit, run, err
	}
	return "", metadata.Run{}, fmt.Errorf("no commit %s of the run is on %s: git log %[2]s shows those that are", commit, w.Run.BranchName)
}
