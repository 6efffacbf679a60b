package runs

import (
	"context"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Earlier gives runs of other issues whose record is on this machine, thirty at most: kept by name, as a run leaves
// it that takes its folder off its branch, or in the commit that the run began from, as merged pull requests leave it
// where the folder stays. A record that cannot be read is left out, as nothing depends on it.
func Earlier(ctx context.Context, src *git.Source, of metadata.Run) []metadata.Run {
	top, prefix := path.Split(phases.Folder(""))
	at := map[string]string{} // the commit that has the record of a run, by its issue
	note := func(name, commit string) {
		if id, is := strings.CutPrefix(name, prefix); is && id != of.IssueNumber && metadata.CheckID(id) == nil {
			at[id] = commit
		}
	}
	// What cannot be listed is as good as not there.
	folders, _ := src.Folders(ctx, of.BaseCommit, path.Clean(top))
	for _, name := range folders {
		note(name, of.BaseCommit)
	}
	kept, _ := src.BranchesIn(ctx, git.KeptRefs, "")
	for _, ref := range kept {
		note(ref.Name, ref.Commit)
	}
	const most = 30
	var all []metadata.Run
	for _, id := range issue.NewestFirst(at) {
		file := phases.RecordFile(id)
		data, err := src.ReadFile(ctx, at[id], file)
		if err != nil {
			continue
		}
		if run, err := metadata.ParseOf(id, data, file); err == nil {
			all = append(all, run)
		}
		if len(all) == most {
			break
		}
	}
	return all
}
