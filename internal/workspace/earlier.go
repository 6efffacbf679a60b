package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// earlierRuns adds up what runs of an issue before this one have cost, for a limit on all of
// them. Each counts what was before it, so the highest sum is all of it.
type earlierRuns struct {
	issue   string
	own     string // Execution.ID of this run
	usd     float64
	unknown error // why a record could not be read; nil: all could
}

// costOfEarlier gives what runs of the issue before that of w have cost in US dollars. Their
// records are where a run may have left one: in the commit that this run begins from, in
// what is kept by name here and, if the run is pushed, on origin, and in the folder of the
// run (saved; nil: there is none). A note says that one could not be read.
func costOfEarlier(ctx context.Context, w *Workspace, saved *metadata.Run) float64 {
	e := earlierRuns{issue: w.Issue.ID, own: w.Run.Execution.ID}
	if saved != nil {
		e.count(*saved)
	}
	kept := KeptRef(w.Issue.ID)
	e.read(ctx, w.Source, w.Run.BaseCommit)
	e.read(ctx, w.Source, kept)
	if w.Push {
		e.readOrigin(ctx, w.Source, filepath.Join(filepath.Dir(w.Repo.Tree()), "earlier"), w.tree.Token, kept)
	}
	if e.unknown != nil {
		w.Notes = append(w.Notes, fmt.Sprintf("what an earlier run of issue %s has spent does not count towards issue_usd, as its record cannot be read: %v", w.Issue.ID, e.unknown))
	}
	return e.usd
}

func (e *earlierRuns) count(run metadata.Run) {
	if run.Execution.ID != e.own {
		e.usd = max(e.usd, phases.SpentOnIssue(run))
	}
}

// read counts the run whose record a ref has, if it has one.
func (e *earlierRuns) read(ctx context.Context, src *git.Source, ref string) {
	file := phases.RecordFile(e.issue)
	data, err := src.ReadFile(ctx, ref, file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var run metadata.Run
	if err == nil {
		run, err = metadata.ParseOf(e.issue, data, file)
	}
	if err != nil {
		e.unknown = err
		return
	}
	e.count(run)
}

// readOrigin counts the run whose record origin keeps under a ref. What is fetched lies in
// dir for that time.
func (e *earlierRuns) readOrigin(ctx context.Context, src *git.Source, dir string, token func(context.Context) (string, error), ref string) {
	survey, err := git.NewSurvey(ctx, src, dir, token, []string{ref}, git.Only(ref))
	if err != nil {
		e.unknown = err
		return
	}
	defer survey.Close()
	e.read(ctx, survey.Source, ref)
}
