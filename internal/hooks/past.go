package hooks

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
)

// Past is the record of a run as it was earlier.
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

// At reads the record as it is in a commit.
func (p Past) At(ctx context.Context, commit string) (metadata.Run, error) {
	data, err := p.Branch.ReadFile(ctx, commit, p.Record)
	if err != nil {
		return metadata.Run{}, err
	}
	return metadata.Parse(data, p.Record)
}

// Before reads the record as it was before a commit of the branch; it is the zero value if
// there was none. It may be that of an earlier run of the issue, which was merged.
func (p Past) Before(ctx context.Context, commit string) (metadata.Run, error) {
	log, err := p.Branch.Log(ctx, p.Base)
	if err != nil {
		return metadata.Run{}, err
	}
	i := slices.IndexFunc(log, func(c git.LogEntry) bool { return c.Commit == commit })
	if i < 0 || len(log[i].Parents) == 0 {
		return metadata.Run{}, nil
	}
	run, err := p.At(ctx, log[i].Parents[0])
	if errors.Is(err, fs.ErrNotExist) {
		return metadata.Run{}, nil
	}
	return run, err
}
