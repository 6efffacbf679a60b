package workspace

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// Forge reads files of the default branch where there is no checkout.
type Forge interface {
	// Files lists the files of a folder by their paths.
	Files(ctx context.Context, folder string) ([]string, error)
	File(ctx context.Context, path string) ([]byte, error)
}

// ChooseOn says which pipeline a new run of an issue would have, and why, by what
// the default branch on the forge has.
func ChooseOn(ctx context.Context, f Forge, is source.ChoiceIssue, o Choice) (*pipelines.Pipeline, metadata.Reason, error) {
	eval, err := Evaluator()
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder; the system removes what is left
	if err := downloadPipelines(ctx, f, dir); err != nil {
		return nil, "", err
	}
	if IsPath(o.Pipeline) {
		return nil, "", fmt.Errorf("the workflow names the file %s, which is read when a run begins", strings.TrimSpace(o.Pipeline))
	}
	chosen, err := source.Choose(ctx, source.Sources{Evaluator: eval, Repo: os.DirFS(dir)}, is, o.Pipeline)
	if err != nil {
		return nil, "", err
	}
	applyChoice(chosen.Plan, o)
	return chosen.Plan, exit.WhyCause(chosen.Why), builtin.Speak(chosen.Plan)
}

// downloadPipelines copies the pipelines and settings of the default branch into a folder.
func downloadPipelines(ctx context.Context, f Forge, dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "pipelines"), 0o700); err != nil {
		return err
	}
	for _, folder := range []string{".", "pipelines"} {
		names, err := f.Files(ctx, path.Join(OwnFolder, folder))
		if err != nil {
			return err
		}
		for _, name := range names {
			if !isOwn(path.Join(folder, path.Base(name))) {
				continue
			}
			data, err := f.File(ctx, path.Join(OwnFolder, folder, path.Base(name)))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, folder, path.Base(name)), data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
