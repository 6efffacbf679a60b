package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// Place is where a process asks whose a run is.
type HolderPlace struct {
	GitHub      *github.Client
	Owner, Name string // of the repository
	Me          string // this process, as OwnerOf of package job names it
	Now         func() time.Time
}

// Other describes the process that works on a run, from the lease that it wrote. It is
// empty if nobody does, or if the lease is of a job that has ended.
func (p HolderPlace) Other(ctx context.Context, lease *metadata.Lease) metadata.Reason {
	if lease == nil || lease.Owner == p.Me || !p.Now().Before(lease.Expires) {
		return ""
	}
	why, free := metadata.Because("held", "owner", lease.Owner), lease.Expires.UTC().Format("2006-01-02 15:04 UTC")
	other, ok := environ.ParseOwner(lease.Owner)
	if !ok {
		return metadata.All(why, metadata.Because("held_until", "when", free))
	}
	if mine, ok := environ.ParseOwner(p.Me); ok && mine.Run == other.Run && (mine.Attempt > other.Attempt || SharedLease(p.Me, lease)) {
		return "" // this is the same job, started again, or the one that the others have worked for
	}
	over, err := (&github.Checks{GitHub: p.GitHub, Owner: p.Owner, Name: p.Name}).JobOver(ctx, github.Attempt{Run: other.Run, N: int64(other.Attempt)}, func(runner string) bool {
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

// All names all jobs of the run of a workflow that a process is in, as the holder of a
// lease; false if it is in none.
func AllJobs(me string) (string, bool) {
	mine, ok := environ.ParseOwner(me)
	return fmt.Sprintf("actions/%d/%d", mine.Run, mine.Attempt), ok
}

// Shared reports whether a lease is that of all jobs of the run of a workflow that a
// process is in, this attempt of it or one before.
func SharedLease(me string, lease *metadata.Lease) bool {
	if lease == nil {
		return false
	}
	mine, ok := environ.ParseOwner(me)
	other, known := environ.ParseOwner(lease.Owner)
	whole, _ := AllJobs(lease.Owner)
	return ok && known && mine.Run == other.Run && mine.Attempt >= other.Attempt && lease.Owner == whole
}

// SameRun reports whether a lease is that of a job of the same run of a workflow, and of
// the same attempt, as a process.
func SameRunLease(me string, lease *metadata.Lease) bool {
	return lease != nil && environ.SameJob(me, lease.Owner)
}

// JobOf names the job that a process is, as the origin of a command that stands in no
// comment; "" if it is none.
func JobOf(me string) string {
	if mine, ok := environ.ParseOwner(me); ok {
		return fmt.Sprintf("actions/%d", mine.Run)
	}
	return ""
}
