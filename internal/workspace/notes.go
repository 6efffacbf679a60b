package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// takeNotes reads what people tell all agents that work in the repository, if the pipeline
// asks for it: from the default branch, as agents have no say there.
func (w *opening) takeNotes(ctx context.Context) error {
	if !w.Plan.Notes || w.backend.Agent != nil { // branches that a test keeps in memory
		return nil
	}
	data, err := w.Source.ReadPlain(ctx, TrustedCommit(w.Source), pipelines.NotesFile)
	wrong := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.Notes = append(w.Notes, "notes: true, and there is no "+pipelines.NotesFile+" on the default branch: agents are told nothing of it")
		return nil
	case errors.Is(err, folders.ErrNoFile):
		wrong = phases.NotesNoFile
	case err != nil:
		return err
	default:
		w.guidance, wrong = phases.NotesForAgents(data)
	}
	if wrong != "" {
		w.Notes = append(w.Notes, pipelines.NotesFile+" "+wrong)
	}
	told, _ := clean.Text(w.guidance) // who approves a change of them sees all that is told
	w.guidance = strings.TrimSpace(told)
	return nil
}
