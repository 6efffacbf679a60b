// Package results is what a job leaves for its workflow to keep: the result of the run,
// and its page.
package results

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/job"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// The files of a job.
const (
	resultFile = "result.json"
	pageFile   = "report.html"
)

// Keep writes the result of a run and its page into the folder that the job has for that,
// if it has one. Only a result that cannot be written is an error. Warn is told of what
// else could not be kept: the run is none the worse for it.
func Keep(ctx context.Context, j *job.Job, w *workspace.Workspace, result string, warn func(error)) error {
	dir, err := j.ResultsDir()
	if err != nil {
		warn(err)
	}
	if err != nil || dir == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, resultFile), []byte(j.Known(result)+"\n"), 0o644); err != nil {
		return err
	}
	if err := keepPage(ctx, j, w, filepath.Join(dir, pageFile)); err != nil {
		warn(fmt.Errorf("write the page of the run: %w", err))
	}
	return nil
}

// keepPage writes the page of a run.
func keepPage(ctx context.Context, j *job.Job, w *workspace.Workspace, file string) error {
	page, err := runs.Page(ctx, j.Env, &workspace.Recorded{Definition: w.Definition, Source: w.Source, Issue: w.Issue, Run: w.Run})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(j.Known(string(page))), 0o644)
}
