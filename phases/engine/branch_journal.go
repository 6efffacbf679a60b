package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Journal writes the record of a run to its branch. Every field is needed unless it says otherwise.
type Journal struct {
	Plan   *pipelines.Pipeline
	Tree   BranchTree
	Frozen map[string][]byte // files of the first commit, or of one that takes them anew: issue, pipeline, prompts
	Now    func() time.Time

	// Text for people is masked, and a file with a secret is not committed.
	SecretFinder

	// Committed is told of each record that is on the branch from now on. Told gives up to which
	// revision hooks were told, for the next record; nil: that keeps what it has. Both may be nil.
	Committed func(ctx context.Context, run metadata.Run)
	Told      func() []int

	// Owner names this process in the lease on the run, which every commit renews for the time Hold; empty: there is no
	// lease. A run that has stopped keeps it until GiveBack: one process alone must do what follows.
	Owner      string
	Hold       time.Duration
	StaleLease bool      // the branch has the lease of a process that is gone
	until      time.Time // the end of the lease that this process has; zero if it has none
}

// Write commits a record with what belongs to it, and takes or renews the lease on the run.
func (j *Journal) Write(ctx context.Context, run metadata.Run, c BranchCommit) error {
	return j.writeUnder(ctx, j.lease(ctx, run), run, c)
}

// writeUnder is the one place where a record is saved, committed and pushed. The
// lease is the one that the run has from then on; nil: none.
func (j *Journal) writeUnder(ctx context.Context, lease *metadata.Lease, run metadata.Run, c BranchCommit) error {
	if err := j.present(ctx, c.Staged, c.Moves); err != nil {
		return err
	}
	run.Execution.Lease = lease
	if j.Told != nil {
		run.Execution.Told = j.Told()
	}
	data, err := metadata.Format(run)
	if err != nil {
		return fmt.Errorf("the next record would be invalid, nothing was saved: %w", err)
	}
	if c.Files == nil {
		c.Files = map[string][]byte{}
	}
	record := path.Join(phases.Folder(run.IssueNumber), metadata.File)
	c.Files[record] = data
	exact := func(name string) bool {
		_, frozen := j.Frozen[name]
		return frozen || name == record
	}
	if err := j.maskFiles(c.Files, exact); err != nil {
		return err
	}
	for _, rec := range run.Phases {
		if p := j.Plan.Phase(rec.Name); p != nil && phases.PhasesBeside(j.Plan, &rec) && (rec.Lane == nil || rec.Lane.Conflict == nil) {
			c.Gone = append(c.Gone, phases.ConflictFolder(run, p))
		}
	}
	if folder := phases.ObsoleteConflict(phases.On(j.Plan, run)); folder != "" {
		c.Gone = append(c.Gone, folder)
	}
	statement := path.Join(phases.Folder(run.IssueNumber), metadata.StatementFile)
	c.Gone = append(c.Gone, statement) // of an earlier record
	c.States = map[bool]string{true: statement}[run.Status == metadata.Completed]
	c.Message = j.Mask(c.Message)
	c.At = run.UpdatedAt
	c.Aside = run.Status != metadata.Running && c.Staged == nil && c.Take == "" && len(c.Moves) == 0
	ctx, stop := linger(ctx)
	defer stop()
	if err := j.Tree.Commit(ctx, c); err != nil {
		return err
	}
	j.until, j.StaleLease = time.Time{}, false
	if lease != nil {
		j.until = lease.Expires
	}
	if j.Committed != nil {
		j.Committed(ctx, run)
	}
	return nil
}

