package bot

import (
	"context"
	"errors"
	"sync"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
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
	return l.engine != nil && l.engine.LeaseExpired()
}

// release gives the run back, and gives its record as it is then.
func (l *lease) release(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	l.holding = false
	return l.engine.GiveBack(ctx, run)
}

// held says that another process works on the run, or nothing.
func (l *lease) held(ctx context.Context, run metadata.Run) *page.Denial {
	why := HolderPlace{GitHub: l.gh, Owner: l.owner, Name: l.name, Me: l.me, Now: l.env.Now}.Other(ctx, run.Execution.Lease)
	if why == "" {
		return nil
	}
	return &page.Denial{Code: metadata.AlreadyRunning, By: l.t.By, What: text.FirstLine(l.t.Text), Why: why}
}

// jobFor names this job as the origin of a command that stands in no comment.
func (l *lease) jobFor(o command.Request) string {
	if o.Comment > 0 || o.Review != nil {
		return ""
	}
	return JobOf(l.me)
}

// lostRace reports whether an error means that a push came too late, because
// another job has taken the run.
func lostRace(err error) bool {
	var moved *git.Moved
	return errors.As(err, &moved) && moved.Run || errors.As(err, new(*folders.Held))
}
