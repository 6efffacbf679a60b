package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// holder describes the process that works on a run, from the lease that it wrote.
func (p *place) holder(ctx context.Context, lease *metadata.Lease) metadata.Reason {
	if lease == nil || lease.Owner == p.me || !p.Env.Now().Before(lease.Expires) {
		return ""
	}
	why, free := metadata.Because("held", "owner", lease.Owner), lease.Expires.UTC().Format("2006-01-02 15:04 UTC")
	other, ok := environ.ParseOwner(lease.Owner)
	if !ok {
		return metadata.All(why, metadata.Because("held_until", "when", free))
	}
	if mine, ok := environ.ParseOwner(p.me); ok && mine.Run == other.Run && (mine.Attempt > other.Attempt || sharedLease(p.me, lease)) {
		return "" // this is the same job, started again, or the one that the others have worked for
	}
	over, err := (&github.Checks{Repo: p.GitHub}).JobOver(ctx, github.Attempt{Run: other.Run, N: int64(other.Attempt)}, func(runner string) bool {
		return other.Runner != "" && environ.RunnerName(runner) == other.Runner
	})
	switch {
	case err != nil:
		return metadata.All(why, metadata.Because("held_unknown", "error", err, "when", free))
	case over:
		return ""
	}
	return why
}

// allTasks names all that do parts beside a process, as the holder of a lease: the jobs of the
// run of a workflow that it is in, else tasks on any machine.
func allTasks(me string) string {
	if mine, ok := environ.ParseOwner(me); ok {
		return fmt.Sprintf("actions/%d/%d", mine.Run, mine.Attempt)
	}
	return phases.TasksOwner
}

// sharedLease reports whether a lease is that of all that do parts beside a process; of a
// workflow, in this attempt of its run or one before.
func sharedLease(me string, lease *metadata.Lease) bool {
	if lease == nil || lease.Owner != allTasks(lease.Owner) {
		return false
	}
	mine, ok := environ.ParseOwner(me)
	other, known := environ.ParseOwner(lease.Owner)
	return ok == known && mine.Run == other.Run && mine.Attempt >= other.Attempt
}

// jobOf names the job that a process is, as the origin of a command that stands in no comment; "" if it is none.
func jobOf(me string) string {
	if mine, ok := environ.ParseOwner(me); ok {
		return fmt.Sprintf("actions/%d", mine.Run)
	}
	return ""
}

// lostRace reports whether an error means that a push came too late, because another job has taken the run.
func lostRace(err error) bool {
	var moved *git.Moved
	return errors.As(err, &moved) && moved.Run || errors.As(err, new(*folders.Held))
}
