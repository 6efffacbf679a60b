package engine

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// GiveBack commits that this process is done with a run that has stopped, and
// returns that record. Where it has no lease there is nothing to give back.
func (j *Journal) GiveBack(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if !j.Holds() && !j.StaleLease {
		return run, nil
	}
	next := phases.Touch(run, j.Now())
	m := phases.CommitMessage{Subject: "done, the run is free", Phase: next.CurrentPhase}
	if err := j.writeUnder(ctx, nil, next, BranchCommit{Message: m.Text(next)}); err != nil {
		return run, err
	}
	return next, nil
}

// HandOn commits a record whose lease another owner has from then on, for a time: others go
// on with the run.
func (j *Journal) HandOn(ctx context.Context, run metadata.Run, subject, owner string, hold time.Duration) error {
	lease := &metadata.Lease{Owner: owner, Fence: run.Execution.Attempt, Expires: j.Now().Add(hold)}
	m := phases.CommitMessage{Subject: subject, Phase: run.CurrentPhase}
	return j.writeUnder(ctx, lease, run, BranchCommit{Message: m.Text(run)})
}

// Holds reports whether this process has the lease, as far as it knows.
func (j *Journal) Holds() bool { return !j.until.IsZero() }

// LeaseExpired reports whether this process had the lease and can no longer be sure
// to have it: another process may be working on the run.
func (j *Journal) LeaseExpired() bool { return j.Holds() && !j.Now().Before(j.until) }

// Renew commits that this process is still at work if its lease has run out,
// and returns that record: before anything is spent it has to know that no
// other one has taken the run.
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

// lease is the lease for the next commit: who works on the run, and when that
// ends unless another commit follows. A process that is told to stop gives the
// lease back, and does not take it again for what it notes after that; one whose step was
// ended by people keeps it.
func (j *Journal) lease(ctx context.Context, run metadata.Run) *metadata.Lease {
	if j.Owner == "" || run.Status == metadata.Interrupted && (ctx.Err() != nil || !j.Holds()) {
		return nil
	}
	return &metadata.Lease{Owner: j.Owner, Fence: run.Execution.Attempt, Expires: j.Now().Add(j.Hold)}
}
