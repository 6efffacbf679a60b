package hooks

import (
	"context"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
)

// Past is what the branch of a run tells of its earlier records.
type Past struct {
	Branch Branch
	Base   string // commit that the branch began with
	Record string // the file of the record
}

// Branch is the branch of a run.
type Branch interface {
	// ReadFile reads a file as it is in a commit; the error wraps fs.ErrNotExist where there is none.
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	// Log lists the commits of the branch that the commit from has not, the newest first.
	Log(ctx context.Context, from string) ([]git.LogEntry, error)
}

// Since lists the records of a run from a revision on, the oldest first. One before the first
// is the zero value. A commit that has no record of this run is left out.
func (p Past) Since(ctx context.Context, run metadata.Run, revision int) ([]metadata.Run, error) {
	records := []metadata.Run{run}
	log, err := p.Branch.Log(ctx, p.Base)
	for i := 0; i < len(log) && records[0].Revision > revision; i++ {
		data, err := p.Branch.ReadFile(ctx, log[i].Commit, p.Record)
		if err != nil {
			continue
		}
		if older, err := metadata.Parse(data, p.Record); err == nil && older.Execution.ID == run.Execution.ID && older.Revision < records[0].Revision {
			records = append([]metadata.Run{older}, records...)
		}
	}
	if records[0].Revision > revision { // it was the first
		records = append([]metadata.Run{{}}, records...)
	}
	return records, err
}
