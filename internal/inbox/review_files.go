package inbox

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/phases"
)

// ReviewFiles gives how files of the run of an issue are read at the forge, where no clone
// is at hand: from its branch or, if its folder was taken off that, from where the
// record is kept. Repository is OWNER/NAME. A file that is in neither is an
// fs.ErrNotExist.
func ReviewFiles(ctx context.Context, gh *github.Client, repository, branch, id string) func(path string) ([]byte, error) {
	owner, name, _ := strings.Cut(repository, "/")
	kept := ""
	return func(path string) ([]byte, error) {
		if kept == "" {
			data, missing := gh.File(ctx, owner, name, branch, path)
			if !errors.Is(missing, fs.ErrNotExist) {
				return data, missing
			}
			var err error
			if kept, err = keptAt(ctx, gh, repository, id); err != nil {
				return nil, err
			}
			if kept == "" {
				return nil, missing
			}
		}
		return gh.File(ctx, owner, name, kept, path)
	}
}

// keptAt gives the commit in which the record of a run is kept; "" if it is not.
func keptAt(ctx context.Context, gh *github.Client, repository, id string) (string, error) {
	owner, name, _ := strings.Cut(repository, "/")
	var ref struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	_, err := gh.Ask(ctx, owner, name, github.Request{
		What: "find the record that is kept of issue " + id, Needs: "contents: read",
		Path: "/git/ref/" + strings.TrimPrefix(git.KeptRefs, "refs/") + phases.RecordName(id),
	}, &ref)
	if github.IsKind(err, github.NotFound) {
		return "", nil
	}
	return ref.Object.SHA, err
}
