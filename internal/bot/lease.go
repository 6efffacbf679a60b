package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github/checks"
	"github.com/reprise-ci/reprise/internal/job"
	"github.com/reprise-ci/reprise/internal/lock"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// lease knows whether this process has taken the run and still has it, or
// another process has.
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

// expired reports whether this process had taken the run and can no longer be
// sure to have it, for example because the machine was suspended for hours. It
// then writes nothing, since another process may be working on the run.
func (l *lease) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine != nil && l.engine.Lapsed()
}

// release gives the run back, and gives its record as it is then.
func (l *lease) release(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	l.holding = false
	return l.engine.GiveBack(ctx, run)
}

// held says that another process works on the run, or nothing. It may be told
// from the lease that it wrote; a job that is over holds nothing any more.
func (l *lease) held(ctx context.Context, run metadata.Run) *page.Denial {
	is := run.Execution.Lease
	if is == nil || is.Owner == l.me || !l.env.Now().Before(is.Expires) {
		return nil
	}
	no := &page.Denial{Code: metadata.AlreadyRunning, By: l.t.By, What: text.FirstLine(l.t.Text)}
	no.Why = metadata.Because("held", "owner", is.Owner)
	free := is.Expires.UTC().Format("2006-01-02 15:04 UTC")
	other, ok := job.ParseOwner(is.Owner)
	if !ok {
		no.Why = metadata.All(no.Why, metadata.Because("held_until", "when", free))
		return no
	}
	if mine, ok := job.ParseOwner(l.me); ok && mine.Run == other.Run && mine.Attempt > other.Attempt {
		return nil // this is the same job, started again
	}
	over, err := (&checks.Repository{GitHub: l.gh, Owner: l.owner, Name: l.name}).JobOver(ctx, checks.Attempt{Run: other.Run, N: int64(other.Attempt)}, func(runner string) bool {
		return other.Runner != "" && job.RunnerName(runner) == other.Runner
	})
	switch {
	case err != nil:
		no.Why = metadata.All(no.Why, metadata.Because("held_unknown", "error", err, "when", free))
	case over:
		return nil
	}
	return no
}

// jobFor names this job as the origin of a command that stands in no comment.
func (l *lease) jobFor(o command.Request) string {
	if me, ok := job.ParseOwner(l.me); ok && o.Comment == 0 && o.Review == nil {
		return fmt.Sprintf("actions/%d", me.Run)
	}
	return ""
}

// lostRace reports whether an error means that a push came too late, because
// another job has taken the run.
func lostRace(err error) bool {
	var moved *git.Moved
	return errors.As(err, &moved) && moved.Run || errors.As(err, new(*lock.Held))
}
