package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// lease knows whether this process has taken the run and still has it, or another process has.
type lease struct {
	*place
	holding bool // this process has taken the run
	orphan  bool // who had the run is gone, and may have left something undone

	// mu guards engine: whether the run is still ours is asked before anything is
	// said, also while an agent works. All else only the bot's goroutine uses.
	mu     sync.Mutex
	engine *engine.Engine // commits the lease; nil: no run is open
}

// use has the lease committed by an engine; nil: no run is open any more.
func (l *lease) use(e *engine.Engine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engine = e
}

// expired reports whether this process had taken the run and can no longer be sure to have it, for example because
// the machine was suspended for hours. It then writes nothing, since another process may be working on the run.
func (l *lease) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine != nil && l.engine.LeaseExpired()
}

// release gives the run back, and gives its record as it is then.
func (l *lease) release(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	l.holding = false
	return l.engine.GiveBack(ctx, run)
}

// holder describes the process that works on a run, from the lease that it wrote.
func (l *lease) holder(ctx context.Context, lease *metadata.Lease) metadata.Reason {
	if lease == nil || lease.Owner == l.me || !l.Env.Now().Before(lease.Expires) {
		return ""
	}
	why, free := metadata.Because("held", "owner", lease.Owner), lease.Expires.UTC().Format("2006-01-02 15:04 UTC")
	other, ok := environ.ParseOwner(lease.Owner)
	if !ok {
		return metadata.All(why, metadata.Because("held_until", "when", free))
	}
	if mine, ok := environ.ParseOwner(l.me); ok && mine.Run == other.Run && (mine.Attempt > other.Attempt || sharedLease(l.me, lease)) {
		return "" // this is the same job, started again, or the one that the others have worked for
	}
	over, err := (&github.Checks{Repo: l.GitHub}).JobOver(ctx, github.Attempt{Run: other.Run, N: int64(other.Attempt)}, func(runner string) bool {
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

// jobFor names this job as the origin of a command that stands in no comment.
func (l *lease) jobFor(o command.Request) string {
	if o.Comment > 0 || o.Review != nil {
		return ""
	}
	return jobOf(l.me)
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
