// Package holder is who works on a run, as the lease in its record says: one job of a
// workflow, all jobs of a run of a workflow together, or another process.
package holder

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/github/checks"
	"github.com/reprise-ci/reprise/internal/job"
	"github.com/reprise-ci/reprise/metadata"
)

// Place is where a process asks whose a run is.
type Place struct {
	GitHub      *github.Client
	Owner, Name string // of the repository
	Me          string // this process, as OwnerOf of package job names it
	Now         func() time.Time
}

// Other describes the process that works on a run, from the lease that it wrote. It is
// empty if nobody does, or if the lease is of a job that has ended.
func (p Place) Other(ctx context.Context, lease *metadata.Lease) metadata.Reason {
	if lease == nil || lease.Owner == p.Me || !p.Now().Before(lease.Expires) {
		return ""
	}
	why, free := metadata.Because("held", "owner", lease.Owner), lease.Expires.UTC().Format("2006-01-02 15:04 UTC")
	other, ok := job.ParseOwner(lease.Owner)
	if !ok {
		return metadata.All(why, metadata.Because("held_until", "when", free))
	}
	if mine, ok := job.ParseOwner(p.Me); ok && mine.Run == other.Run && (mine.Attempt > other.Attempt || Shared(p.Me, lease)) {
		return "" // this is the same job, started again, or the one that the others have worked for
	}
	over, err := (&checks.Repository{GitHub: p.GitHub, Owner: p.Owner, Name: p.Name}).JobOver(ctx, checks.Attempt{Run: other.Run, N: int64(other.Attempt)}, func(runner string) bool {
		return other.Runner != "" && job.RunnerName(runner) == other.Runner
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
func All(me string) (string, bool) {
	mine, ok := job.ParseOwner(me)
	return fmt.Sprintf("actions/%d/%d", mine.Run, mine.Attempt), ok
}

// Shared reports whether a lease is that of all jobs of the run of a workflow that a
// process is in, this attempt of it or one before.
func Shared(me string, lease *metadata.Lease) bool {
	if lease == nil {
		return false
	}
	mine, ok := job.ParseOwner(me)
	other, known := job.ParseOwner(lease.Owner)
	whole, _ := All(lease.Owner)
	return ok && known && mine.Run == other.Run && mine.Attempt >= other.Attempt && lease.Owner == whole
}

// SameRun reports whether a lease is that of a job of the same run of a workflow, and of
// the same attempt, as a process.
func SameRun(me string, lease *metadata.Lease) bool {
	return lease != nil && job.Same(me, lease.Owner)
}

// JobOf names the job that a process is, as the origin of a command that stands in no
// comment; "" if it is none.
func JobOf(me string) string {
	if mine, ok := job.ParseOwner(me); ok {
		return fmt.Sprintf("actions/%d", mine.Run)
	}
	return ""
}
