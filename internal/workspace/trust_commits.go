package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/reprise-ci/reprise/internal/git"
)

// Commits tells the commits of a run from those that others have put on its branch. Anybody can
// write the trailers of a run or copy them with a message, so they alone say nothing.
type TrustCommits struct {
	Branch TrustBranch
	Issue  string
	Record string // the file of the record
}

// Branch is the branch of a run.
type TrustBranch interface {
	// ReadFile reads a file as it is in a commit; the error wraps fs.ErrNotExist where there is none.
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	// Recorded reports whether the record may be from a commit or lead on from it.
	Recorded(ctx context.Context, c git.LogEntry) (bool, error)
	// SameWork reports whether two commits are the same but for the folder of the run.
	SameWork(ctx context.Context, one, other string) (bool, error)
}

// Newest gives the place of the newest commit in a log that a step of the run has made and that
// is one of those wanted; -1 if there is none. With nil all are wanted.
func (o TrustCommits) Newest(ctx context.Context, log []git.LogEntry, wanted func(git.LogEntry) bool) (int, error) {
	for i, c := range log {
		if wanted != nil && !wanted(c) {
			continue
		}
		if is, err := o.step(ctx, c); is || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// Has reports whether a commit is one of the run: one in which its record went on, or one
// that takes its folder off the branch and nothing else.
func (o TrustCommits) Has(ctx context.Context, c git.LogEntry) (bool, error) {
	for _, t := range c.Trailers {
		if t.Key == git.RecordTrailer && hash().MatchString(t.Value) {
			return o.takesOff(ctx, c, t.Value)
		}
	}
	return o.step(ctx, c)
}

// step reports whether the record went on in a commit that has the trailer of the run.
func (o TrustCommits) step(ctx context.Context, c git.LogEntry) (bool, error) {
	if !slices.Contains(c.Trailers, git.Trailer{Key: "Reprise-Issue", Value: o.Issue}) {
		return false, nil
	}
	if len(c.Parents) > 0 {
		now, err := o.Branch.ReadFile(ctx, c.Commit, o.Record)
		before, none := o.Branch.ReadFile(ctx, c.Parents[0], o.Record)
		for _, err := range []error{err, none} {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
		}
		if bytes.Equal(now, before) {
			return false, nil
		}
	}
	return o.Branch.Recorded(ctx, c)
}

// takesOff reports whether a commit has the work of the one that it names for the record, and
// the record leads on from that.
func (o TrustCommits) takesOff(ctx context.Context, c git.LogEntry, named string) (bool, error) {
	switch _, err := o.Branch.ReadFile(ctx, named, o.Record); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // it is not here, or another commit
	case err != nil:
		return false, err
	}
	if is, err := o.Branch.Recorded(ctx, git.LogEntry{Commit: named}); !is || err != nil {
		return false, err
	}
	return o.Branch.SameWork(ctx, named, c.Commit)
}
