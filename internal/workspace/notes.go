package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/reprise-ci/reprise/internal/definition"
	"github.com/reprise-ci/reprise/phases/notes"
	"github.com/reprise-ci/reprise/pipelines"
)

// takeNotes reads what people tell all agents that work in the repository, if the pipeline
// asks for it: from the default branch, as agents have no say there.
func (w *opening) takeNotes(ctx context.Context) error {
	if !w.Plan.Notes || w.backend.Agent != nil { // branches that a test keeps in memory
		return nil
	}
	data, err := w.Source.ReadFile(ctx, definition.TrustedCommit(w.Source), pipelines.NotesFile)
	if errors.Is(err, fs.ErrNotExist) {
		w.Notes = append(w.Notes, "notes: true, and there is no "+pipelines.NotesFile+" on the default branch: agents are told nothing of it")
		return nil
	}
	if err != nil {
		return err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		w.Notes = append(w.Notes, pipelines.NotesFile+" is no text: agents are told nothing of it")
		return nil
	}
	w.told = strings.ToValidUTF8(string(data[:min(len(data), notes.Most)]), "")
	if len(data) > notes.Most {
		w.told += "\n…"
		w.Notes = append(w.Notes, pipelines.NotesFile+" is longer than 8 kB: agents are told the beginning")
	}
	w.told = strings.TrimSpace(w.told)
	return nil
}
