package workspace

import (
	"context"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Workflows is the folder of the workflows of GitHub, which takes a push of one only with a
// right of its own.
const Workflows = ".github/workflows"

// name finds out which protected paths an issue names: they are what its agents would be
// refused, or a person would be asked about.
func (d *Definition) name(ctx context.Context, src *git.Source, is issue.Issue) error {
	var there []string
	if src != nil {
		files, err := src.FS(ctx, TrustedCommit(src), Workflows)
		if err != nil {
			return err
		}
		if files != nil {
			entries, err := fs.ReadDir(files, ".")
			if err != nil {
				return err
			}
			for _, e := range entries {
				there = append(there, path.Join(Workflows, e.Name()))
			}
		}
	}
	var closed, never, open []string
	for _, p := range pipelines.NamedPaths(is.Title+"\n"+is.Body, there, d.Plan.Protect) {
		shown := phases.TruncateText(p)
		switch {
		case pipelines.IsOpened(p, d.Plan.Open) && !pipelines.MatchesPath(p, d.Plan.Protect):
			if strings.HasPrefix(p, Workflows+"/") {
				d.Workflows = append(d.Workflows, shown)
			}
		case pipelines.WhyNotOpened(p, d.Plan.Protect) != "":
			never = append(never, shown)
		default:
			closed, open = append(closed, shown), append(open, strconv.Quote(shown))
		}
	}
	if len(closed) > 0 {
		d.Closed = append(d.Closed, metadata.Because("names_closed", "paths", closed, "list", strings.Join(open, ", ")))
	}
	if len(never) > 0 {
		d.Closed = append(d.Closed, metadata.Because("names_never", "paths", never))
	}
	return nil
}
