package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Journal writes the record of a run to its branch. Every field is needed unless it says
// otherwise.
type Journal struct {
	Plan   *pipelines.Pipeline
	Tree   BranchTree
	Frozen map[string][]byte // files of the first commit, or of one that takes them anew: issue, pipeline, prompts
	Now    func() time.Time

	// Guard knows what must not reach the branch: text is masked, and a file
	// that has such a thing is not committed. Its zero value hides nothing.
	LeakGuard

	// Committed is told of each record that is on the branch from now on. Told gives up to which
	// revision hooks were told, for the next record; nil: that keeps what it has. Both may be nil.
	Committed func(ctx context.Context, run metadata.Run)
	Told      func() []int

	// Owner names this process in the lease on the run. Every commit takes or
	// renews the lease for the time Hold; with an empty Owner there is no
	// lease. A run that has stopped keeps it until GiveBack, because one
	// process alone must do what follows from the stop. A process that is told
	// to stop gives it back at once.
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
	if err := j.MaskFiles(c.Files, exact); err != nil {
		return err
	}
	for _, rec := range run.Phases {
		if p := j.Plan.Phase(rec.Name); p != nil && phases.PhasesBeside(j.Plan, &rec) && (rec.Lane == nil || rec.Lane.Conflict == nil) {
			c.Gone = append(c.Gone, phases.ConflictFolder(run, p))
		}
	}
	if folder := phases.ObsoleteConflict(j.Plan, run); folder != "" {
		c.Gone = append(c.Gone, folder)
	}
	c.Gone = append(c.Gone, phases.GivenUpFiles(j.Plan, run)...)
	c.Message = j.Mask(c.Message)
	c.At = run.UpdatedAt
	c.Aside = run.Status != metadata.Running && c.Staged == nil && len(c.Moves) == 0 && !c.Anew
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
// GitHub kills a cancelled job ten seconds after it told it.
const flushTime = 5 * time.Second

// linger gives a context that outlives ctx by flushTime, so that being told
// to stop never cuts a commit in half.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, cancel) })
	return longer, func() { stop(); cancel() }
}
