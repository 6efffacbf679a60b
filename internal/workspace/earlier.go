package workspace

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Earlier gives runs of other issues whose record is in the commit that a run
// began from, as merged pull requests leave it, thirty at most. It reads what is on
// this machine; a record that cannot be read is left out, as nothing depends on it.
func Earlier(ctx context.Context, src *git.Source, of metadata.Run) []metadata.Run {
	top, prefix := path.Split(phases.Folder(""))
	names, err := src.Folders(ctx, of.BaseCommit, path.Clean(top))
	if err != nil {
		return nil
	}
	const most = 30
	var all []metadata.Run
	for _, name := range slices.Backward(names) {
		id, ok := strings.CutPrefix(name, prefix)
		if !ok || id == of.IssueNumber || metadata.CheckID(id) != nil {
			continue
		}
		file := RecordFile(id)
		data, err := src.ReadFile(ctx, of.BaseCommit, file)
		if err != nil {
			continue
		}
		if run, err := metadata.Parse(data, file); err == nil {
			all = append(all, run)
		}
		if len(all) == most {
			break
		}
	}
	return all
}