// present leaves out of moves what a later call has removed.
func (j *Journal) present(ctx context.Context, staged StagedTree, moves map[string]string) (err error) {
	if staged == nil && len(moves) > 0 {
		if staged, err = j.Tree.Stage(ctx); err != nil {
			return err
		}
	}
	for from := range moves {
		_, err := staged.Read(ctx, from)
		if errors.Is(err, fs.ErrNotExist) {
			delete(moves, from)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// flushTime is how long an interrupted run has to save and push its state.
const flushTime = 5 * time.Second

// linger gives a context that outlives ctx by flushTime, so that being told to stop never cuts a commit in half.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, cancel) })
	return longer, func() { stop(); cancel() }
}

// Begin commits the first record of a run, before anything is spent: a branch that cannot be pushed is noticed here.
// What an earlier run of the issue has left in the folder stays in the history.
func (j *Journal) Begin(ctx context.Context, run metadata.Run) error {
	return j.Write(ctx, run, BranchCommit{Message: phases.CommitMessage{Subject: "start: " + j.Plan.Name + " pipeline"}.Text(run), Files: maps.Clone(j.Frozen), Gone: []string{phases.Folder(run.IssueNumber)}})
}

// Rollback carries out what phases.PlanRollback computed, as one commit.
func (j *Journal) Rollback(ctx context.Context, r phases.RollbackPlan, staged StagedTree) error {
	if err := metadata.Follow(r.Before, r.Run); err != nil {
		return err
	}
	m := phases.CommitMessage{
		Subject: fmt.Sprintf("%s: taken back to %s", r.Entry.ToPhase, r.Entry.ToStep), Why: r.Entry.Reason,
		Phase: r.Entry.ToPhase, Step: string(r.Entry.ToStep),
	}
	files := map[string][]byte{r.ReasonFile: phases.WrittenReason(r)}
	maps.Copy(files, r.Files)
	return j.Write(ctx, r.Run, BranchCommit{Message: m.Text(r.Run), Files: files, Moves: r.Moves, Staged: staged})
}

// Refreeze commits a record together with what it goes on with: the files of Frozen.
func (j *Journal) Refreeze(ctx context.Context, run metadata.Run, what string) error {
	return j.Write(ctx, run, BranchCommit{Message: phases.CommitMessage{Subject: "refresh: " + what}.Text(run), Files: maps.Clone(j.Frozen)})
}

// Finish takes the run's folder off the branch, if all phases are done and the pipeline does not want it kept: what
// CI is asked about, and what is ready then, is that commit. Where the record that is kept cannot be pushed, the folder
// stays, and warn hears why. Without warn it is done by hand: in any case, or with an error.
func (j *Journal) Finish(ctx context.Context, run metadata.Run, warn func(error)) error {
	done := run.Status == metadata.Completed || run.Stop != nil && run.Stop.Code == metadata.AwaitingCI
	if !done || warn != nil && j.Plan.Finish == pipelines.FinishKeep {
		return nil
	}
	m := phases.CommitMessage{Subject: "finish: the folder of the run is taken off the branch, and kept"}
	ctx, stop := linger(ctx)
	defer stop()
	err := j.Tree.Commit(ctx, BranchCommit{Message: m.Text(run), Shelve: true, At: run.UpdatedAt})
	if warn != nil && errors.As(err, new(*NotPushed)) {
		warn(err)
		return nil
	}
	return err
}

// Amend commits a record that changed with no work attached, such as a retry.
func (j *Journal) Amend(ctx context.Context, run metadata.Run, subject string) error {
	return j.Note(ctx, run, subject, BranchCommit{})
}

// Note commits a record with what belongs to it, at the phase that it is in.
func (j *Journal) Note(ctx context.Context, run metadata.Run, subject string, c BranchCommit) error {
	c.Message = phases.CommitMessage{Subject: subject, Phase: run.CurrentPhase}.Text(run)
	return j.Write(ctx, run, c)
}

// Approve commits a record in which a phase was approved, together with what that places at
// protected paths: the very texts that the record has, whatever is done to the tree meanwhile.
func (j *Journal) Approve(ctx context.Context, run metadata.Run, subject string) error {
	all, err := placeOpened(j.Tree.Dir(), phases.ToPlace(phases.On(j.Plan, run)))
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
		return j.changedSince(c.Path, metadata.Because("protected"))
	})
	if err != nil {
		return errors.Join(err, j.Tree.Restore(context.WithoutCancel(ctx)))
	}
	return j.Note(ctx, run, subject, BranchCommit{Staged: staged})
}

// Merge commits a record with the merge of a commit of the base, and files that say where the two conflict.
func (j *Journal) Merge(ctx context.Context, run metadata.Run, base string, staged StagedTree, files map[string][]byte) error {
	last := run.Decisions[len(run.Decisions)-1]
	m := phases.CommitMessage{Subject: "base: " + last.Why.In(prompts.Words(run.Language)), Phase: last.Phase}
	return j.Write(ctx, run, BranchCommit{Message: m.Text(run), Files: files, Staged: staged, Merges: base})
}

// GiveBack commits that this process is done with a run that has stopped, and returns that record.
func (j *Journal) GiveBack(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if !j.Holds() && !j.StaleLease {
		return run, nil
	}
	return j.handOver(ctx, run, "done, the run is free", nil)
}

// HandOn commits that another owner has the lease from now on, for a time, and returns that record: others go on with the run.
func (j *Journal) HandOn(ctx context.Context, run metadata.Run, subject, owner string, hold time.Duration) (metadata.Run, error) {
	return j.handOver(ctx, run, subject, &metadata.Lease{Owner: owner, Fence: run.Execution.Attempt, Expires: j.Now().Add(hold)})
}

// handOver commits that the run has another lease from now on, or none, and returns that record.
func (j *Journal) handOver(ctx context.Context, run metadata.Run, subject string, lease *metadata.Lease) (metadata.Run, error) {
	next := phases.Touch(run, j.Now())
	next.Execution.Lease = lease
	m := phases.CommitMessage{Subject: subject, Phase: next.CurrentPhase}
	if err := j.writeUnder(ctx, lease, next, BranchCommit{Message: m.Text(next)}); err != nil {
		return run, err
	}
	return next, nil
}

// Holds reports whether this process has the lease, as far as it knows.
func (j *Journal) Holds() bool { return !j.until.IsZero() }

// LeaseExpired reports whether this process had the lease and can no longer be sure
// to have it: another process may be working on the run.
func (j *Journal) LeaseExpired() bool { return j.Holds() && !j.Now().Before(j.until) }

// Renew commits that this process is still at work if its lease has run out, and returns that record: before anything
// is spent it has to know that no other one has taken the run.
func (j *Journal) Renew(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if !j.LeaseExpired() {
		return run, nil
	}
	next := phases.Touch(run, j.Now())
	if err := j.Amend(ctx, next, "still at work"); err != nil {
		return run, err
	}
	return next, nil
}

// lease is the lease for the next commit. A process that is told to stop gives it back, and does not take it again for
// what it notes after that; one whose step was ended by people keeps it.
func (j *Journal) lease(ctx context.Context, run metadata.Run) *metadata.Lease {
	if j.Owner == "" || run.Status == metadata.Interrupted && (ctx.Err() != nil || !j.Holds()) {
		return nil
	}
	return &metadata.Lease{Owner: j.Owner, Fence: run.Execution.Attempt, Expires: j.Now().Add(j.Hold)}
}
