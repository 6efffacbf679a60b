package bot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// The files that a workflow may keep of a job.
const (
	resultFile = "result.json"
	reportFile = "report.html"
)

// keepResults writes the result of the run and its page where a workflow finds them,
// if the job has a place for that. A page that cannot be made is told as a warning:
// the run is none the worse for it.
func (e ending) keepResults(ctx context.Context, result string) error {
	b := e.bot
	dir, err := e.job.ResultsDir()
	if err != nil {
		b.voice.warn(err)
	}
	if err != nil || dir == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, resultFile), []byte(e.job.Known(result)+"\n"), 0o644); err != nil {
		return err
	}
	page, err := runs.Page(ctx, b.env, &workspace.Recorded{Definition: b.w.Definition, Source: b.w.Source, Issue: b.w.Issue, Run: b.w.Run})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, reportFile), []byte(e.job.Known(string(page))), 0o644)
	}
	if err != nil {
		b.voice.warn(fmt.Errorf("write the page of the run: %w", err))
	}
	return nil
}
