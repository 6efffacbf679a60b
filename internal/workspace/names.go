package workspace

import (
	"context"
	"path"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// RecordFile is the path of a run's record on its branch.
func RecordFile(id string) string { return path.Join(phases.Folder(id), metadata.File) }

// RecordName is the name by which the record of a run is kept when its folder is
// taken off its branch.
func RecordName(id string) string { return path.Base(phases.Folder(id)) }

// KeptRef is the full name by which the record of a run is kept.
func KeptRef(id string) string { return git.KeptRefs + RecordName(id) }

// ReadOf gives how files of a run's folder are read from a branch or a commit, also
// where the folder was taken off it.
func ReadOf(ctx context.Context, src *git.Source, ref, id string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return src.ReadKept(ctx, ref, phases.Folder(id), name) }
}
