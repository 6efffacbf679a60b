package runs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// The files of a job.
const (
	resultFile = "result.json"
	pageFile   = "report.html"
)

// mostOfTalk is how much of transcripts is kept, in bytes.
const resultsMostOfTalk = 32 << 20

// KeepResults leaves the result of a run in the folder that the job has for what its workflow may keep, if there is
// one, and with all also the page of the run and the transcripts. Only a result that cannot be written is an error.
// Warn is told of what else could not be kept: the run is none the worse for it.
func KeepResults(ctx context.Context, j *environ.Job, w *workspace.Workspace, result string, all bool, warn func(error)) error {
	dir, err := j.ResultsDir()
	if err != nil {
		warn(err)
	}
	if err != nil || dir == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, resultFile), []byte(j.Known(result)+"\n"), 0o644); err != nil || !all {
		return err
	}
	for _, err := range []error{keepPage(ctx, j, w, dir), keepTalk(j, w, dir)} {
		if err != nil {
			warn(err)
		}
	}
	return nil
}

// KeepTalk leaves there the transcripts that this machine has of the run.
func KeepTalk(j *environ.Job, w *workspace.Workspace) error {
	dir, err := j.ResultsDir()
	if err != nil || dir == "" {
		return err
	}
	return keepTalk(j, w, dir)
}

func keepPage(ctx context.Context, j *environ.Job, w *workspace.Workspace, dir string) error {
	r := &workspace.Recorded{Definition: w.Definition, Source: w.Source, Issue: w.Issue, Run: w.Run}
	page, missing := Page(ctx, j.Env, r, j.EarlierResultsDir())
	err := missing
	if missing != nil { // then without what earlier jobs said
		page, err = Page(ctx, j.Env, r, "")
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, pageFile), []byte(j.Known(string(page))), 0o600)
	}
	switch {
	case err != nil:
		return fmt.Errorf("keep the page of the run: %w", err)
	case missing != nil:
		return fmt.Errorf("the page of the run does not have what was said in earlier jobs: %w", missing)
	}
	return nil
}

func keepTalk(j *environ.Job, w *workspace.Workspace, dir string) error {
	root, err := workspace.HomeFolder(j.Env, w.Source, w.Issue.ID)
	left := 0
	if err == nil {
		left, err = agents.CopyTranscripts(agents.TranscriptsFolder(root), agents.TranscriptsFolder(dir), resultsMostOfTalk, j.Known)
	}
	if err != nil {
		return fmt.Errorf("keep transcripts of the run: %w", err)
	}
	if left > 0 {
		return fmt.Errorf("%d files with transcripts of the run are not uploaded: a job keeps at most %d MiB of them, the newest first", left, resultsMostOfTalk>>20)
	}
	return nil
}
