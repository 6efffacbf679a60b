package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/folders"
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
		wrong = "is no file, or a symbolic link to one: agents are told nothing of it"
	case err != nil:
		return err
	default:
		w.guidance, wrong = notesForAgents(data)
	}
	if wrong != "" {
		w.Notes = append(w.Notes, pipelines.NotesFile+" "+wrong)
	}
	told, _ := clean.Text(w.guidance) // who approves a change of them sees all that is told
	w.guidance = strings.TrimSpace(told)
	return nil
}

// mostNotes is how much of the notes on a repository agents are told, in bytes.
const mostNotes = 8 << 10

// notesForAgents gives what agents are told of the notes: nothing of what is no text in UTF-8, and the
// beginning of a long one. What is wrong continues the name of the file; it is empty for nothing.
func notesForAgents(data []byte) (told, wrong string) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", "is no text in UTF-8: agents are told nothing of it"
	}
	if len(data) > mostNotes {
		return strings.ToValidUTF8(string(data[:mostNotes]), "") + "\n…", "is longer than 8 kB: agents are told the beginning"
	}
	return string(data), ""
}
