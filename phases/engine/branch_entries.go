package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Begin commits the first record of a run, before anything is spent: a branch
// that cannot be pushed is noticed here. What an earlier run of the issue has
// left in the folder, because its branch was merged, is put aside: it stays in
// the history.
func (j *Journal) Begin(ctx context.Context, run metadata.Run) error {
	return j.Write(ctx, run, BranchCommit{Message: phases.CommitMessage{Subject: "start: " + j.Plan.Name + " pipeline"}.Text(run), Files: maps.Clone(j.Frozen), Anew: true})
}

// Rollback carries out what phases.PlanRollback computed, as one commit. Staged is
// the code that goes back with it; nil: none.
func (j *Journal) Rollback(ctx context.Context, r phases.RollbackPlan, staged StagedTree) error {
	if err := metadata.Follow(r.Before, r.Run); err != nil {
		return err
	}
	m := phases.CommitMessage{
		Subject: fmt.Sprintf("%s: taken back to %s", r.Entry.ToPhase, r.Entry.ToStep), Why: r.Entry.Reason,
		Phase: r.Entry.ToPhase, Step: string(r.Entry.ToStep),
	}
	return j.Write(ctx, r.Run, BranchCommit{
		Message: m.Text(r.Run), Files: map[string][]byte{r.ReasonFile: phases.WrittenReason(r)}, Moves: r.Moves, Staged: staged,
	})
}

// Refreeze commits a record together with what it goes on with: the files of
// Frozen. What says in a few words what that is.
func (j *Journal) Refreeze(ctx context.Context, run metadata.Run, what string) error {
	return j.Write(ctx, run, BranchCommit{Message: phases.CommitMessage{Subject: "refresh: " + what}.Text(run), Files: maps.Clone(j.Frozen)})
}

// Finish takes the run's folder off the branch, if all phases are done and the
// pipeline does not want it kept: what CI is asked about, and what is ready then, is
// that commit. By hand it is taken off in any case. The next step of the run puts it back.
func (j *Journal) Finish(ctx context.Context, run metadata.Run, byHand bool) error {
	done := run.Status == metadata.Completed || run.Stop != nil && run.Stop.Code == metadata.AwaitingCI
	if !done || !byHand && j.Plan.Finish == pipelines.FinishKeep {
		return nil
	}
	m := phases.CommitMessage{Subject: "finish: the folder of the run is taken off the branch, and kept"}
	ctx, stop := linger(ctx)
	defer stop()
	return j.Tree.Commit(ctx, BranchCommit{Message: m.Text(run), Shelve: true, At: run.UpdatedAt})
}

// Amend commits a record that changed with no work attached, such as a retry.
func (j *Journal) Amend(ctx context.Context, run metadata.Run, subject string) error {
	return j.Write(ctx, run, BranchCommit{Message: phases.CommitMessage{Subject: subject, Phase: run.CurrentPhase}.Text(run)})
}

// Approve commits a record in which a phase was approved, together with what that places at
// protected paths: the very texts that the record has, whatever is done to the tree meanwhile.
func (j *Journal) Approve(ctx context.Context, run metadata.Run, subject string) error {
	all, err := PlaceOpened(j.Tree.Dir(), phases.ToPlace(j.Plan, run))
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return j.Amend(ctx, run, subject)
	}
	staged, err := j.Tree.Stage(ctx, phases.OpenedPaths(all)...)
	if err != nil {
		return err
	}
	err = staged.Each(ctx, func(c phases.Change, data []byte) error {
		if slices.ContainsFunc(all, func(o metadata.Opened) bool { return o.Path == c.Path && o.Text == string(data) && !c.Gone }) {
			return nil
		}
		return j.ChangedSince(c.Path, metadata.Because("protected"))
	})
	if err != nil {
		return errors.Join(err, j.Tree.Restore(context.WithoutCancel(ctx)))
	}
	return j.Write(ctx, run, BranchCommit{Message: phases.CommitMessage{Subject: subject, Phase: run.CurrentPhase}.Text(run), Staged: staged})
}

// Fold commits a record together with what was done of parts elsewhere: files of their
// folders, and the commits that have their code.
func (j *Journal) Fold(ctx context.Context, run metadata.Run, subject string, files map[string][]byte, heads []string) error {
	return j.Write(ctx, run, BranchCommit{Message: phases.CommitMessage{Subject: subject, Phase: run.CurrentPhase}.Text(run), Files: files, Parents: heads})
}

// Merge commits a record with the merge of a commit of the base, and files that say
// where the two conflict.
func (j *Journal) Merge(ctx context.Context, run metadata.Run, base string, staged StagedTree, files map[string][]byte) error {
	last := run.Decisions[len(run.Decisions)-1]
	m := phases.CommitMessage{Subject: "base: " + last.Why.In(prompts.Words(run.Language)), Phase: last.Phase}
	return j.Write(ctx, run, BranchCommit{Message: m.Text(run), Files: files, Staged: staged, Merges: base})
}
