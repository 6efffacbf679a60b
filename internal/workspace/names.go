package workspace

import (
	"context"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/phases"
)

// KeptRef is the full name by which the record of a run is kept.
func KeptRef(id string) string { return git.KeptRefs + phases.RecordName(id) }

// ReadOf gives how files of a run's folder are read from a branch or a commit, also
// where the folder was taken off it.
func ReadOf(ctx context.Context, src *git.Source, ref, id string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return src.ReadKept(ctx, ref, phases.Folder(id), name) }
}
