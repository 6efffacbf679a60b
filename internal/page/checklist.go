package page

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/markdown"
	"github.com/reprise-ci/reprise/internal/progress"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// checklist is the phases of a run.
type checklist struct{ writer }

// lines has a line for each phase.
func (w checklist) lines() string {
	var lines []string
	for _, r := range w.rows {
		lines = append(lines, w.line(r))
	}
	return w.within(12_000, lines)
}

func (w checklist) line(r progress.Row) string {
	box, name := "- [ ] ", markdown.Inline(r.Rec.Name, 60)
	state := ""
	switch r.Rec.Status {
	case metadata.PhaseCompleted:
		box = "- [x] "
	case metadata.PhaseSkipped:
		box, state = "- [x] ", w.word(w.Statuses, string(r.Rec.Status))
	case metadata.PhasePending, "":
	case metadata.PhaseInProgress:
		name = markdown.Bold(name)
		state = text.Join(", ", w.word(w.Steps, string(r.Rec.CurrentStep)), w.Round(r.Round()))
	default:
		name = markdown.Bold(name)
		state = w.word(w.Statuses, string(r.Rec.Status))
	}
	used := ""
	if r.Attempts > 0 {
		used = text.Join(" · ", w.Attempts+" "+fmt.Sprint(r.Attempts), text.USD(r.USD))
	}
	return box + text.Join(" · ", name, state, used, w.artifacts(r))
}

// artifacts names what a phase wrote, as links where that is possible.
func (w checklist) artifacts(r progress.Row) string {
	var out []string
	for i, f := range r.Artifacts() {
		if i == 3 {
			break
		}
		out = append(out, w.file(f))
	}
	return strings.Join(out, ", ")
}
